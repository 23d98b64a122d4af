// This file holds the world: what there is, and how one run goes.

package main

import (
	"context"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/internal/vfstest"
	"github.com/apportion/apportion/internal/world/summary"
)

// The times of the world. The grace is longer than the lease by what clocks drift apart and what ending a job takes.
const (
	lease = 10 * time.Second
	grace = 20 * time.Second
	// drift is by how much a machine's clock may be fast or slow.
	drift = 0.01
	// repaired is how long the world has for all that is left to do when no more faults come.
	repaired = time.Hour
)

// options say what is played.
type options struct {
	Seed          uint64
	For, Every    time.Duration
	Servers, Jobs int
	Only          []int
	Bug           string
	Trace, Steps  bool
	Wire          bool // what masters and agents say is signed, by package wire
}

// world is a cluster. One goroutine runs at a time, and gives way only where it waits, so nothing here is locked.
type world struct {
	options
	rng     *rand.Rand
	secret  wire.Secret
	began   time.Time
	quiet   bool // no more faults come
	over    bool
	hosts   []*host
	store   *storetest.MemStore
	refuses time.Time    // until then the store answers nothing
	disk    *vfstest.Mem // the one that the masters share
	// lost is the name of the journal of which the operator accepts that records are gone.
	lost    string
	masters []*master
	truth   *truth
	history history
	steps   *steps // nil: none are noted
	summary summary.Summary
	hash    hash.Hash64
}

func newWorld(o options) *world {
	w := &world{options: o, rng: rand.New(rand.NewPCG(o.Seed, 0)), began: time.Now(), secret: wire.NewSecret(), store: &storetest.MemStore{}, disk: vfstest.NewMem(),
		summary: summary.Summary{Seed: o.Seed, Faults: map[string]int{}}, hash: fnv.New64a(), history: history{}}
	w.truth = newTruth(w)
	if o.Steps {
		w.steps = &steps{w: w}
	}
	for i := range o.Servers {
		w.hosts = append(w.hosts, newHost(w, fmt.Sprintf("s%d", i+1), int64(2+w.rng.IntN(3))))
	}
	return w
}

// play lets the world go on for as long as faults come, and then until all is done.
func (w *world) play() summary.Summary {
	for _, h := range w.hosts {
		h.start()
		go h.joins()
	}
	go w.lead()
	go w.faults()
	var users sync.WaitGroup
	for range 2 {
		users.Go(w.users)
	}
	time.Sleep(w.For)
	w.repair()
	users.Wait()
	w.rest()
	w.over = true
	w.judgeHistory()
	if w.steps != nil {
		w.summary.Traces = w.steps.traces()
	}
	w.summary.Hours = time.Since(w.began).Hours()
	w.summary.Trace = fmt.Sprintf("%016x", w.hash.Sum64())
	return w.summary
}

// trace notes what happens: two runs of one seed have the same notes.
func (w *world) trace(format string, args ...any) {
	line := fmt.Sprintf("%12s  %s\n", time.Since(w.began).Round(time.Millisecond), fmt.Sprintf(format, args...))
	w.hash.Write([]byte(line))
	if w.Trace {
		os.Stdout.WriteString(line)
	}
}

// violated notes what must not be. A run goes on after it, since what follows tells more.
func (w *world) violated(format string, args ...any) {
	text := fmt.Sprintf("%s: ", time.Since(w.began).Round(time.Millisecond)) + fmt.Sprintf(format, args...)
	w.trace("VIOLATION %s", text)
	if len(w.summary.Violations) < 10 {
		w.summary.Violations = append(w.summary.Violations, text)
	}
}

// repair ends all faults: machines run, disks and the store answer, the network is whole.
func (w *world) repair() {
	w.trace("all is repaired")
	w.quiet, w.refuses = true, time.Time{}
	for _, h := range w.hosts {
		h.repair()
	}
	for _, m := range w.masters {
		m.life.frozen = time.Time{}
	}
}

// rest gives every job that has none some room, again and again, until all have ended.
func (w *world) rest() {
	for until := time.Now().Add(repaired); ; time.Sleep(10 * time.Second) {
		if len(w.summary.Violations) > 0 {
			return // what follows from it may have no end
		}
		m := w.master()
		if m != nil {
			state := m.d.State()
			if !slices.ContainsFunc(state.Jobs, func(j checkpoint.Job) bool { return j.Phase != checkpoint.Ended }) && w.known(state.Jobs) {
				return
			}
			w.buries(m, state.Jobs)
			w.adjust(m, 1)
		}
		if time.Now().After(until) {
			w.violated("the world does not come to rest")
			w.tell()
			return
		}
	}
}

// buries cancels jobs that had ended before their end was lost with other records: their checkpoints may be gone, and then none of their
// attempts can begin.
func (w *world) buries(m *master, jobs []checkpoint.Job) {
	for i := range jobs {
		if j := w.truth.jobs[jobs[i].Name]; j.ended && jobs[i].Phase != checkpoint.Ended {
			j.asked = true
			w.apply(m, checkpoint.Cancel{Job: jobs[i].Name})
		}
	}
}

// tell notes what the newest master says of its jobs that have not ended.
func (w *world) tell() {
	m := w.master()
	if m == nil {
		return
	}
	for _, j := range m.d.State().Jobs {
		if j.Phase != checkpoint.Ended {
			w.trace("master %d: job %q is %s, attempt %d on %v, wants %v: %+v", m.epoch, j.Name, j.Phase, j.Attempt, j.Containers, j.Wanted, j.Reason)
		}
	}
}

// known reports whether every job that was accepted and not accepted as lost is on record or was forgotten after its end.
func (w *world) known(jobs []checkpoint.Job) bool {
	on := map[string]bool{}
	for _, j := range jobs {
		on[j.Name] = true
	}
	whole := true
	for name, j := range w.truth.jobs {
		if j.accepted && !j.ended && !on[name] {
			w.violated("job %q was accepted, has not ended and is on no record", name)
			j.ended, whole = true, false
		}
	}
	return whole
}

// master returns the newest master that leads; nil: none does.
func (w *world) master() *master {
	for _, m := range slices.Backward(w.masters) {
		if m.d != nil && !m.ended && !m.life.dead && !m.life.asleep() {
			return m
		}
	}
	return nil
}

func within(limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return do(ctx)
}

// Servers have slots, and a container takes one.
var (
	kinds = apportion.Kinds{"slot"}
	slot  = apportion.Resources{1}
)
