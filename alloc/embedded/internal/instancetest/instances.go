// This file draws and builds small instances.

package instancetest

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

// Crowd is n equal applications of one container each on servers of equal capacity: too many cells
// to enumerate.
// Capacity and demand are in units of the only kind; share is s^_i of each. Both budgets are so large that
// (15) and (16) do not bind.
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
// Value and Delta must follow from the demands, as they do in a Dorm instance: otherwise tests of closed forms
// would hold for numbers that no caller sends.
func Finish(inst *solver.Instance) *solver.Instance {
	// C_k = sum_j c_jk, by the exact sum that the solver itself relies on.
	inst.Total = make(apportion.Resources, len(inst.Capacity[0]))
	for _, capacity := range inst.Capacity {
		if err := exact.AddTo(inst.Total, inst.Total, capacity); err != nil {
			// An overflow is a mistake of the test, not of what it tests.
			panic(err)
		}
	}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		// v_i = sum_k d_ik / C_k, (10). Value begins at 0, so that Finish may be called again after a change
		// of the servers.
		app.Value = 0
		for k, q := range app.Demand {
			// A kind that no server has is worth nothing, and a quotient by 0 would be no number.
			if inst.Total[k] > 0 {
				app.Value += float64(q) / float64(inst.Total[k])
			}
		}
		// delta_i = max_k d_ik / C_k, (2).
		app.Delta, _ = app.Demand.DominantShare(inst.Total)
	}
	return inst
}

// Drawer draws a number from least to most; rapid shrinks it under that name.
// least <= most, both included. Tests of fixed instances may pass a generator of their own.
type Drawer func(least, most int64, name string) int64

// Tiny draws an instance that the exhaustive oracle can answer: up to three servers and three
// applications, often two of one demand, with everything that can go wrong: previous containers
// that overfill a server or lie outside the bounds, displaced applications, capacities of zero,
// budgets that bind or cannot be met, in a third of them a price of restarts.
// Ranges are small on purpose: only then do capacities run short, budgets bind and demands repeat within a few
// hundred draws, and the exhaustive oracle stays fast.
func Tiny(draw Drawer) *solver.Instance {
	kinds := int(draw(1, 3, "kinds"))
	// Half of the instances have budgets that hardly bind: else most would be infeasible, and would test the
	// proofs alone.
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
	prices := draw(0, 2, "prices of restarts") == 0
	if tight {
		// The budgets are in shares: 0 asks for the exact shares, 1 for a whole cluster off.
		inst.LossBudget = []float64{0, 0.2, 0.5, 1}[draw(0, 3, "loss budget")]
		inst.AdjustBudget = draw(0, 2, "adjust budget")
	}
	servers := int(draw(1, 3, "servers"))
	for j := range servers {
		// Equal servers are of one shape, which the searches treat as one; drawn apart they would seldom meet.
		if j > 0 && draw(0, 1, "equal server") > 0 {
			inst.Capacity = append(inst.Capacity, inst.Capacity[j-1].Clone())
			continue
		}
		// The least of a server is drawn first, so that servers without a kind, and cheap ones, both come up.
		inst.Capacity = append(inst.Capacity, vector("capacity", draw(0, 2, "least"), 5))
	}
	for i := range int(draw(0, 3, "applications")) {
		// Equal demands form a type: members share their containers, and the decoder has something to deal
		// out.
		var demand apportion.Resources
		if i > 0 && draw(0, 1, "equal demand") > 0 {
			demand = inst.Apps[i-1].Demand.Clone()
		} else if demand = vector("demand", 0, 2); demand.IsZero() {
			// A demand of nothing is no valid one.
			demand[0] = 1
		}
		app := solver.App{Demand: demand, Min: draw(0, draw(0, 2, "most min"), "min")}
		// Max is at least 1, as Validate asks for.
		app.Max = max(1, app.Min+draw(0, 3, "more"))
		// A share is a multiple of 1/12: sums of them are short fractions, which meet budgets exactly and so
		// try the tolerances.
		app.Share = float64(draw(0, 12, "share")) / 12
		// With a cost of 1 each (16) counts applications, as in the paper.
		app.Cost = 1
		if app.Running = draw(0, 1, "running") > 0; app.Running {
			// One running application in six has lost a server.
			app.Displaced = int(draw(0, 5, "displaced")) == 0
			for j := range servers {
				// Held containers are drawn without a look at the capacity: servers that shrank come up that
				// way. Negative draws make empty places as frequent as others.
				if n := draw(-2, 2, "held"); n > 0 {
					app.Previous = append(app.Previous, apportion.Placement{Server: j, Count: n})
				}
			}
			if prices {
				app.Stay = float64(draw(0, 4, "stay")) / 16
			}
		}
		inst.Apps = append(inst.Apps, app)
	}
	// Shares are not made consistent with the demands: the solver must answer whatever shares it is given.
	return Finish(inst)
}

// The worked cluster: two servers of (4 CPU, 1 GPU, 16 GB) and (4, 0, 16), and three applications
// of the paper's kinds.
// Total is (8 CPU, 1 GPU, 32 GB). (15) allows a loss of 1 share, and (16) one adjustment.
func Worked(apps ...solver.App) *solver.Instance {
	return Finish(&solver.Instance{
		Capacity:   []apportion.Resources{{4, 1, 16}, {4, 0, 16}},
		Apps:       apps,
		LossBudget: 1, AdjustBudget: 1,
	})
}

// LR is an application of 1 CPU and 2 GB a container, up to 6, that holds held.
// delta = 1/8 by CPU, v = 1/8 + 2/32. Without held it is a newcomer.
func LR(share float64, held ...apportion.Placement) solver.App {
	return solver.App{Demand: apportion.Resources{1, 0, 2}, Min: 1, Max: 6, Share: share, Running: len(held) > 0, Cost: 1, Previous: held}
}

// MF is an application of 2 CPU and 2 GB a container, up to 4, that holds held.
// delta = 2/8 by CPU, v = 2/8 + 2/32.
func MF(share float64, held ...apportion.Placement) solver.App {
	return solver.App{Demand: apportion.Resources{2, 0, 2}, Min: 1, Max: 4, Share: share, Running: len(held) > 0, Cost: 1, Previous: held}
}

// NN is a new application of one container with the only GPU.
// delta = 1, as it takes the whole kind; v = 1/8 + 1 + 4/32.
func NN(share float64) solver.App {
	return solver.App{Demand: apportion.Resources{1, 1, 4}, Min: 1, Max: 1, Share: share}
}

// Clone returns a deep copy of inst.
// Tests compare an instance before and after a call, which a shallow copy would not notice. Worth and the
// other optional slices are shared.
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
// All worths are quarters, so that sums of them are exact and ties are real; negative ones and ones that fall
// come up, since W may be of any shape.
func AddWorths(draw Drawer, inst *solver.Instance) {
	for i := range inst.Apps {
		app := &inst.Apps[i]
		// Draws below 0 become 0: about half of the applications stay for nothing.
		app.Stay = float64(max(0, draw(-3, 3, "stay"))) / 4
		// One application in four keeps a linear worth.
		if draw(0, 3, "worth") == 0 {
			continue
		}
		app.Idle = float64(draw(-4, 4, "idle")) / 4
		// Worth has an entry for each positive number within [Min, Max]; Idle is that of no container.
		for range app.Max - max(1, app.Min) + 1 {
			app.Worth = append(app.Worth, float64(draw(-8, 16, "worth of a number"))/4)
		}
	}
}
