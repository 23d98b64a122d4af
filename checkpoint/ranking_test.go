// This file writes a state of the exploration as text, so that equal states are visited once.

package checkpoint_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/apportion/apportion/checkpoint"
)

// key is the state as text. Numbers are replaced by their ranks: only their order matters.
func (n *node) key() string {
	ranks := &ranking{seen: make(map[int64]bool)}
	n.describe(ranks)
	ranks.rank = make(map[int64]int, len(ranks.seen))
	for i, number := range slices.Sorted(maps.Keys(ranks.seen)) {
		ranks.rank[number] = i + 1
	}
	n.describe(ranks)
	return string(ranks.text)
}

// ranking collects numbers, and then writes their ranks.
type ranking struct {
	seen map[int64]bool
	rank map[int64]int
	text []byte
}

func (r *ranking) numbers(list ...int64) {
	for _, number := range list {
		if r.rank != nil {
			r.text = append(strconv.AppendInt(r.text, int64(r.rank[number]), 10), ' ')
		} else if number > 0 {
			r.seen[number] = true
		}
	}
}

func (r *ranking) words(list ...any) {
	if r.rank != nil {
		r.text = fmt.Appendln(r.text, list...)
	}
}

func (n *node) describe(r *ranking) {
	r.words(n.left, n.m.Hosts(), n.m.Epoch())
	for _, name := range n.m.Names() {
		j := n.m.Look(name)
		_, due := n.m.Due()[name]
		r.words(name, j.Phase, j.Ending, j.Containers, j.Target, j.Fallback, j.Reserved, j.Wanted, j.Broken, j.Restarts, j.Deaths, j.Tries, due, n.m.Rests(name), j.Deadline)
		r.numbers(j.Order, j.Attempt, j.Stopped, j.Saving.Number, j.Effect)
		for _, c := range j.Checkpoints {
			r.numbers(c.Number)
			r.words(c.Step)
		}
	}
	for _, list := range [][]checkpoint.Effect{n.inflight, n.done} {
		r.words("effects")
		for _, e := range list {
			r.words(e.Action, e.Job, e.Containers, e.Servers, n.m.Epoch()-e.Epoch)
			r.numbers(e.ID, e.Attempt, e.Checkpoint)
		}
	}
	for _, reply := range n.replies {
		r.words(reply.Job, reply.Outcome, reply.Step)
		r.numbers(reply.ID)
	}
	n.w.describe(r)
}

func (w *world) describe(r *ranking) {
	for _, id := range slices.Sorted(maps.Keys(w.agents)) {
		a := w.agents[id]
		r.words(id, a.epoch, w.deaf[id])
		for _, job := range slices.Sorted(maps.Keys(a.jobs)) {
			h := a.jobs[job]
			r.words(job, h.containers)
			r.numbers(h.created, h.started, h.stopped, h.running)
		}
	}
	for _, job := range slices.Sorted(maps.Keys(w.store)) {
		r.words(job)
		for _, number := range slices.Sorted(maps.Keys(w.store[job])) {
			r.numbers(number)
			r.words(w.store[job][number])
		}
	}
	for _, job := range slices.Sorted(maps.Keys(w.runs)) {
		for _, attempt := range slices.Sorted(maps.Keys(w.runs[job])) {
			r.numbers(attempt)
			r.words(w.runs[job][attempt].step)
		}
	}
}
