// This file tests that what is placed anew makes way for what prefers few domains, against all placements, [Program §13].

package alloc_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion/alloc"
)

// rigidJob is one of so many GPUs.
type rigidJob struct {
	gpus   int64
	prefer bool // few racks
}

// cheapest returns the least that servers and racks beyond the fewest cost these jobs together, in GPUs, on two racks of two servers with so
// many GPUs free of each: by trying all placements.
func cheapest(jobs []rigidJob, free [4]int64, known map[string]float64) float64 {
	if len(jobs) == 0 {
		return 0
	}
	key := fmt.Sprint(len(jobs), free)
	if cost, ok := known[key]; ok {
		return cost
	}
	best := math.Inf(1)
	var at [4]int64
	var try func(j int, need int64)
	try = func(j int, need int64) {
		if j < 4 {
			for at[j] = 0; at[j] <= min(need, free[j]); at[j]++ {
				try(j+1, need-at[j])
			}
			at[j] = 0
			return
		}
		if need > 0 {
			return
		}
		left := free
		for j := range left {
			left[j] -= at[j]
		}
		best = min(best, extraOf(jobs[0], at)+cheapest(jobs[1:], left, known))
	}
	try(0, jobs[0].gpus)
	known[key] = best
	return best
}

// extraOf returns what a job loses by its servers and racks, in GPUs.
func extraOf(job rigidJob, at [4]int64) float64 {
	servers, racks := int64(0), 0
	for j, n := range at {
		if n > 0 {
			servers++
		}
		if j%2 == 1 && at[j-1]+n > 0 {
			racks++
		}
	}
	extra := servers - (job.gpus+7)/8
	if job.prefer && job.gpus <= 16 {
		extra += int64(racks - 1)
	}
	return float64(extra) * max(.13*float64(job.gpus), 1)
}

// Jobs that come together, of which some prefer few racks, lose hardly more by their servers and racks than with the best of all placements.
func TestMakeWay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 33))
	var lost, least float64
	worse, sets := 0, 150
	for range sets {
		p := racked(2, 2)
		p.Topology, p.Compact = []string{"rack"}, []string{"gpu"}
		free, jobs, left := [4]int64{}, []rigidJob(nil), int64(0)
		for j := range free {
			free[j] = 8 - 2*r.Int64N(3)
			if free[j] < 8 {
				id := fmt.Sprint("old", j)
				ask(p, id, 8-free[j], 8-free[j], func(a *alloc.Application) { a.Pinned = true })
				p.Previous[id] = map[string]int64{p.Servers[j].ID: 8 - free[j]}
			}
			left += free[j]
		}
		for i := 0; left > 0; i++ {
			job := rigidJob{min(left, 1+r.Int64N(12)), r.IntN(2) == 0}
			left -= job.gpus
			jobs = append(jobs, job)
			ask(p, fmt.Sprint("new", i), job.gpus, job.gpus, func(a *alloc.Application) {
				if job.prefer {
					a.Prefer = "rack"
				}
			})
		}
		mine := 0.
		d := verified(t, p)
		for i, job := range jobs {
			var at [4]int64
			for j := range at {
				at[j] = d.Allocation[fmt.Sprint("new", i)][p.Servers[j].ID]
			}
			mine += extraOf(job, at)
		}
		want := cheapest(jobs, free, map[string]float64{})
		if lost, least = lost+mine, least+want; mine < want-1e-9 {
			t.Fatalf("%v on %v: %g lost, and the least is %g", jobs, free, mine, want)
		}
		if mine > want+1e-9 {
			worse++
		}
	}
	t.Logf("%.1f GPUs' worth is lost, %.1f by the best placements; %d of %d sets lose more", lost, least, worse, sets)
	if lost > 1.1*least {
		t.Errorf("%g is lost, %g by the best placements", lost, least)
	}
}
