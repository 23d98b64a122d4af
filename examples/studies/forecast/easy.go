// This file implements EASY backfilling, [Lifka95], in the order of submission or by the score that Theta's scheduler has, [Allcock17 §3].

package main

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement/sim"
)

// easy starts jobs in an order while they fit; the first that does not has a reservation for when enough of what runs has ended by its
// limits, and others start if they do not delay it. Servers count together: it is for clusters of one server, or for jobs of many.
type easy struct {
	// score puts those with the largest first, by their wait so far, limit and units; nil: the order of submission.
	score func(waited, limit, units float64) float64
	// waited is how long jobs had waited when the simulation began.
	waited map[string]float64
	begun  map[string]time.Duration
}

// wfp is the score of Theta: (wait / limit)^3 times the nodes.
func wfp(waited, limit, units float64) float64 { return math.Pow(waited/limit, 3) * units }

// Name returns "easy".
func (*easy) Name() string { return "easy" }

// release is when units come free.
type release struct {
	at    float64
	units int64
}

// Decide starts what may start.
func (e *easy) Decide(_ context.Context, state *sim.State) (orders sim.Orders, err error) {
	if e.begun == nil {
		e.begun = make(map[string]time.Duration)
	}
	free := make([]int64, len(state.Scenario.Servers))
	for h, bin := range state.Bins() {
		free[h] = bin.Free[0]
	}
	var releases []release
	var waiting []*sim.JobState
	for i := range state.Jobs {
		j := &state.Jobs[i]
		if j.Containers == 0 {
			waiting = append(waiting, j)
			continue
		}
		releases = append(releases, release{max(e.begun[j.ID].Seconds()+*j.Ends, state.Now.Seconds()), j.Containers})
	}
	e.sort(waiting, state.Now)
	blocked, shadow, extra := false, 0.0, int64(0)
	for _, j := range waiting {
		n, total := j.Fixed, sum(free)
		ends := state.Now.Seconds() + *j.Ends
		if n > total || blocked && ends > shadow && n > extra {
			if !blocked {
				blocked = true
				shadow, extra = reservation(releases, total, n)
			}
			continue
		}
		if blocked && ends > shadow {
			extra -= n
		}
		orders.Places = append(orders.Places, sim.Place{Job: j.ID, On: take(free, n)})
		e.begun[j.ID] = state.Now
		releases = append(releases, release{ends, n})
	}
	return orders, nil
}

// sort puts the jobs that wait into the order of the policy.
func (e *easy) sort(waiting []*sim.JobState, now time.Duration) {
	if e.score == nil {
		return
	}
	of := func(j *sim.JobState) float64 {
		return e.score(e.waited[j.ID]+(now-j.Arrival).Seconds(), max(1, *j.Ends), float64(j.Fixed))
	}
	slices.SortStableFunc(waiting, func(a, b *sim.JobState) int { return cmp.Compare(of(b), of(a)) })
}

// reservation returns when so many units are free by the limits of what runs, and how many are left over then.
func reservation(releases []release, free, units int64) (shadow float64, extra int64) {
	slices.SortStableFunc(releases, func(a, b release) int { return cmp.Compare(a.at, b.at) })
	for _, r := range releases {
		free, shadow = free+r.units, r.at
		if free >= units {
			break
		}
	}
	return shadow, free - units
}

// take places units on the first servers with room.
func take(free []int64, units int64) (on []apportion.Placement) {
	for h := range free {
		if n := min(free[h], units); n > 0 {
			on = append(on, apportion.Placement{Server: h, Count: n})
			free[h] -= n
			units -= n
		}
	}
	return on
}

func sum(of []int64) (n int64) {
	for _, x := range of {
		n += x
	}
	return n
}
