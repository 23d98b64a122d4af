// This file runs a machine through random decisions and replies, and looks at it in the middle of everything.

package bridge_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/internal/must"
)

// run is a machine, what it has asked for, and the problem that is decided.
type run struct {
	m       *checkpoint.Machine
	p       *alloc.Problem
	pending []checkpoint.Effect
	now     time.Time
}

func newRun(t *rapid.T) *run {
	m := must.Have(checkpoint.New(checkpoint.Config{Kinds: apportion.Kinds{"slot"}, Retries: -1, Limit: rapid.IntRange(0, 2).Draw(t, "limit"), MaxTick: time.Hour}, 1))(t)
	r := &run{m: m, p: problem("a", "b", "c", "d"), now: time.Unix(0, 0)}
	for _, s := range servers {
		r.step(t, checkpoint.ServerUp{Server: s})
	}
	for i := range r.p.Applications {
		app := &r.p.Applications[i]
		app.Demand = apportion.Resources{rapid.Int64Range(1, 2).Draw(t, "demand")}
		submit := must.Have(bridge.Submit(app))(t)
		r.step(t, submit)
	}
	return r
}

// step gives the machine an event and keeps what it asks for.
func (r *run) step(t *rapid.T, event checkpoint.Event) {
	must.Do(t, r.m.Step(event), event)
	for _, e := range r.m.Ready().Effects {
		if e.Action != checkpoint.Prune {
			r.pending = append(r.pending, e)
		}
	}
}

func (r *run) reply(t *rapid.T, at int, outcome checkpoint.Outcome) {
	e := r.pending[at]
	r.pending = slices.Delete(r.pending, at, at+1)
	r.step(t, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: outcome})
}

func (r *run) rest(t *rapid.T) {
	for len(r.pending) > 0 {
		r.reply(t, 0, checkpoint.Done)
	}
	for _, j := range r.m.Jobs() {
		if j.Phase != checkpoint.Running && j.Phase != checkpoint.Idle && j.Phase != checkpoint.Ended || j.Order != 0 {
			r.tick(t, time.Second) // a pause
			r.rest(t)
			return
		}
	}
}

func (r *run) tick(t *rapid.T, d time.Duration) {
	r.now = r.now.Add(d)
	r.step(t, checkpoint.Tick{Now: r.now})
}

func (r *run) fitting(t *rapid.T) alloc.Allocation {
	next := alloc.Allocation{}
	for _, s := range servers {
		free := s.Capacity[0]
		for _, app := range r.p.Applications {
			n := rapid.Int64Range(0, free/app.Demand[0]).Draw(t, fmt.Sprintf("%s on %s", app.ID, s.ID))
			if n == 0 {
				continue
			}
			if next[app.ID] == nil {
				next[app.ID] = map[string]int64{}
			}
			next[app.ID][s.ID] = n
			free -= n * app.Demand[0]
		}
	}
	return next
}

func (r *run) adjust(t *rapid.T, next alloc.Allocation) {
	event := must.Have(bridge.Targets(r.p, next, r.m.Jobs()))(t)
	r.step(t, event)
}

// look checks Previous as it is now: it names only what a job holds or is to have, and never more of it at
// once; it fits; alloc takes it without a fault.
func (r *run) look(t *rapid.T) alloc.Allocation {
	jobs := r.m.Jobs()
	previous := bridge.Previous(jobs, servers)
	for i := range jobs {
		j := &jobs[i]
		held, goal := bridge.Counts(j.Containers), bridge.Counts(bridge.Goal(j))
		has := previous[j.Name]
		kept := map[string]int64{}
		for server, n := range held {
			if both := min(n, goal[server]); both > 0 {
				kept[server] = both
			}
		}
		if !same(has, held) && !same(has, goal) && !same(has, kept) {
			t.Fatalf("%s has %v, holds %v, and is to have %v", j.Name, has, held, goal)
		}
		if j.Ending != "" && len(has) > 0 {
			t.Fatalf("%s has %v and is %s", j.Name, has, j.Ending)
		}
	}
	p := *r.p
	p.Previous = previous
	must.Do(t, p.Validate(), "alloc does not take", previous)
	return previous
}

func same(a, b map[string]int64) bool { return len(a) == len(b) && (len(a) == 0 || cmp.Equal(a, b)) }

// At rest a decision that was carried out is the Previous of the next one, and carrying that out asks for
// nothing. In the middle of adjustments, of which some fail, nothing is counted twice and nothing
// over-commits.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRun(t)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1:
				r.adjust(t, r.fitting(t))
			case 2:
				r.tick(t, rapid.SampledFrom([]time.Duration{time.Second, time.Minute}).Draw(t, "time"))
			case 3:
				j := rapid.SampledFrom(r.m.Jobs()).Draw(t, "job")
				r.step(t, checkpoint.Exited{Job: j.Name, Attempt: j.Attempt})
			default:
				if len(r.pending) > 0 {
					outcome := rapid.SampledFrom([]checkpoint.Outcome{checkpoint.Done, checkpoint.Done, checkpoint.Done, checkpoint.Failed}).Draw(t, "outcome")
					r.reply(t, rapid.IntRange(0, len(r.pending)-1).Draw(t, "which"), outcome)
				}
			}
			r.look(t)
		}
		r.rest(t)
		next := r.fitting(t)
		r.adjust(t, next)
		r.look(t)
		r.rest(t)
		must.Equal(t, cmp.Diff(next, r.look(t)), "", "at rest (-decided +previous)")
		event, err := bridge.Targets(r.p, next, r.m.Jobs())
		if err != nil || len(event.Targets) > 0 {
			t.Fatalf("the same again asks for %v, %v", event.Targets, err)
		}
	})
}

// A goal that was handed over in the middle of an adjustment costs nothing when it is decided again, and what
// a job held before is an adjustment like any other.
func TestGoalIsFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRun(t)
		r.adjust(t, r.fitting(t))
		r.rest(t)
		r.adjust(t, r.fitting(t))
		for range rapid.IntRange(0, 12).Draw(t, "replies") {
			if len(r.pending) > 0 {
				r.reply(t, 0, checkpoint.Done)
			}
		}
		event, err := bridge.Targets(r.p, r.look(t), r.m.Jobs())
		if err != nil || len(event.Targets) > 0 {
			t.Fatalf("to decide for Previous asks for %v, %v", event.Targets, err)
		}
	})
}
