// This file writes P2 with one decision for every running application: stay or be placed anew.

package alloc

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// disjunctive builds, with z_i = 1 - r_i for running applications,
//
//	x_ij = z_i xprev_ij + y_ij
//	max  sum v_i x_ij                                                             (10)
//	s.t. sum_i d_ik x_ij <= c_jk                                                  (6)
//	     min_i (1 - z_i) <= sum_j y_ij <= max_i (1 - z_i)                         (7)(8)
//	     y_ij <= u_ij (1 - z_i)                                                   instead of (13)(14)
//	     l_i >= |delta_i sum_j y_ij - s^_i (1 - z_i)|                             (11)(12)
//	     sum_i l_i + z_i |delta_i nprev_i - s^_i| <= LossBudget                   (15)
//	     sum_i (1 - z_i) <= AdjustBudget                                          (16)
//
// and y alone for new ones. An integer point is one of the verbatim form and the other way round,
// except that an application placed anew exactly where it was counts as adjusted here.
func disjunctive(b *builder) *Model {
	y := b.cells("y", b.inst.Capacity, ones(len(b.inst.Capacity)))
	stays := make([]milp.Var, len(b.inst.Apps))
	var adjusted []milp.Term
	running := 0.0
	capacities := b.capacities(y, len(b.inst.Capacity))
	for a := range b.inst.Apps {
		app := &b.inst.Apps[a]
		terms := sum(nil, y.vars[a], 1)
		if !app.Running {
			b.Row(name("c7_a", a), float64(app.Min), terms, float64(app.Max))
			b.loss(a, y.vars[a], nil)
			continue
		}
		z := b.stay(a)
		stays[a] = z
		held := solver.Containers(app.Previous)
		b.cost = append(b.cost, term(z, app.Value*float64(held)))
		for _, placed := range app.Previous {
			for k, d := range app.Demand {
				if d > 0 {
					rows := capacities[placed.Server]
					rows[k] = append(rows[k], term(z, float64(d)*float64(placed.Count)))
				}
			}
		}
		b.AtMost(name("c7_a", a), append(terms, term(z, float64(app.Max))), float64(app.Max))
		b.AtLeast(name("c8_a", a), append(terms, term(z, float64(app.Min))), float64(app.Min))
		for s, j := range y.servers[a] {
			u := float64(y.upper[a][s])
			b.AtMost(name("c9_a", a, "_s", j), []milp.Term{term(y.vars[a][s], 1), term(z, u)}, u)
		}
		b.loss(a, y.vars[a], &z)
		if loss := app.Loss(held); loss > lossNoise {
			b.losses = append(b.losses, term(z, loss))
		}
		adjusted = append(adjusted, term(z, -1))
		running++
	}
	for j, kinds := range capacities {
		for k, terms := range kinds {
			if len(terms) > 0 {
				b.AtMost(name("c6_s", j, "_k", k), terms, float64(b.inst.Capacity[j][k]))
			}
		}
	}
	b.lossBudget()
	b.AtMost("c16", adjusted, float64(b.inst.AdjustBudget)-running)
	b.Maximize(b.cost, 0)
	return &Model{
		levels: levels{loss: expressionOf(b.losses), adjusted: expressionOf(adjusted)},
		decode: func(values []float64) solver.Counts {
			counts := y.counts(values)
			for a := range b.inst.Apps {
				if app := &b.inst.Apps[a]; app.Running && values[stays[a].Index()] > 0.5 {
					counts[a] = append([]apportion.Placement(nil), app.Previous...)
				}
			}
			return counts
		},
	}
}

// stay adds z_a; it is 0 where the application cannot stay as it is. That what it holds fits the
// servers is for (6) to say.
func (b *builder) stay(a int) milp.Var {
	app := &b.inst.Apps[a]
	n := solver.Containers(app.Previous)
	upper := 1.0
	if app.Displaced || n < app.Min || n > app.Max {
		upper = 0
	}
	return b.Integer(0, upper, name("z_a", a))
}
