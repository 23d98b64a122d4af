// This file draws clusters in which nothing is like anything else.

package instancetest

import (
	"math/rand/v2"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// containerHas is the most that a container needs of a kind, and about how much of it a server has for each
// application that there is for it.
const containerHas = 1_000_000

// Unlike draws a fresh cluster of servers that all differ, as counted bytes do, and as many demands as applications:
// nothing that a solver could take together. A quarter of the demands are 0, each application may have one container
// to eight, and the servers have one to four times what one container of each would need, shared among them.
func Unlike(seed uint64, servers, apps, kinds int) *solver.Instance {
	r := rand.New(rand.NewPCG(seed, 24))
	inst := &solver.Instance{LossBudget: float64(kinds), AdjustBudget: 0}
	// What a server has is counted by the applications for each server, and at least one container's needs.
	scale := max(1, float64(apps)/float64(servers)/2)
	for range servers {
		capacity := make(apportion.Resources, kinds)
		for k := range capacity {
			capacity[k] = int64(scale * containerHas * (1 + float64(3*r.Float64())))
		}
		inst.Capacity = append(inst.Capacity, capacity)
	}
	for range apps {
		app := solver.App{Demand: make(apportion.Resources, kinds), Min: 1, Max: 8}
		for k := range app.Demand {
			app.Demand[k] = max(0, r.Int64N(containerHas*4/3)-containerHas/3)
		}
		if app.Demand.IsZero() {
			app.Demand[0] = 1 + r.Int64N(containerHas)
		}
		inst.Apps = append(inst.Apps, app)
	}
	Finish(inst)
	// A share of the cluster each, by a weight of 1, 2 or 4.
	total := 0.0
	for i := range inst.Apps {
		inst.Apps[i].Share = float64(int(1) << r.IntN(3))
		total += inst.Apps[i].Share
	}
	for i := range inst.Apps {
		inst.Apps[i].Share = min(inst.Apps[i].Share/total, float64(inst.Apps[i].Max)*inst.Apps[i].Delta)
	}
	return inst
}
