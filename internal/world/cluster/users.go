// This file holds the users: they submit jobs, resize them, save them, drain servers and cancel, at random.

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
)

// moves is how many jobs are moved at a time, in the mean.
const moves = 3

// users ask for something every few seconds, until no more faults come.
func (w *world) users() {
	for !w.quiet {
		time.Sleep(time.Duration(1000+w.rng.IntN(5000)) * time.Millisecond)
		m := w.master()
		if m == nil {
			continue
		}
		w.list(m)
		state := m.d.State()
		running := slices.DeleteFunc(state.Jobs, func(j checkpoint.Job) bool { return j.Phase == checkpoint.Ended })
		if len(running) < w.Jobs {
			w.submit()
			continue
		}
		job := running[w.rng.IntN(len(running))].Name
		switch draw := w.rng.IntN(20); {
		case draw < 2:
			w.apply(m, checkpoint.Checkpoint{Job: job})
		case draw < 3:
			w.truth.jobs[job].asked = true
			w.apply(m, checkpoint.Cancel{Job: job})
		case draw < 4 && len(state.Servers) > 1:
			w.drain(m, &state)
		default:
			w.adjust(m, min(0.5, moves/float64(w.Jobs)))
		}
	}
}

func (w *world) submit() {
	w.summary.Submitted++
	name := fmt.Sprintf("job-%d", w.summary.Submitted)
	j := &jobTruth{total: int64(30 + w.rng.IntN(300)), live: map[*process]bool{}, fresh: map[place]bool{}}
	w.truth.jobs[name] = j
	// A user without an answer asks again.
	for !w.quiet {
		m := w.master()
		if m != nil && w.apply(m, checkpoint.Submit{Job: name, Demand: slot}) == nil {
			j.accepts()
			return
		}
		if m != nil {
			if _, known := jobOf(m, name); known {
				j.accepts()
				return
			}
		}
		time.Sleep(3 * time.Second)
	}
}

func jobOf(m *master, name string) (driver.JobState, bool) {
	state := m.d.State()
	return state.Job(name)
}

func (w *world) drain(m *master, state *driver.State) {
	id := state.Servers[w.rng.IntN(len(state.Servers))].ID
	w.apply(m, checkpoint.Drain{ID: id, Deadline: time.Now().Add(time.Minute)})
	time.AfterFunc(time.Duration(w.rng.IntN(120))*time.Second, func() {
		for over := false; !over; time.Sleep(5 * time.Second) {
			if m := w.master(); m != nil {
				over = w.apply(m, checkpoint.Drain{ID: id, Over: true}) == nil || w.quiet
			}
		}
	})
}

// adjust gives some of the jobs, each with that probability, up to three containers each where there is room beside the others.
func (w *world) adjust(m *master, probability float64) {
	state := m.d.State()
	free, ids := map[string]int{}, []string{}
	for _, s := range state.Servers {
		if !slices.Contains(state.Draining, s.ID) && !slices.Contains(state.Silent, s.ID) && state.Cordons[s.ID] == "" {
			ids = append(ids, s.ID)
		}
		free[s.ID] = int(s.Capacity[0])
	}
	var chosen []string
	for _, j := range state.Jobs {
		if j.Phase == checkpoint.Ended {
			continue
		}
		rests := j.Order == 0 && (j.Phase == checkpoint.Idle || j.Phase == checkpoint.Running)
		// At the end only jobs without containers are given some: the others are left in peace.
		if rests && (w.quiet && j.Phase == checkpoint.Idle || !w.quiet && w.rng.Float64() < probability) {
			chosen = append(chosen, j.Name)
			continue
		}
		for _, list := range [][]string{j.Containers, j.Target, j.Wanted} {
			for _, id := range list {
				free[id]--
			}
		}
	}
	targets := map[string][]string{}
	for _, name := range chosen {
		var on []string
		for range 1 + w.rng.IntN(3) {
			for _, i := range w.rng.Perm(len(ids)) {
				if free[ids[i]] > 0 {
					free[ids[i]]--
					on = append(on, ids[i])
					break
				}
			}
		}
		slices.Sort(on)
		if len(on) > 0 || !w.quiet && w.rng.IntN(4) == 0 {
			targets[name] = on
		}
	}
	if len(targets) == 0 {
		return
	}
	adjust := checkpoint.Adjust{Targets: targets}
	if w.rng.IntN(4) == 0 {
		adjust.Deadline = time.Now().Add(time.Duration(10+w.rng.IntN(60)) * time.Second)
	}
	w.apply(m, adjust)
}

func (w *world) apply(m *master, e checkpoint.Event) error {
	begin := time.Since(w.began)
	err := within(10*time.Second, func(ctx context.Context) error { return m.d.Apply(ctx, e) })
	w.called(e, begin, err)
	w.trace("master %d is asked for %T %+v: %v", m.epoch, e, e, err)
	return err
}
