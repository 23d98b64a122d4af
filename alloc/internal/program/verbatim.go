// This file writes P2 as the paper prints it, on x[i][j] with a big M, [Dorm (6)-(18)].

package program

import (
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// verbatim builds
//
//	max  sum v_i x_ij                                              (10)
//	s.t. sum_i d_ik x_ij <= c_jk                                   (6)
//	     min_i <= sum_j x_ij <= max_i                              (7)(8)
//	     l_i >= |delta_i sum_j x_ij - s^_i|                        (11)(12)
//	     M_ij r_i >= |x_ij - xprev_ij|  for running i              (13)(14)
//	     sum l_i <= LossBudget,  sum a_i r_i <= AdjustBudget       (15)(16)
//	     sum_i in g d_ik sum_j x_ij <= L_gk                        (G)
//	     one of the options of an application                      (H)
//
// with M_ij = max(xprev_ij, the most containers of i that server j holds) and a_i the Cost of i. A server
// that is not open to i has x_ij only where i runs on it, and there x_ij <= xprev_ij (1 - r_i) in place of
// (14). Pinned applications have r_i = 0, LossPrice times l_i comes off (10), and builder.numbers writes
// what (7) and (8) do not say.
func verbatim(b *builder) *Program {
	on := servers(b.inst)
	had := func(a, j int) int64 { return held(b.inst.Apps[a].Previous, j) }
	x := b.cells("x", on, had)
	b.capacities(b.use(x, len(on.size)), on)
	model := &Program{decode: x.counts}
	b.budgets(model, x, had)
	return model
}

// budgets adds (7), (8) and (10)-(16) over cells; had says how many containers application a holds
// now in place j. It serves the verbatim form and, with classes for servers, the pooled one.
func (b *builder) budgets(model *Program, x *cells, had func(a, j int) int64) {
	var adjusted, costs []milp.Term
	cost, budget := b.adjustCosts()
	for a := range b.inst.Apps {
		b.numbers(x, a, nil)
		b.width(x, a, nil)
		b.loss(a, x.vars[a], nil)
		b.countInGroups(a, x.vars[a], nil)
		if b.inst.Apps[a].Running {
			r := b.adjusted(x, a, had)
			adjusted, costs = append(adjusted, term(r, 1)), append(costs, term(r, cost[a]))
			if grown := b.grown(x, a, cost[a]); grown != nil {
				costs = append(costs, grown...)
				b.AtMost(name("grown_a", a, "_r"), []milp.Term{term(grown[0].Var, 1), term(r, -1)}, 0)
			}
		}
	}
	b.lossBudget()
	b.AtMost("c16", costs, budget)
	b.ceilings()
	b.choices(x, nil)
	b.Maximize(b.cost, b.worth)
	model.levels = levels{expressionOf(b.losses, b.lost), expressionOf(adjusted, 0), func() movement { return x.movement(b.inst, had, nil) }}
}

// adjusted adds r_a with (13) and (14); it is 1 where the application cannot stay as it is.
func (b *builder) adjusted(x *cells, a int, had func(a, j int) int64) milp.Var {
	app := &b.inst.Apps[a]
	var reachable int64
	// What stands where no container fits any more has no cell, and so cannot stay.
	for _, j := range x.servers[a] {
		reachable += had(a, j)
	}
	// r is fixed at 1 where staying is impossible, or the relaxation would count on a part of it.
	least := 1.0
	if !app.Displaced && reachable == solver.Containers(app.Previous) && !crowded(app) {
		least = 0
	}
	r := b.Integer(least, 1, name("r_a", a))
	for s, j := range x.servers[a] {
		was := had(a, j)
		// No solution changes x_ij by more, from 0 up to its bound or from was down to 0.
		bigM := float64(max(was, x.upper[a][s]))
		b.AtLeast(name("c13_a", a, "_s", j), []milp.Term{term(r, bigM), term(x.vars[a][s], 1)}, float64(was))
		if !b.inst.Open(a, x.in.first[j]) {
			bigM = -float64(was) // r = 1 leaves nothing where nothing new may come
		}
		b.AtLeast(name("c14_a", a, "_s", j), []milp.Term{term(r, bigM), term(x.vars[a][s], -1)}, -float64(was))
	}
	// Stay counts where r is 0.
	if app.Stay > 0 && least == 0 {
		b.cost = append(b.cost, term(r, -app.Stay))
		b.worth += app.Stay
	}
	// A row, not a bound: where r is fixed at 1 above, bounds would cross, which is a fault of a model and
	// no infeasible one.
	if app.Pinned {
		b.AtMost(name("pinned_a", a), []milp.Term{term(r, 1)}, 0)
	}
	return r
}

// crowded reports whether an application holds more containers on one server than it may, or is on more
// servers.
func crowded(app *solver.App) bool {
	if app.MaxServers > 0 && int64(len(app.Previous)) > app.MaxServers {
		return true
	}
	return app.PerServer > 0 && slices.ContainsFunc(app.Previous, func(p apportion.Placement) bool { return p.Count > app.PerServer })
}
