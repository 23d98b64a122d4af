package embedded

import (
	"math"

	"pgregory.net/rapid"

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

// tiny draws an instance that the exhaustive oracle can answer: up to three servers and three
// applications, often two of one demand, with everything that can go wrong: previous containers
// that overfill a server or lie outside the bounds, displaced applications, capacities of zero,
// budgets that bind or cannot be met.
func tiny(t *rapid.T) *solver.Instance {
	kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
	tight := rapid.Bool().Draw(t, "tight")
	vector := func(name string, least, most int64) apportion.Resources {
		r := make(apportion.Resources, kinds)
		for k := range r {
			r[k] = rapid.Int64Range(least, most).Draw(t, name)
		}
		return r
	}
	inst := &solver.Instance{
		LossBudget:   3,
		AdjustBudget: 2,
	}
	if tight {
		inst.LossBudget = rapid.SampledFrom([]float64{0, 0.2, 0.5, 1}).Draw(t, "loss budget")
		inst.AdjustBudget = rapid.Int64Range(0, 2).Draw(t, "adjust budget")
	}
	servers := rapid.IntRange(1, 3).Draw(t, "servers")
	for j := range servers {
		if j > 0 && rapid.Bool().Draw(t, "equal server") {
			inst.Capacity = append(inst.Capacity, inst.Capacity[j-1].Clone())
			continue
		}
		inst.Capacity = append(inst.Capacity, vector("capacity", rapid.Int64Range(0, 2).Draw(t, "least"), 5))
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "applications") {
		var demand apportion.Resources
		if i > 0 && rapid.Bool().Draw(t, "equal demand") {
			demand = inst.Apps[i-1].Demand.Clone()
		} else if demand = vector("demand", 0, 2); demand.IsZero() {
			demand[0] = 1
		}
		app := solver.App{Demand: demand, Min: rapid.Int64Range(0, rapid.Int64Range(0, 2).Draw(t, "most min")).Draw(t, "min")}
		app.Max = max(1, app.Min+rapid.Int64Range(0, 3).Draw(t, "more"))
		app.Share = math.Round(rapid.Float64Range(0, 1).Draw(t, "share")*12) / 12
		if app.Running = rapid.Bool().Draw(t, "running"); app.Running {
			app.Displaced = rapid.IntRange(0, 5).Draw(t, "displaced") == 0
			for j := range servers {
				if n := rapid.Int64Range(-2, 2).Draw(t, "held"); n > 0 {
					app.Previous = append(app.Previous, apportion.Placement{Server: j, Count: n})
				}
			}
		}
		inst.Apps = append(inst.Apps, app)
	}
	return finish(inst)
}
