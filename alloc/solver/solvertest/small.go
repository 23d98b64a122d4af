// This file holds the instances that are small enough to know the answer: named ones, and random ones
// for enumeration.

package solvertest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// Tiny is Dorm's P2 on two servers of 4 CPUs and 16 GB, one GPU on the first: LR holds (2, 0), MF (1, 2),
// NN is new. Its optimum is 2.375.
// Every kind of constraint binds somewhere near the optimum: CPUs of the first server, the minimum
// of NN, one adjustment. The cases below change one thing each.
func Tiny() *solver.Instance {
	return &solver.Instance{
		Capacity: []apportion.Resources{{4, 1, 16}, {4, 0, 16}},
		Total:    apportion.Resources{8, 1, 32},
		Apps: []solver.App{
			{Demand: apportion.Resources{1, 0, 2}, Min: 1, Max: 6, Value: 3. / 16, Delta: 1. / 8, Share: 7. / 24,
				Running: true, Previous: []apportion.Placement{{Server: 0, Count: 2}}},
			{Demand: apportion.Resources{2, 0, 2}, Min: 1, Max: 4, Value: 5. / 16, Delta: 1. / 4, Share: 7. / 12,
				Running: true, Previous: []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 2}}},
			{Demand: apportion.Resources{1, 1, 4}, Min: 1, Max: 1, Value: 5. / 4, Delta: 1, Share: 1},
		},
		LossBudget:   1,
		AdjustBudget: 1,
	}
}

// knownCases change Tiny into an instance with a known status.
// They are the edges that random instances seldom hit: nobody to serve, nothing to share, budgets
// of zero, ties.
var knownCases = []struct {
	name   string
	change func(*solver.Instance)
	// optimum is the utilization; below zero: there is no solution.
	// The number is worked out by hand; enumeration must agree with it before any solver is asked.
	optimum float64
}{
	{"tiny", func(*solver.Instance) {}, 2.375},
	{"nothing to decide", func(i *solver.Instance) { i.Apps = nil }, 0},
	{"nobody may be adjusted, and nobody need be", func(i *solver.Instance) { i.Apps, i.AdjustBudget = i.Apps[:2], 0 }, 2*3./16 + 3*5./16},
	{"nobody may be adjusted", func(i *solver.Instance) { i.AdjustBudget = 0 }, -1},
	{"more must move than may", func(i *solver.Instance) { i.Apps[0].Displaced, i.Apps[1].Displaced = true, true }, -1},
	{"a minimum that does not fit", func(i *solver.Instance) { i.Apps[2].Min, i.Apps[2].Max = 2, 2 }, -1},
	{"a loss that cannot be had", func(i *solver.Instance) { i.LossBudget = 0 }, -1},
	{"a cluster of nothing", func(i *solver.Instance) {
		i.Capacity, i.Total = []apportion.Resources{{0, 0, 0}}, apportion.Resources{0, 0, 0}
		i.Apps = []solver.App{{Demand: apportion.Resources{1, 0, 0}, Max: 1}}
	}, 0},
	{"a tie that the loss decides", func(i *solver.Instance) {
		app := solver.App{Demand: apportion.Resources{2}, Max: 1, Value: 1, Delta: 1}
		*i = solver.Instance{Capacity: []apportion.Resources{{2}}, Total: apportion.Resources{2}, Apps: []solver.App{app, app}, LossBudget: 6}
		i.Apps[0].Share = 1
	}, 1},
	{"a server that shrank", func(i *solver.Instance) {
		i.Capacity[0], i.Total, i.AdjustBudget = apportion.Resources{2, 1, 16}, apportion.Resources{6, 1, 32}, 2
		i.Apps = i.Apps[:2]
	}, 4*3./16 + 5./16}, // LR has no room for its fifth beside the one that MF must keep
}

// known asks for every known case.
// That enumeration contradicts what is known is a fault of this package, not of the solver, and
// panics.
func known(p *probe) error {
	for _, c := range knownCases {
		inst := Tiny()
		c.change(inst)
		s, err := p.ask(c.name, inst)
		if err != nil {
			return err
		}
		best, _ := p2oracle.Best(inst)
		if (best == nil) != (c.optimum < 0) || best != nil && math.Abs(inst.Objective(best)-c.optimum) > solver.ObjectiveTolerance {
			panic("solvertest: the answer to " + c.name + " is not what is known")
		}
		if err := p.opts.compare(inst, s, best); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// enumerated compares random instances with enumeration.
// The seeds count from 0, so that a smaller number of instances is a prefix of a larger one.
func enumerated(p *probe) error {
	for seed := range uint64(p.opts.Instances) {
		name, inst := fmt.Sprintf("solvertest.Small(%d)", seed), Small(seed)
		s, err := p.ask(name, inst)
		if err != nil {
			return err
		}
		// Enumeration visits at most 4^(applications x servers) points here, 4,096 of them.
		best, _ := p2oracle.Best(inst)
		if err := p.opts.compare(inst, s, best); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// Small draws an instance that can be enumerated: one or two servers, up to three applications of up to
// three containers, up to three kinds. Applications run where there was room once, or not: a server may
// hold too much, and some of what ran may be on a server that is gone.
func Small(seed uint64) *solver.Instance {
	r := rand.New(rand.NewPCG(seed, 2))
	kinds := 1 + r.IntN(3)
	inst := &solver.Instance{
		Total: make(apportion.Resources, kinds),
		// From a budget that nearly always binds to one that never does; of three kinds 6 is 2m.
		LossBudget:   []float64{0.1, 0.4, 1, 6}[r.IntN(4)],
		AdjustBudget: r.Int64N(4),
	}
	for range 1 + r.IntN(2) {
		capacity := make(apportion.Resources, kinds)
		for k := range capacity {
			// A kind may be absent from a server, or from all of them.
			capacity[k] = r.Int64N(8)
			inst.Total[k] += capacity[k]
		}
		inst.Capacity = append(inst.Capacity, capacity)
	}
	for range 1 + r.IntN(3) {
		inst.Apps = append(inst.Apps, smallApp(r, inst))
	}
	return inst
}

// smallApp draws an application of a small instance.
// Value and Delta are those of (10) and (2); the share is drawn, not computed, as a solver must
// take it as it is.
func smallApp(r *rand.Rand, inst *solver.Instance) solver.App {
	// Shares in quarters make ties, where only the lower levels of the preference decide.
	app := solver.App{Demand: make(apportion.Resources, len(inst.Total)), Min: r.Int64N(3), Share: float64(r.IntN(5)) / 4}
	app.Max = max(1, app.Min) + r.Int64N(2)
	// One unit of some kind at least: a demand of nothing is no application.
	app.Demand[r.IntN(len(app.Demand))] = 1
	for k, total := range inst.Total {
		app.Demand[k] = max(app.Demand[k], r.Int64N(4))
		if total > 0 {
			part := float64(app.Demand[k]) / float64(total)
			app.Value += part
			app.Delta = max(app.Delta, part)
		}
	}
	for j := range inst.Capacity {
		if r.IntN(3) == 0 {
			app.Previous = append(app.Previous, apportion.Placement{Server: j, Count: 1 + r.Int64N(2)})
		}
	}
	// A displaced application may have nothing left on the servers that exist.
	app.Displaced = r.IntN(8) == 0
	app.Running = app.Displaced || len(app.Previous) > 0
	return app
}
