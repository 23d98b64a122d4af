// This file turns generated clusters into problems with names.

// Package problemtest holds problems of package alloc for tests and benchmarks of schedulers: the clusters
// that package alloctest draws for solvers, with names, weights and thresholds.
//
// # Contract
//
// Pure functions: the same arguments give the same problem on every machine. The dense instance of a
// problem is what alloctest draws, but for maxima beyond what the cluster holds. Problems are fresh.
package problemtest

import (
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/alloctest"
)

// threshold is Theta2 of every problem, as in the budgets of alloctest.
const threshold = 0.1

// Draw returns a cluster of the family: servers "s0", "s1" and so on, applications "a0", "a1"; with
// previous it is full, and the last two applications are new. The arguments are those of
// alloctest.Table2.
func Draw(family alloctest.Family, seed uint64, servers, apps int, previous bool) *alloc.Problem {
	inst, weights := family.Draw(seed, servers, apps, previous)
	p := &alloc.Problem{
		Kinds:    apportion.Kinds{"cpu", "gpu", "memory"},
		Previous: alloc.Allocation{},
		Theta2:   threshold,
		Options:  alloc.Options{RestartCost: new(float64)}, // instances have no premium for whoever stays
	}
	// The budget is that of the instance, of 2m.
	p.Theta1, p.Options.NoCeil15 = inst.LossBudget/float64(2*len(p.Kinds)), true
	for j, capacity := range inst.Capacity {
		p.Servers = append(p.Servers, apportion.Server{ID: "s" + strconv.Itoa(j), Capacity: capacity})
	}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		id := "a" + strconv.Itoa(i)
		p.Applications = append(p.Applications, alloc.Application{ID: id, Weight: weights[i], Form: alloc.Form{Demand: app.Demand, Min: app.Min, Max: app.Max}})
		// An application without containers has no entry: an empty one would be written to JSON and
		// mean nothing.
		for _, placed := range app.Previous {
			if p.Previous[id] == nil {
				p.Previous[id] = make(map[string]int64)
			}
			p.Previous[id][p.Servers[placed.Server].ID] = placed.Count
		}
	}
	return p
}
