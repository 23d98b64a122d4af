// This file draws and builds small instances.

package instancetest

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

// Crowd is n equal applications of one container each on servers of equal capacity: too many cells
// to enumerate.
func Crowd(servers, n int, capacity, demand int64, share float64) *solver.Instance {
	inst := &solver.Instance{LossBudget: 100, AdjustBudget: 100}
	for range servers {
		inst.Capacity = append(inst.Capacity, apportion.Resources{capacity})
	}
	for range n {
		inst.Apps = append(inst.Apps, solver.App{Demand: apportion.Resources{demand}, Min: 1, Max: 1, Share: share})
	}
	return Finish(inst)
}

// Finish computes totals, values and dominant shares.
func Finish(inst *solver.Instance) *solver.Instance {
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

// Drawer draws a number from least to most; rapid shrinks it under that name.
type Drawer func(least, most int64, name string) int64

// Tiny draws an instance that the exhaustive oracle can answer: up to three servers and three
// applications, often two of one demand, with everything that can go wrong: previous containers
// that overfill a server or lie outside the bounds, displaced applications, capacities of zero,
// budgets that bind or cannot be met.
func Tiny(draw Drawer) *solver.Instance {
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
		app.Cost = 1
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
	return Finish(inst)
}

// The worked cluster: two servers of (4 CPU, 1 GPU, 16 GB) and (4, 0, 16), and three applications
// of the paper's kinds.
func Worked(apps ...solver.App) *solver.Instance {
	return Finish(&solver.Instance{
		Capacity:   []apportion.Resources{{4, 1, 16}, {4, 0, 16}},
		Apps:       apps,
		LossBudget: 1, AdjustBudget: 1,
	})
}

// LR is an application of 1 CPU and 2 GB a container, up to 6, that holds held.
func LR(share float64, held ...apportion.Placement) solver.App {
	return solver.App{Demand: apportion.Resources{1, 0, 2}, Min: 1, Max: 6, Share: share, Running: len(held) > 0, Cost: 1, Previous: held}
}

// MF is an application of 2 CPU and 2 GB a container, up to 4, that holds held.
func MF(share float64, held ...apportion.Placement) solver.App {
	return solver.App{Demand: apportion.Resources{2, 0, 2}, Min: 1, Max: 4, Share: share, Running: len(held) > 0, Cost: 1, Previous: held}
}

// NN is a new application of one container with the only GPU.
func NN(share float64) solver.App {
	return solver.App{Demand: apportion.Resources{1, 1, 4}, Min: 1, Max: 1, Share: share}
}

// Clone returns a deep copy of inst.
func Clone(inst *solver.Instance) *solver.Instance {
	c := *inst
	c.Total = inst.Total.Clone()
	c.Capacity = append([]apportion.Resources(nil), inst.Capacity...)
	for j := range c.Capacity {
		c.Capacity[j] = c.Capacity[j].Clone()
	}
	c.Apps = append([]solver.App(nil), inst.Apps...)
	for i := range c.Apps {
		c.Apps[i].Demand = c.Apps[i].Demand.Clone()
		c.Apps[i].Previous = append([]apportion.Placement(nil), c.Apps[i].Previous...)
	}
	return &c
}

// AddWorths draws worths of any shape for the numbers of some applications of a small instance, and for staying.
func AddWorths(draw Drawer, inst *solver.Instance) {
	for i := range inst.Apps {
		app := &inst.Apps[i]
		app.Stay = float64(max(0, draw(-3, 3, "stay"))) / 4
		if draw(0, 3, "worth") == 0 {
			continue
		}
		app.Idle = float64(draw(-4, 4, "idle")) / 4
		for range app.Max - max(1, app.Min) + 1 {
			app.Worth = append(app.Worth, float64(draw(-8, 16, "worth of a number"))/4)
		}
	}
}
