// This file compiles the ceilings of groups, (G) of [Program §2]: a row for each kind of a group in which its
// applications could have more than they may.

package problem

import (
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

// compileCeilings fills in Ceilings, and returns by application in which of them it counts. A row that holds whatever
// the applications have, by their maxima or by the capacity, is left out. O(applications of all groups x kinds).
func (p *Problem) compileCeilings() [][]int32 {
	rows := make([][]int32, len(p.Inst.Apps))
	for g := range p.Inst.Groups {
		group := &p.Inst.Groups[g]
		for k, limit := range group.Ceiling {
			var most int64
			for _, i := range group.Apps {
				app := &p.Inst.Apps[i]
				// What runs may stay with what it holds, which its own bounds allow then.
				most = AddSaturated(most, MulSaturated(app.Max, app.Demand[k]))
			}
			if limit >= min(most, p.Total[k]) {
				continue
			}
			for _, i := range group.Apps {
				if p.Inst.Apps[i].Demand[k] > 0 {
					rows[i] = append(rows[i], int32(len(p.Ceilings)))
				}
			}
			p.Ceilings = append(p.Ceilings, Ceiling{g, k, limit})
		}
	}
	return rows
}

// uses returns what a container of an application takes from the ceilings in rows.
func (p *Problem) uses(app *solver.App, rows []int32) []Use {
	var uses []Use
	for _, row := range rows {
		uses = append(uses, Use{row, app.Demand[p.Ceilings[row].Kind]})
	}
	return uses
}

// Below returns how many containers of type t the ceilings allow where left is what each has left: 0 where one is
// exceeded.
func (p *Problem) Below(t int32, left []int64) int64 {
	n := int64(math.MaxInt64)
	for _, use := range p.Types[t].Uses {
		// A quotient of what is negative would round towards 0.
		if left[use.Ceiling] < use.Units {
			return 0
		}
		n = min(n, left[use.Ceiling]/use.Units)
	}
	return n
}

// Limits returns what every ceiling allows, in the order of Ceilings.
func (p *Problem) Limits() []int64 {
	limits := make([]int64, len(p.Ceilings))
	for c := range limits {
		limits[c] = p.Ceilings[c].Limit
	}
	return limits
}
