// This file holds the truth: what runs, what was promised, and what must not be. Processes are asked for it, and no part of the library.

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/driver"
)

// truth is what the world knows of its jobs.
type truth struct {
	w    *world
	jobs map[string]*jobTruth
	// nonces are those of the requests that were let in.
	nonces map[string]bool
	// tailLost says that records were lost which had been durable.
	tailLost bool
}

type jobTruth struct {
	total    int64
	accepted bool // a master said that it is on record
	since    time.Time
	asked    bool // to be cancelled
	done     bool // a process has done all its work
	ended    bool // a master said so
	// confirmed are the most steps of a checkpoint that a master said counts.
	confirmed int64
	live      map[*process]bool
	// newest is the newest attempt that a server was asked for, and fresh are those that servers were asked for in time, see received.
	newest int64
	fresh  map[place]bool
}

// place is an attempt on a server.
type place struct {
	attempt int64
	server  string
}

func newTruth(w *world) *truth {
	return &truth{w: w, jobs: map[string]*jobTruth{}, nonces: map[string]bool{}}
}

func (t *truth) total(job string) int64 { return t.jobs[job].total }

// received judges an order that arrives, by the rules Begin and Arrive of checkpoint/RUN.tla: no attempt is begun while one before it lives,
// and no order counts whose stamp is older than a lease.
func (t *truth) received(h *host, o agent.Order) {
	j := t.jobs[o.Effect.Job]
	if j == nil || o.Effect.Action != checkpoint.Create && o.Effect.Action != checkpoint.Resume {
		return
	}
	now := h.clock()
	if o.Heard.Boot == now.Boot && now.At-o.Heard.At < lease {
		j.fresh[place{o.Effect.Attempt, h.id}] = true
	}
	if o.Effect.Attempt <= j.newest {
		return
	}
	j.newest = o.Effect.Attempt
	for p := range j.live {
		t.w.violated("attempt %d of job %q is begun, and attempt %d lives on %s", o.Effect.Attempt, o.Effect.Job, p.run.Attempt, p.h.id)
	}
}

// starts judges a process that begins to run.
func (t *truth) starts(p *process) {
	j := t.jobs[p.run.Job]
	t.w.trace("%s: %s runs as attempt %d from step %d", p.h.id, p.run.Job, p.run.Attempt, p.first)
	if len(j.live) == 0 {
		t.w.summary.Attempts++
	}
	for q := range j.live {
		if q.run.Attempt != p.run.Attempt {
			t.w.violated("job %q runs twice: attempt %d on %s, %d on %s", p.run.Job, q.run.Attempt, q.h.id, p.run.Attempt, p.h.id)
		}
	}
	if !j.fresh[place{p.run.Attempt, p.h.id}] {
		t.w.violated("attempt %d of job %q begins on %s by orders that are older than a lease", p.run.Attempt, p.run.Job, p.h.id)
	}
	if p.first < j.confirmed {
		t.w.violated("attempt %d of job %q begins from step %d, and %d were saved for good", p.run.Attempt, p.run.Job, p.first, j.confirmed)
	}
	j.live[p] = true
	t.w.steps.process("R", p)
	var used int64
	for _, q := range p.h.processes {
		if q.runs {
			used += int64(q.count)
		}
	}
	if used > p.h.slots {
		var all []string
		for _, q := range p.h.processes {
			if q.runs {
				all = append(all, fmt.Sprintf("%d of %s, attempt %d", q.count, q.run.Job, q.run.Attempt))
			}
		}
		slices.Sort(all)
		t.w.violated("%d containers run on %s, which has room for %d: %s", used, p.h.id, p.h.slots, strings.Join(all, "; "))
		t.w.tell()
	}
}

// ends notes that a process does not run any more.
func (t *truth) ends(p *process, why string) {
	j := t.jobs[p.run.Job]
	delete(j.live, p)
	t.w.steps.process("E", p)
	j.done = j.done || p.done
	t.w.trace("%s: %s, attempt %d, at step %d: %s", p.h.id, p.run.Job, p.run.Attempt, p.stuckAt, why)
}

// watch judges what a master says. A state is a copy of all that is known, and changes come in bursts.
func (t *truth) watch(ctx context.Context, m *master) {
	state := m.d.State()
	for ctx.Err() == nil {
		if !m.life.dead {
			t.heard(m, &state)
		}
		time.Sleep(50 * time.Millisecond)
		select {
		case <-state.Changed():
			state = m.d.State()
		case <-ctx.Done():
		}
	}
}

func (t *truth) heard(m *master, state *driver.State) {
	for i := range state.Jobs {
		said := &state.Jobs[i]
		j := t.jobs[said.Name]
		if newest := said.Newest(); newest.Step > j.confirmed {
			j.confirmed = newest.Step
			t.w.summary.Saves++
			t.w.trace("master %d: %s is saved at step %d", m.epoch, said.Name, newest.Step)
		}
		if said.Phase == checkpoint.Ended && !j.ended {
			t.judge(said, j)
		}
	}
}

func (t *truth) judge(said *checkpoint.Job, j *jobTruth) {
	j.ended = true
	t.w.trace("%s has ended: %s", said.Name, said.Ending)
	switch {
	case said.Ending == checkpoint.Completed && !j.done:
		t.w.violated("job %q is completed, and no process of it has done its work", said.Name)
	case said.Ending == checkpoint.Cancelled && !j.asked:
		t.w.violated("job %q is cancelled, and nobody has asked for that", said.Name)
	case said.Ending == checkpoint.Completed:
		t.w.summary.Completed++
	}
	// A master that does not know of a loss yet may take for idle what was begun in the time that is lost.
	if len(j.live) > 0 && !t.tailLost {
		t.w.violated("job %q has ended and runs", said.Name)
	}
}

// loses notes that a journal is again what it was when a master began. Of the jobs since then no server may have heard, and then nobody
// can tell that they were there.
func (t *truth) loses(m *master) {
	t.tailLost = true
	for _, j := range t.jobs {
		if j.since.After(m.at) {
			j.accepted = false
		}
	}
}

func (j *jobTruth) accepts() { j.accepted, j.since = true, time.Now() }

// accepted forgets what an operator has given up with the records that are lost: jobs, and ends, of the time since. What was saved is in the
// store, unless its job has ended: that comes back as it was before, and may begin anew.
func (t *truth) accepted() {
	t.w.trace("the loss of records is accepted")
	t.tailLost = false
	for _, j := range t.jobs {
		if j.ended {
			j.confirmed = 0
		} else {
			j.accepted = false
		}
	}
}
