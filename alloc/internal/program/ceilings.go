// This file writes the ceilings of groups, (G) of [Program §2].

package program

import (
	"slices"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// countInGroups adds what application a uses to the rows of its groups: so much for each container in placed, and,
// where stays is not nil, what it holds now times that.
func (b *builder) countInGroups(a int, placed []milp.Var, stays *milp.Var) {
	if b.grouped == nil {
		b.grouped = make([][][]milp.Term, len(b.inst.Groups))
		for g := range b.grouped {
			b.grouped[g] = make([][]milp.Term, len(b.inst.Total))
		}
	}
	app := &b.inst.Apps[a]
	for g := range b.inst.Groups {
		if !slices.Contains(b.inst.Groups[g].Apps, a) {
			continue
		}
		for k, d := range app.Demand {
			if d /= b.unit[k]; d > 0 {
				b.grouped[g][k] = sum(b.grouped[g][k], placed, float64(d))
				if stays != nil {
					b.grouped[g][k] = append(b.grouped[g][k], term(*stays, float64(d)*float64(solver.Containers(app.Previous))))
				}
			}
		}
	}
}

// ceilings adds (G) with the terms collected. The right side is rounded down with the unit, as that of (6).
func (b *builder) ceilings() {
	for g, kinds := range b.grouped {
		for k, terms := range kinds {
			// A limit above all that there is limits nothing, and may be too large for a row.
			limit := b.inst.Groups[g].Ceiling[k]
			if len(terms) > 0 && limit < b.inst.Total[k] {
				b.AtMost(name("cG_g", g, "_k", k), terms, float64(limit/b.unit[k]))
			}
		}
	}
}
