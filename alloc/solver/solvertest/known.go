// This file holds the instances whose answers are known: Tiny, and what it becomes by one change each.

package solvertest

import (
	"fmt"
	"math"

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
				Running: true, Cost: 1, Previous: []apportion.Placement{{Server: 0, Count: 2}}},
			{Demand: apportion.Resources{2, 0, 2}, Min: 1, Max: 4, Value: 5. / 16, Delta: 1. / 4, Share: 7. / 12,
				Running: true, Cost: 1, Previous: []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 2}}},
			{Demand: apportion.Resources{1, 1, 4}, Min: 1, Max: 1, Value: 5. / 4, Delta: 1, Share: 1},
		},
		LossBudget:   1,
		AdjustBudget: 1,
	}
}

// knownCase is Tiny with changes, and with a known status.
type knownCase struct {
	name   string
	change func(*solver.Instance)
	// optimum is the objective, or none.
	// The number is worked out by hand; enumeration must agree with it before any solver is asked.
	optimum float64
}

// none is the optimum where there is no solution.
var none = math.Inf(-1)

// knownCases are the edges that random instances seldom hit: nobody to serve, nothing to share, budgets
// of zero, ties.
var knownCases = []knownCase{
	{"tiny", func(*solver.Instance) {}, 2.375},
	// No application: a sum of nothing, and a proof that needs no search.
	{"nothing to decide", func(i *solver.Instance) { i.Apps = nil }, 0},
	{"nobody may be adjusted, and nobody need be", func(i *solver.Instance) { i.Apps, i.AdjustBudget = i.Apps[:2], 0 }, 2*3./16 + 3*5./16},
	{"nobody may be adjusted", func(i *solver.Instance) { i.AdjustBudget = 0 }, none},
	{"more must move than may", func(i *solver.Instance) { i.Apps[0].Displaced, i.Apps[1].Displaced = true, true }, none},
	{"a minimum that does not fit", func(i *solver.Instance) { i.Apps[2].Min, i.Apps[2].Max = 2, 2 }, none},
	{"a loss that cannot be had", func(i *solver.Instance) { i.LossBudget = 0 }, none},
	// Demands of what is not there have no value and no share: nothing divides by the total.
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

// wholeCases are those of the whole program, one feature each. Tiny's optimum, 38/16, takes a container of LR away to
// make room for NN beside all of MF.
var wholeCases = []knownCase{
	// An application that waits loses all of its share.
	{"a newcomer that need not run", func(i *solver.Instance) { i.Apps[2].Elective, i.AdjustBudget, i.LossBudget = true, 0, 2 }, 2*3./16 + 3*5./16},
	// One container of LR is no pair, so that MF gives up its first one.
	{"in pairs", func(i *solver.Instance) { i.Apps[0].Step = 2 }, 2*3./16 + 2*5./16 + 5./4},
	// Beside NN seven CPUs are left: two containers of MF and three of LR, where one and five would be better.
	{"of a list", func(i *solver.Instance) { i.Apps[1].Counts, i.AdjustBudget = []int64{2, 4}, 2 }, 3*3./16 + 2*5./16 + 5./4},
	{"without the list", func(i *solver.Instance) { i.AdjustBudget = 2 }, 5*3./16 + 5./16 + 5./4},
	{"the only one with room is closed", func(i *solver.Instance) { i.Class, i.Apps[2].Classes = []int{1, 0}, []int{0} }, none},
	// MF may keep what it holds on the first server, and does, although nothing of it may come there.
	{"what it holds it may keep", func(i *solver.Instance) { i.Class, i.Apps[1].Classes = []int{0, 1}, []int{1} }, 2.375},
	// LR stays, since there is no room on the second server while MF stays; so MF gives up its first container.
	{"what it moves it must not place again", func(i *solver.Instance) { i.Class, i.Apps[0].Classes = []int{0, 1}, []int{1} }, 2*3./16 + 2*5./16 + 5./4},
	// MF holds two on the second server and must move; LR stays, and leaves no room for the first of MF beside NN.
	{"one on a server", func(i *solver.Instance) { i.Apps[1].PerServer = 1 }, 2*3./16 + 5./16 + 5./4},
	{"on one server", func(i *solver.Instance) { i.Apps[1].MaxServers = 1 }, 2*3./16 + 2*5./16 + 5./4},
	// A pinned application takes nothing from the budget, and the other has all of it.
	{"one must stay", func(i *solver.Instance) { i.Apps[0].Pinned = true }, 2*3./16 + 2*5./16 + 5./4},
	{"both must stay", func(i *solver.Instance) { i.Apps[0].Pinned, i.Apps[1].Pinned = true, true }, none},
	{"both must stay, and the third need not run", func(i *solver.Instance) {
		i.Apps[0].Pinned, i.Apps[1].Pinned, i.Apps[2].Elective, i.LossBudget = true, true, true, 2
	}, 2*3./16 + 3*5./16},
	// Costs are not counted but added up: one of 2 is more than a budget of 1.
	{"an adjustment that is too dear", func(i *solver.Instance) { i.Apps[0].Cost = 2 }, 2*3./16 + 2*5./16 + 5./4},
	{"adjustments for nothing", func(i *solver.Instance) { i.Apps[0].Cost, i.Apps[1].Cost, i.AdjustBudget = 0, 0, 0 }, 5*3./16 + 5./16 + 5./4},
	// LR has 2/8 and loses 1/24, MF has 2/4 and loses 1/12.
	{"the least loss", func(i *solver.Instance) {
		i.LossPrice, i.AdjustBudget = 1, 2
		for a := range i.Apps {
			i.Apps[a].Value = 0
		}
	}, -1. / 8},
	// With three containers of LR, which then has 1/12 too much.
	{"utilization less loss", func(i *solver.Instance) { i.LossPrice, i.AdjustBudget = 1, 2 }, 3*3./16 + 2*5./16 + 5./4 - 1./6},
}

// worthCases are those of worths by number, one each. Tiny's optimum is 38/16, with LR at one container.
var worthCases = []knownCase{
	// One container of MF is worth more than what two more would use: LR has room for five beside it and NN.
	{"one is enough", func(i *solver.Instance) {
		i.Apps[1].Value, i.Apps[1].Worth, i.AdjustBudget = 0, []float64{1, 1, 1, 1}, 2
	}, 5*3./16 + 1 + 5./4},
	// A second container of LR is worth nothing before a fourth is, which takes MF down to one.
	{"four or one", func(i *solver.Instance) {
		i.Apps[0].Value, i.Apps[0].Worth, i.AdjustBudget = 0, []float64{1, 1, 1, 3, 3, 3}, 2
	}, 3 + 5./16 + 5./4},
	// NN is worth more than the container of LR that would make room for it, but not so much more than waiting.
	{"better none", func(i *solver.Instance) {
		i.Apps[2].Value, i.Apps[2].Worth, i.Apps[2].Idle = 0, []float64{.3}, .2
		i.Apps[2].Elective, i.LossBudget = true, 2
	}, 2*3./16 + 3*5./16 + .2},
	// A restart of LR costs more than one of MF, which gives up its first container.
	{"a price of restarts", func(i *solver.Instance) { i.Apps[0].Stay = 1 }, 2*3./16 + 1 + 2*5./16 + 5./4},
	// An application that runs elsewhere does not stay: what counts is where the containers are.
	{"a price of restarts that nobody can save", func(i *solver.Instance) {
		i.Apps[0].Stay, i.Apps[0].Displaced = 1, true
	}, 2.375},
	// All that MF has beyond its first container is worth less than nothing.
	{"fewer are better", func(i *solver.Instance) {
		i.Apps[1].Worth, i.AdjustBudget = []float64{0, -1, -2, -3}, 2
	}, 5*3./16 + 5./16 + 5./4},
	// Five of LR are worth 4, with a loss of 1/3; the one of MF that is left loses 1/3 as well.
	{"worth less loss", func(i *solver.Instance) {
		i.LossPrice, i.AdjustBudget = 1, 2
		for a := range i.Apps {
			i.Apps[a].Value = 0
		}
		i.Apps[0].Worth = []float64{0, 0, 0, 0, 4, 4}
	}, 4 - 1./3 - 1./3},
}

func knownWorths(p *probe) error { return p.knows(worthCases) }

// known asks for every known case of the paper's program.
func known(p *probe) error { return p.knows(knownCases) }

func knownWhole(p *probe) error { return p.knows(wholeCases) }

// knows asks for known cases.
// That enumeration contradicts what is known is a fault of this package, not of the solver, and
// panics.
func (p *probe) knows(cases []knownCase) error {
	for _, c := range cases {
		inst := Tiny()
		c.change(inst)
		s, err := p.ask(c.name, inst)
		if err != nil {
			return err
		}
		best, _ := p2oracle.Best(inst)
		if (best == nil) != (c.optimum == none) || best != nil && math.Abs(inst.Objective(best)-c.optimum) > solver.ObjectiveTolerance {
			panic("solvertest: the answer to " + c.name + " is not what is known")
		}
		if err := p.opts.compare(inst, s, best); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}
