// This file turns servers and claims into a solver.Instance: totals, values, dominant shares.

package alloctest

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

// claim is what one application asks for.
type claim struct {
	demand   apportion.Resources
	weight   float64
	min, max int64
}

// newInstance fills in everything but shares, budgets and what runs. It keeps servers, and needs at least one. It panics where
// capacities do not add up in int64, which those who read instances have checked.
func newInstance(servers []apportion.Resources, claims []claim) *solver.Instance {
	inst := &solver.Instance{Capacity: servers, Total: make(apportion.Resources, len(servers[0]))}
	for _, capacity := range servers {
		if err := exact.AddTo(inst.Total, inst.Total, capacity); err != nil {
			panic(err) // the generators' own capacities are small
		}
	}
	// A container counts for what it is of the whole cluster, kind by kind, (1) and (2).
	for _, c := range claims {
		app := solver.App{Demand: c.demand.Clone(), Min: c.min, Max: c.max} // Table II stays as it is
		for k, q := range c.demand {
			// A kind of which the cluster has none, as GPUs on few servers, counts for nothing in
			// (10).
			if inst.Total[k] > 0 {
				app.Value += float64(q) / float64(inst.Total[k])
			}
		}
		app.Delta, _ = c.demand.DominantShare(inst.Total)
		inst.Apps = append(inst.Apps, app)
	}
	return inst
}
