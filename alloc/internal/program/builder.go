// This file holds what the three forms of P2 share: names, terms, and the variables x[i][j] with the
// capacities (6).

package program

import (
	"fmt"
	"math"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// builder is a milp.Builder with the parts of P2 that every form has.
type builder struct {
	*milp.Builder
	inst  *solver.Instance
	whole bool        // without continuous variables
	cost  []milp.Term // of (10), so far
	worth float64     // and its constant part
	// losses are the terms of the fairness loss, so far, and lost is its constant part.
	losses []milp.Term
	lost   float64
	// budget is what all entries together may lose.
	budget float64
	// grouped[g][k] are the terms of (G), so far.
	grouped [][][]milp.Term
	// unit[k] is what rows count kind k in; rounded says that one of them is not exact.
	unit    []int64
	rounded bool
}

// name joins a letter and indices: name("x_a", 2, "_s", 3) is "x_a2_s3".
func name(parts ...any) string {
	var text strings.Builder
	for _, part := range parts {
		fmt.Fprint(&text, part)
	}
	return text.String()
}

func term(v milp.Var, coef float64) milp.Term { return milp.Term{Var: v, Coef: coef} }

func sum(terms []milp.Term, vars []milp.Var, coef float64) []milp.Term {
	for _, v := range vars {
		terms = append(terms, term(v, coef))
	}
	return terms
}

// cells holds the variables x[i][j] of the pairs where at least one container can be.
// The lists are sparse: a pair where no container fits has no variable, which on clusters of unlike
// servers is most of them.
type cells struct {
	in      places
	servers [][]int      // servers[a]: ascending
	vars    [][]milp.Var // the variables beside them
	upper   [][]int64    // and their upper bounds
}

// cells adds x[i][j] for every application and every place. had, where it is not nil, says how many
// containers application a holds now in place j: so many may stay where nothing new may come.
func (b *builder) cells(letter string, p places, had func(a, j int) int64) *cells {
	b.unit, b.rounded = unitsFor(b.inst.Apps, p)
	n := len(b.inst.Apps)
	c := &cells{p, make([][]int, n), make([][]milp.Var, n), make([][]int64, n)}
	for a := range b.inst.Apps {
		app := &b.inst.Apps[a]
		for j := range p.capacity {
			upper := p.most(app, j)
			// Where nothing new may come there is at most what is there now, and nothing at all in the
			// disjunctive form, whose cells are new placements only.
			if !b.inst.Open(a, p.first[j]) {
				if had == nil {
					continue
				}
				upper = min(upper, had(a, j))
			}
			if upper == 0 {
				continue
			}
			v := b.Integer(0, float64(upper), name(letter, "_a", a, "_s", j))
			c.servers[a] = append(c.servers[a], j)
			c.vars[a] = append(c.vars[a], v)
			c.upper[a] = append(c.upper[a], upper)
			// Utilization counts containers wherever they are, so that every cell of an application
			// has one cost (10).
			b.cost = append(b.cost, term(v, app.Value))
		}
	}
	return c
}

// counts reads placements off the cells.
func (c *cells) counts(values []float64) solver.Counts {
	counts := make(solver.Counts, len(c.vars))
	for a := range c.vars {
		for s, v := range c.vars[a] {
			// Solvers return integers to a tolerance: 2.9999999 is three containers, and truncation
			// would lose one.
			if n := int64(math.Round(values[v.Index()])); n > 0 {
				counts[a] = append(counts[a], apportion.Placement{Server: c.servers[a][s], Count: n})
			}
		}
	}
	return counts
}

// use returns for every place and kind the terms d[i][k] x[i][j] of (6), in units.
func (b *builder) use(c *cells, places int) [][][]milp.Term {
	rows := make([][][]milp.Term, places)
	for j := range rows {
		rows[j] = make([][]milp.Term, len(b.inst.Total))
	}
	for a := range c.vars {
		for s, j := range c.servers[a] {
			for k, d := range b.inst.Apps[a].Demand {
				// A demand below the unit rounds to nothing and has no term: the row is then a
				// relaxation, see unitsFor.
				if d := d / b.unit[k]; d > 0 {
					rows[j][k] = append(rows[j][k], term(c.vars[a][s], float64(d)))
				}
			}
		}
	}
	return rows
}

// capacities adds (6) with those terms.
// The right side is rounded down with the unit: what containers use is a multiple of it, or at most
// as much.
func (b *builder) capacities(use [][][]milp.Term, p places) {
	for j, kinds := range use {
		for k, terms := range kinds {
			// A kind that nobody demands on this server cannot be exceeded, and an empty row only
			// costs the solver time.
			if len(terms) > 0 {
				b.AtMost(name("c6_s", j, "_k", k), terms, float64(p.size[j])*float64(p.capacity[j][k]/b.unit[k]))
			}
		}
	}
}

func held(placed []apportion.Placement, j int) int64 {
	for _, p := range placed {
		if p.Server == j {
			return p.Count
		}
	}
	return 0
}
