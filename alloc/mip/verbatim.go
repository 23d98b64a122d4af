// This file writes P2 as the paper prints it, on x[i][j] with a big M, [Dorm (6)-(18)].

package mip

import (
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
//	     sum l_i <= LossBudget,  sum r_i <= AdjustBudget           (15)(16)
//
// with M_ij = max(xprev_ij, the most containers of i that server j holds).
func verbatim(b *builder) *Model {
	on := servers(b.inst)
	x := b.cells("x", on)
	b.capacities(b.use(x, len(on.size)), on)
	model := &Model{decode: x.counts}
	b.budgets(model, x, func(a, j int) int64 { return held(b.inst.Apps[a].Previous, j) })
	return model
}

// budgets adds (7), (8) and (10)-(16) over cells; had says how many containers application a holds
// now in place j. It serves the verbatim form and, with classes for servers, the pooled one.
func (b *builder) budgets(model *Model, x *cells, had func(a, j int) int64) {
	var adjusted []milp.Term
	for a := range b.inst.Apps {
		app := &b.inst.Apps[a]
		b.Row(name("c7_a", a), float64(app.Min), sum(nil, x.vars[a], 1), float64(app.Max)) // (7)(8)
		b.loss(a, x.vars[a], nil)
		if app.Running {
			adjusted = append(adjusted, term(b.adjusted(x, a, had), 1))
		}
	}
	b.lossBudget()
	b.AtMost("c16", adjusted, float64(b.inst.AdjustBudget))
	b.Maximize(b.cost, 0)
	model.levels = levels{loss: expressionOf(b.losses), adjusted: expressionOf(adjusted)}
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
	if !app.Displaced && reachable == solver.Containers(app.Previous) {
		least = 0
	}
	r := b.Integer(least, 1, name("r_a", a))
	for s, j := range x.servers[a] {
		was := had(a, j)
		// No solution changes x_ij by more, from 0 up to its bound or from was down to 0.
		bigM := float64(max(was, x.upper[a][s]))
		b.AtLeast(name("c13_a", a, "_s", j), []milp.Term{term(r, bigM), term(x.vars[a][s], 1)}, float64(was))
		b.AtLeast(name("c14_a", a, "_s", j), []milp.Term{term(r, bigM), term(x.vars[a][s], -1)}, -float64(was))
	}
	return r
}
