// This file writes P2 with one decision for every running application: stay or be placed anew,
// [Dorm (6)-(18)] without a big M.

package program

import (
	"slices"

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
//	     sum_i a_i (1 - z_i) <= AdjustBudget                                      (16)
//	     sum_i in g d_ik sum_j x_ij <= L_gk                                       (G)
//	     one of the options of an application                                     (H)
//
// and y alone for new ones, where a_i is the Cost of i; y_ij only on servers that are open to i, z_i = 1 for
// the pinned. LossPrice times the left side of (15) comes off (10), and builder.numbers writes what (7) and
// (8) do not say. An integer point is one of the verbatim form and the other way round,
// except that an application placed anew exactly where it was counts as adjusted here.
func disjunctive(b *builder) *Program {
	on := servers(b.inst)
	d := &disjunction{builder: b, y: b.cells("y", on, nil), stays: make([]milp.Var, len(b.inst.Apps))}
	// The rows of (6) are collected before they are added, because choose puts what stays into the
	// same rows.
	d.use = b.use(d.y, len(on.size))
	cost, budget := b.adjustCosts()
	var costs []milp.Term
	for a := range b.inst.Apps {
		if b.inst.Apps[a].Running {
			d.choose(a)
			// (16) is sum a (1 - z) <= budget, with the constant on the right: -sum a z <= budget - sum a.
			costs = append(costs, term(d.stays[a], -cost[a]))
			costs = append(costs, b.grown(d.y, a, cost[a])...)
			budget -= cost[a]
		} else {
			b.numbers(d.y, a, nil)
			b.width(d.y, a, nil)
			b.loss(a, d.y.vars[a], nil)
			b.countInGroups(a, d.y.vars[a], nil)
		}
	}
	b.capacities(d.use, on)
	b.lossBudget()
	b.AtMost("c16", costs, budget)
	b.ceilings()
	b.choices(d.y, d.stays)
	b.Maximize(b.cost, b.worth)
	had := func(a, j int) int64 { return held(b.inst.Apps[a].Previous, j) }
	return &Program{decode: d.counts, encode: d.values, amounts: d.amounts, levels: levels{
		loss: expressionOf(b.losses, b.lost), adjusted: expressionOf(d.adjusted, float64(len(d.adjusted))),
		moved: func() movement { return d.y.movement(b.inst, had, d.stays) },
	}}
}

// disjunction is the disjunctive form while it is built.
type disjunction struct {
	*builder
	y        *cells
	stays    []milp.Var      // z by application, set where it runs
	use      [][][]milp.Term // of (6)
	adjusted []milp.Term     // minus the sum of z
}

// choose adds running application a: all that it holds at z_a = 1, and y at z_a = 0.
// The rows of (7), (8) and c9 all have z on the left, so that z = 1 empties y and z = 0 leaves the
// usual bounds.
func (d *disjunction) choose(a int) {
	app := &d.inst.Apps[a]
	z := d.stay(a)
	d.stays[a] = z
	n := solver.Containers(app.Previous)
	// With z = 1 all y are 0, so that the application counts once, by what it holds.
	d.cost = append(d.cost, term(z, app.WorthOf(app.Previous)))
	for _, placed := range app.Previous {
		for k, demand := range app.Demand {
			if demand := demand / d.unit[k]; demand > 0 {
				rows := d.use[placed.Server]
				rows[k] = append(rows[k], term(z, float64(demand)*float64(placed.Count)))
			}
		}
	}
	d.numbers(d.y, a, &z)
	d.width(d.y, a, &z)
	for s, j := range d.y.servers[a] {
		// u is the smallest bound for which z = 0 cuts off no solution; a larger one would weaken
		// the relaxation.
		u := float64(d.y.upper[a][s])
		d.AtMost(name("c9_a", a, "_s", j), []milp.Term{term(d.y.vars[a][s], 1), term(z, u)}, u)
	}
	d.countInGroups(a, d.y.vars[a], &z)
	d.loss(a, d.y.vars[a], &z)
	// The loss of staying is a constant times z, so that (15) needs no variable for it.
	if loss := app.Loss(n); loss > lossNoise {
		d.losses = append(d.losses, term(z, loss))
	}
	d.adjusted = append(d.adjusted, term(z, -1))
}

// stay adds z_a; it is 0 where the application cannot stay as it is. That what it holds fits the
// servers is for (6) to say.
func (d *disjunction) stay(a int) milp.Var {
	app := &d.inst.Apps[a]
	upper := 1.0
	if app.Displaced || !app.Allows(solver.Containers(app.Previous)) || crowded(app) {
		upper = 0
	}
	z := d.Integer(0, upper, name("z_a", a))
	if app.Pinned {
		d.AtLeast(name("pinned_a", a), []milp.Term{term(z, 1)}, 1)
	}
	return z
}

// values sets what stays and what is placed anew, in values that are NaN elsewhere.
func (d *disjunction) values(counts solver.Counts, values []float64) {
	for a := range d.inst.Apps {
		app, placed := &d.inst.Apps[a], counts[a]
		stays := app.Running && !app.Adjusted(placed)
		if app.Running {
			values[d.stays[a].Index()] = 0
			if stays {
				values[d.stays[a].Index()] = 1
			}
		}
		for s, j := range d.y.servers[a] {
			values[d.y.vars[a][s].Index()] = 0
			if !stays {
				values[d.y.vars[a][s].Index()] = float64(held(placed, j))
			}
		}
	}
}

// amounts reads off how much of each stays and is placed anew.
func (d *disjunction) amounts(values []float64) []Amount {
	amounts := make([]Amount, len(d.inst.Apps))
	for a := range amounts {
		if d.inst.Apps[a].Running {
			amounts[a].Stays = values[d.stays[a].Index()]
		}
		for _, v := range d.y.vars[a] {
			amounts[a].Containers += values[v.Index()]
		}
	}
	return amounts
}

// counts reads off what stays and what is placed anew.
func (d *disjunction) counts(values []float64) solver.Counts {
	counts := d.y.counts(values)
	for a := range d.inst.Apps {
		// z is integer to a tolerance; at z = 1 the rows c9 have left nothing of y.
		if app := &d.inst.Apps[a]; app.Running && values[d.stays[a].Index()] > 0.5 {
			counts[a] = slices.Clone(app.Previous)
		}
	}
	return counts
}
