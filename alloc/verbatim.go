// This file writes P2 as the paper prints it, on x[i][j], [Dorm (6)-(18)].

package alloc

import (
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
//	     sum l_i <= LossBudget,  sum r_i <= AdjustBudget           (15)(16)
//
// with M_ij = max(xprev_ij, the most containers of i that server j holds).
func verbatim(b *builder) *Model {
	x := b.cells("x", b.inst.Capacity, ones(len(b.inst.Capacity)))
	for j, kinds := range b.capacities(x, len(b.inst.Capacity)) {
		for k, terms := range kinds {
			if len(terms) > 0 {
				b.AtMost(name("c6_s", j, "_k", k), terms, float64(b.inst.Capacity[j][k]))
			}
		}
	}
	model := &Model{}
	b.budgets(model, x, func(a, j int) int64 { return previousOn(b.inst.Apps[a].Previous, j) })
	model.decode = x.counts
	return model
}

// budgets adds (7), (8) and (10)-(16) over cells; held says how many containers application a holds
// now in place j. It serves the verbatim form and, with classes for servers, the pooled one.
func (b *builder) budgets(model *Model, x *cells, held func(a, j int) int64) {
	var adjusted []milp.Term
	for a := range b.inst.Apps {
		app := &b.inst.Apps[a]
		b.Row(name("c7_a", a), float64(app.Min), sum(nil, x.vars[a], 1), float64(app.Max)) // (7)(8)
		b.loss(a, x.vars[a], nil)
		if app.Running {
			adjusted = append(adjusted, term(b.adjusted(x, a, held), 1))
		}
	}
	b.lossBudget()
	b.AtMost("c16", adjusted, float64(b.inst.AdjustBudget))
	b.Maximize(b.cost, 0)
	model.levels = levels{loss: expressionOf(b.losses), adjusted: expressionOf(adjusted)}
}

// adjusted adds r_a with (13) and (14); it is 1 where the application cannot stay as it is.
func (b *builder) adjusted(x *cells, a int, held func(a, j int) int64) milp.Var {
	app := &b.inst.Apps[a]
	var reachable int64
	for _, j := range x.servers[a] {
		reachable += held(a, j)
	}
	stays := !app.Displaced && reachable == solver.Containers(app.Previous)
	r := b.Integer(map[bool]float64{true: 0, false: 1}[stays], 1, name("r_a", a))
	for s, j := range x.servers[a] {
		was := held(a, j)
		big := float64(max(was, x.upper[a][s]))
		b.AtLeast(name("c13_a", a, "_s", j), []milp.Term{term(r, big), term(x.vars[a][s], 1)}, float64(was))
		b.AtLeast(name("c14_a", a, "_s", j), []milp.Term{term(r, big), term(x.vars[a][s], -1)}, -float64(was))
	}
	return r
}

// previousOn returns how many containers placed has on server j.
func previousOn(placed []apportion.Placement, j int) int64 {
	for _, p := range placed {
		if p.Server == j {
			return p.Count
		}
	}
	return 0
}
