// This file implements EASY backfilling, [Lifka95], in the order of submission or by a score.

package policies

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion/placement"
	"github.com/apportion/apportion/placement/sim"
)

// EASY starts jobs with Fixed containers, in an order while they fit. The first that does not has a reservation for when enough of what runs has
// ended by its limits, and others start if they do not delay it. A limit is alloc.Application.Ends, in seconds from the start, which every job
// has. Servers count together, in units of their first kind, of which a container takes one: it is for clusters of one server, or for jobs of many.
type EASY struct {
	// Score puts the jobs with the largest first, by their wait so far and limit, in seconds, and containers; nil: the order of submission.
	Score func(waited, limit, containers float64) float64
	// Waited is how long jobs had waited, in seconds, when the simulation began; nil: they had not.
	Waited map[string]float64

	begun map[string]time.Duration
}

// Name returns "easy".
func (*EASY) Name() string { return "easy" }

// release is when units come free.
type release struct {
	at    float64
	units int64
}

// Decide starts what may start. O(jobs log jobs).
func (e *EASY) Decide(_ context.Context, state *sim.State) (orders sim.Orders, err error) {
	if e.begun == nil {
		e.begun = make(map[string]time.Duration)
	}
	packer, err := state.Packer(placement.FirstFit)
	if err != nil {
		return orders, err
	}
	free := int64(0)
	for _, bin := range state.Bins() {
		free += bin.Free[0]
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
		n, ends := j.Fixed, state.Now.Seconds()+*j.Ends
		if n > free || blocked && ends > shadow && n > extra {
			if !blocked {
				blocked = true
				shadow, extra = reservation(releases, free, n)
			}
			continue
		}
		if blocked && ends > shadow {
			extra -= n
		}
		on, fits := packer.Place(j.Demand, n, nil)
		if !fits {
			return orders, fmt.Errorf("policies: EASY: job %q has room on all servers together and not on each", j.ID)
		}
		orders.Places, free = append(orders.Places, sim.Place{Job: j.ID, On: on}), free-n
		e.begun[j.ID] = state.Now
		releases = append(releases, release{ends, n})
	}
	return orders, nil
}

// sort puts the jobs that wait into the order of the policy.
func (e *EASY) sort(waiting []*sim.JobState, now time.Duration) {
	if e.Score == nil {
		return
	}
	of := func(j *sim.JobState) float64 {
		return e.Score(e.Waited[j.ID]+(now-j.Arrival).Seconds(), max(1, *j.Ends), float64(j.Fixed))
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
