package embedded

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

// finish computes totals, values and dominant shares.
func finish(inst *solver.Instance) *solver.Instance {
	inst.Total = make(apportion.Resources, len(inst.Capacity[0]))
	for _, capacity := range inst.Capacity {
		if err := exact.AddTo(inst.Total, inst.Total, capacity); err != nil {
			panic(err)
		}
	}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		app.Value = 0
		for k, q := range app.Demand {
			if inst.Total[k] > 0 {
				app.Value += float64(q) / float64(inst.Total[k])
			}
		}
		app.Delta, _ = app.Demand.DominantShare(inst.Total)
	}
	return inst
}

// drawer draws a number from least to most; rapid shrinks it under that name.
type drawer func(least, most int64, name string) int64

// tiny draws an instance that the exhaustive oracle can answer: up to three servers and three
// applications, often two of one demand, with everything that can go wrong: previous containers
// that overfill a server or lie outside the bounds, displaced applications, capacities of zero,
// budgets that bind or cannot be met.
func tiny(draw drawer) *solver.Instance {
	kinds := int(draw(1, 3, "kinds"))
	tight := draw(0, 1, "tight") > 0
	vector := func(name string, least, most int64) apportion.Resources {
		r := make(apportion.Resources, kinds)
		for k := range r {
			r[k] = draw(least, most, name)
		}
		return r
	}
	inst := &solver.Instance{
		LossBudget:   3,
		AdjustBudget: 2,
	}
	if tight {
		inst.LossBudget = []float64{0, 0.2, 0.5, 1}[draw(0, 3, "loss budget")]
		inst.AdjustBudget = draw(0, 2, "adjust budget")
	}
	servers := int(draw(1, 3, "servers"))
	for j := range servers {
		if j > 0 && draw(0, 1, "equal server") > 0 {
			inst.Capacity = append(inst.Capacity, inst.Capacity[j-1].Clone())
			continue
		}
		inst.Capacity = append(inst.Capacity, vector("capacity", draw(0, 2, "least"), 5))
	}
	for i := range int(draw(0, 3, "applications")) {
		var demand apportion.Resources
		if i > 0 && draw(0, 1, "equal demand") > 0 {
			demand = inst.Apps[i-1].Demand.Clone()
		} else if demand = vector("demand", 0, 2); demand.IsZero() {
			demand[0] = 1
		}
		app := solver.App{Demand: demand, Min: draw(0, draw(0, 2, "most min"), "min")}
		app.Max = max(1, app.Min+draw(0, 3, "more"))
		app.Share = float64(draw(0, 12, "share")) / 12
		if app.Running = draw(0, 1, "running") > 0; app.Running {
			app.Displaced = int(draw(0, 5, "displaced")) == 0
			for j := range servers {
				if n := draw(-2, 2, "held"); n > 0 {
					app.Previous = append(app.Previous, apportion.Placement{Server: j, Count: n})
				}
			}
		}
		inst.Apps = append(inst.Apps, app)
	}
	return finish(inst)
}
