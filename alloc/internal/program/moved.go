// This file writes the containers that an allocation creates or destroys for running applications, a level
// of the preference below the paper's own, [Dorm P1 (5)].

package program

import (
	"math"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// movement is the number of containers moved: a sum, and absolute values beside it.
//
//	sum_ij |x_ij - xprev_ij| over running i,  x_ij = z_i xprev_ij + y_ij in the disjunctive form
//
// By class of servers it is less than what moves from server to server, and so a relaxation.
type movement struct {
	sum   expression
	apart []distance
}

// distance is the absolute value of an expression, at most most.
type distance struct {
	expression
	most float64
}

// movement returns what moves to and from the cells; had is as in builder.budgets, and stays has the z of
// running applications in the disjunctive form, where cells count only what is placed anew.
func (c *cells) movement(inst *solver.Instance, had func(a, j int) int64, stays []milp.Var) movement {
	var sum []milp.Term
	m, constant := movement{}, 0.0
	for a := range inst.Apps {
		if !inst.Apps[a].Running {
			continue
		}
		// While an application stays its y are 0 and none of what it holds is gone: both parts of the
		// distance must vanish with 1 - z.
		// gone returns terms and constant of n containers that are gone unless the application stays.
		gone := func(n int64) ([]milp.Term, float64) {
			if stays == nil {
				return nil, float64(n)
			}
			return []milp.Term{term(stays[a], -float64(n))}, float64(n)
		}
		// What stands where the application has no cell is gone as a whole.
		rest := solver.Containers(inst.Apps[a].Previous)
		for s, j := range c.servers[a] {
			was := had(a, j)
			rest -= was
			// Where nothing was, all that comes is moved, and no absolute value is needed: on most cells.
			if was == 0 {
				sum = append(sum, term(c.vars[a][s], 1))
				continue
			}
			terms, n := gone(was)
			e := expressionOf(append(terms, term(c.vars[a][s], -1)), n)
			m.apart = append(m.apart, distance{e, float64(max(was, c.upper[a][s]))})
		}
		terms, n := gone(rest)
		sum, constant = append(sum, terms...), constant+n
	}
	m.sum = expressionOf(sum, constant)
	return m
}

// at returns how many containers are moved at a point.
func (m movement) at(values []float64) float64 {
	moved := m.sum.at(values)
	for _, e := range m.apart {
		moved += math.Abs(e.at(values))
	}
	return moved
}

// minimize makes the containers moved the objective, with a variable m >= |e| for every e apart.
func (m movement) minimize(b *milp.Builder, vars []milp.Var) {
	objective := m.sum.terms(vars)
	// The two rows say e <= m and -e <= m; minimizing presses m down to the larger of both.
	for k, e := range m.apart {
		v := b.Integer(0, e.most, name("m_", k))
		terms := e.terms(vars)
		b.AtMost(name("moved_", k), append(terms, term(v, -1)), -e.constant)
		b.AtLeast(name("moved_", k, "_less"), append(terms, term(v, 1)), -e.constant)
		objective = append(objective, term(v, 1))
	}
	b.Minimize(objective, m.sum.constant)
}
