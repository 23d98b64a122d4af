// This file adds a simple solver to the choices of -solver and stops the clock, so that the tests of
// what is printed depend neither on the solvers of the library nor on the machine.

package main

import (
	"context"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/examples/internal/backend"
)

func init() {
	now = func() time.Time { return time.Time{} }
	solvers = append(solvers, backend.Backend{Name: "first-fit", Own: firstFit{}})
}

// firstFit keeps everyone where they are and gives newcomers what fits, server by server, at most 12
// containers. Where the thresholds refuse that it gives up.
type firstFit struct{}

// Solve implements solver.Solver.
func (firstFit) Solve(_ context.Context, inst *solver.Instance) (*solver.Solution, error) {
	counts := make(solver.Counts, len(inst.Apps))
	for i := range inst.Apps {
		counts[i] = inst.Apps[i].Previous
	}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		left := min(app.Max, 12)
		if app.Running {
			continue
		}
		used, err := inst.Used(counts)
		if err != nil {
			return nil, err
		}
		for j, capacity := range inst.Capacity {
			n := left
			for k, d := range app.Demand {
				if d > 0 {
					n = min(n, (capacity[k]-used[j][k])/d)
				}
			}
			if n > 0 {
				counts[i] = append(counts[i], apportion.Placement{Server: j, Count: n})
				left -= n
			}
		}
	}
	if inst.Check(counts) != nil {
		return &solver.Solution{Status: solver.Unknown}, nil
	}
	objective := inst.Objective(counts)
	return &solver.Solution{Status: solver.Feasible, Counts: counts, Objective: objective, Bound: 2 * objective}, nil
}
