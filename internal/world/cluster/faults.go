// This file holds the faults: when each comes, and what it does. Each draws from a source of its own, so that leaving one out changes
// nothing about the others.

package main

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apportion/apportion/internal/vfstest"
)

// bugs are bugs of the surroundings, which the world has to find.
var bugs = []string{"no-lease", "no-stop", "old-journal"}

// fault is something that goes wrong.
type fault struct {
	name   string
	weight int
	do     func(w *world, rng *rand.Rand)
}

var kindsOfFaults = []fault{
	{"agent killed", 6, func(w *world, rng *rand.Rand) {
		h := w.host(rng)
		h.kill()
		h.back(seconds(rng, 20))
	}},
	{"agent stopped", 4, func(w *world, rng *rand.Rand) {
		if h := w.host(rng); h.life != nil {
			h.life.frozen = time.Now().Add(seconds(rng, 60))
		}
	}},
	{"machine rebooted", 3, func(w *world, rng *rand.Rand) {
		h := w.host(rng)
		h.kill()
		h.boots()
		h.disk = h.disk.Crash(rng)
		h.back(seconds(rng, 60))
	}},
	{"machine set up anew", 1, func(w *world, rng *rand.Rand) {
		h := w.host(rng)
		h.kill()
		h.boots()
		h.disk = vfstest.NewMem()
		h.back(seconds(rng, 60))
	}},
	{"network cut", 4, func(w *world, rng *rand.Rand) {
		h, until := w.host(rng), time.Now().Add(seconds(rng, 60))
		h.wires.noWord, h.wires.noAnswer = until, until
	}},
	{"answers cut", 3, func(w *world, rng *rand.Rand) { w.host(rng).wires.noAnswer = time.Now().Add(seconds(rng, 60)) }},
	{"words cut", 3, func(w *world, rng *rand.Rand) { w.host(rng).wires.noWord = time.Now().Add(seconds(rng, 60)) }},
	{"network bad", 6, func(w *world, rng *rand.Rand) { w.host(rng).wires.bad = time.Now().Add(seconds(rng, 120)) }},
	{"stranger", 2, func(w *world, rng *rand.Rand) {
		if h := w.host(rng); w.Wire {
			w.stranger(h)
		}
	}},
	{"disk full", 2, func(w *world, rng *rand.Rand) { w.host(rng).full = time.Now().Add(seconds(rng, 60)) }},
	{"trainer died", 6, func(w *world, rng *rand.Rand) {
		if p := w.process(rng); p != nil {
			p.end("exit status 1", failed)
		}
	}},
	{"trainer hangs", 2, func(w *world, rng *rand.Rand) {
		if p := w.process(rng); p != nil {
			p.hang()
		}
	}},
	{"guard killed", 2, func(w *world, rng *rand.Rand) {
		if p := w.process(rng); p != nil {
			p.guarded.killGuard()
		}
	}},
	{"keeper killed", 1, func(w *world, rng *rand.Rand) {
		if p := w.process(rng); p != nil {
			p.guarded.killKeeper()
		}
	}},
	{"guard or keeper stopped", 6, func(w *world, rng *rand.Rand) {
		if p := w.process(rng); p != nil {
			until, which := time.Now().Add(seconds(rng, 60)), rng.IntN(3)
			if which != 0 {
				p.guarded.guard.frozen = until
			}
			if which != 1 {
				p.guarded.keeper.frozen = until
			}
		}
	}},
	{"master killed", 4, func(w *world, rng *rand.Rand) {
		if m := w.master(); m != nil {
			m.kill()
		}
	}},
	{"master's machine crashed", 2, func(w *world, rng *rand.Rand) {
		if m := w.master(); m != nil {
			w.crash()
		}
	}},
	{"records lost", 1, func(w *world, rng *rand.Rand) {
		// Before the first master there was no journal, and before a loss was accepted it had another name: those would be other faults, after
		// which no server joins.
		if m := w.master(); m != nil && m.epoch > 1 && !m.accepts && !w.truth.tailLost {
			w.changes(m.began)
			w.truth.loses(m)
		}
	}},
	{"master stopped", 2, func(w *world, rng *rand.Rand) {
		if m := w.master(); m != nil {
			m.life.frozen = time.Now().Add(seconds(rng, 60))
		}
	}},
	{"second master", 2, func(w *world, rng *rand.Rand) { go w.leads() }},
	{"master stopped and replaced", 2, func(w *world, rng *rand.Rand) {
		if m := w.master(); m != nil {
			m.life.frozen = time.Now().Add(seconds(rng, 90))
			time.AfterFunc(seconds(rng, 30), func() { w.leads() })
		}
	}},
	{"master's disk full", 1, func(w *world, rng *rand.Rand) {
		if m := w.master(); m != nil {
			m.full = time.Now().Add(seconds(rng, 60))
		}
	}},
	{"a server that the next master does not reach", 30, func(w *world, rng *rand.Rand) {
		if m := w.master(); m != nil {
			for _, h := range w.hosts[:1+rng.IntN(len(w.hosts))] {
				h.wires.only, h.wires.onlyUntil = m, time.Now().Add(60*time.Second)
			}
			go w.leads()
		}
	}},
	{"store away", 2, func(w *world, rng *rand.Rand) { w.refuses = time.Now().Add(seconds(rng, 60)) }},
}

// faults lets faults come until all is repaired.
func (w *world) faults() {
	when := rand.New(rand.NewPCG(w.Seed, 1))
	total := 0
	for _, f := range kindsOfFaults {
		total += f.weight
	}
	for n := 1; ; n++ {
		time.Sleep(time.Duration(when.ExpFloat64() * float64(w.Every)))
		at := when.IntN(total)
		if w.quiet {
			return
		}
		if len(w.Only) > 0 && !slices.Contains(w.Only, n) {
			continue
		}
		for _, f := range kindsOfFaults {
			if at -= f.weight; at < 0 {
				w.trace("fault %d: %s", n, f.name)
				w.summary.Faults[f.name]++
				f.do(w, rand.New(rand.NewPCG(w.Seed, uint64(1+n))))
				break
			}
		}
	}
}

func seconds(rng *rand.Rand, most int) time.Duration {
	return time.Duration(rng.Int64N(int64(most) * int64(time.Second)))
}

func (w *world) host(rng *rand.Rand) *host { return w.hosts[rng.IntN(len(w.hosts))] }

// process returns one that runs, of the jobs in the order of their names; nil: none does.
func (w *world) process(rng *rand.Rand) *process {
	var running []*process
	for _, h := range w.hosts {
		for _, p := range h.processes {
			if p.runs {
				running = append(running, p)
			}
		}
	}
	if len(running) == 0 {
		return nil
	}
	slices.SortFunc(running, func(a, b *process) int { return int(a.run.Attempt - b.run.Attempt) })
	return running[rng.IntN(len(running))]
}

func (h *host) back(after time.Duration) {
	boot := h.boot
	time.AfterFunc(after, func() {
		if h.down && h.boot == boot && !h.w.over {
			h.start()
		}
	})
}
