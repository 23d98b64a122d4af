// This file joins servers that have an application in common to a Totals, and leaves out ways that lose too much and rows that no choice
// of ways exceeds.

package lagrange

import (
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// NewTotals joins the servers of p, an instance with every option apart, of which choices are the applications with
// options and losses the budget (15) of the instance that has them; nil where that has too many ways or ceilings. p must have a
// solution as far as Problem.Impossible can tell, and is kept. O(ways x rows).
func NewTotals(p *problem.Problem, choices []solver.Choice, losses float64) *Totals {
	// A solution may use the tolerance up, and the bound must hold for it. Ceilings would need rows of their own.
	t := &Totals{p: p, losses: losses + solver.LossTolerance}
	if len(p.Ceilings) > 0 || !t.list(choices) {
		return nil
	}
	t.afford()
	if !t.compress() {
		return nil
	}
	t.slope = make([]float64, len(t.limits)+1)
	t.descent = newDescent(t, len(t.slope), 0, totalCuts)
	// A price of Scale on each unit of a limit makes the whole limit cost what there is to gain, by kind: prices of rows so are
	// of one size, whatever units the kinds have. Losses are of order 1 already.
	for r, limit := range t.limits {
		t.descent.Scale[r] = p.Scale / math.Max(1, float64(limit))
	}
	t.descent.Scale[len(t.limits)] = p.Scale
	t.descent.Start()
	return t
}

// list lists the ways of all applications in rows of cells and of (16), and reports whether they are few enough. Row
// cell*kinds+k is what a cell has of kind k, and the last one the budget of (16), in units of Cost.
func (t *Totals) list(choices []solver.Choice) bool {
	p := t.p
	cells := newCells(p.Inst)
	if cells.count*p.Kinds > mostWide {
		return false
	}
	t.limits = make([]int64, cells.count*p.Kinds+1)
	for j := range p.Servers {
		for k := range p.Kinds {
			at := cells.ofServer(j)*p.Kinds + k
			t.limits[at] = problem.AddSaturated(t.limits[at], p.Capacity[j*p.Kinds+k])
		}
	}
	t.limits[len(t.limits)-1] = p.Inst.AdjustBudget
	// Options of one application are one taker, whose ways are those of all of them: one at most is in use.
	l := lister{t: t, cells: cells}
	inChoice := make([]bool, len(p.Apps))
	for c := range choices {
		var one taker
		for _, i := range choices[c].Apps {
			inChoice[i] = true
			l.some(&one, i)
		}
		// The entry that runs, if any, says what it takes to have nothing. That is one way for all options together, as they
		// lose and are worth the same without containers.
		if head := headOf(p.Inst, &choices[c]); !choices[c].Required {
			l.none(&one, head)
		}
		for _, i := range choices[c].Apps {
			l.leave(&one, i)
		}
		t.takers = append(t.takers, one)
	}
	// Everybody else is a taker alone.
	for i := range p.Apps {
		if !inChoice[i] {
			var one taker
			if p.Inst.Apps[i].Allows(0) {
				l.none(&one, i)
			}
			l.some(&one, i)
			t.takers = append(t.takers, one)
		}
	}
	// The lister stops soon after mostListed, so that the ways may be cut off here: then they are of no use.
	return l.listed <= mostListed
}

// headOf returns the option of a choice that runs, or its first one.
// At most one option of a choice runs. It is the rule of Dual.Head, so that both bounds charge the same
// entry.
func headOf(inst *solver.Instance, choice *solver.Choice) int {
	for _, i := range choice.Apps {
		if inst.Apps[i].Running {
			return i
		}
	}
	return choice.Apps[0]
}

// afford leaves out the ways that lose more than (15) leaves beside the least that all others lose, and none where that is too much
// already. O(ways).
func (t *Totals) afford() {
	least, left := make([]float64, len(t.takers)), t.losses+float64(equal*max(1, t.losses))
	for a := range t.takers {
		least[a] = math.Inf(1)
		for w := range t.takers[a].ways {
			least[a] = min(least[a], t.takers[a].ways[w].loss)
		}
		left -= least[a]
	}
	if left < 0 {
		return // for the ledger to prove
	}
	for a := range t.takers {
		t.takers[a].ways = slices.DeleteFunc(t.takers[a].ways, func(way totalWay) bool { return way.loss > left+least[a] })
	}
}

// compress leaves out the rows that no choice of ways exceeds, and reports whether few enough are left and everybody has
// a way. States of a ledger are arrays of mostRows quantities, and the fewer there are the more states are equal.
// It runs once, before the first evaluation, and shortens the rows of every way. O(ways x rows).
func (t *Totals) compress() bool {
	// most is what all together use of each row if each uses as much of it as any of its ways does.
	most := make([]int64, len(t.limits))
	for a := range t.takers {
		if len(t.takers[a].ways) == 0 {
			return false // there is no solution, which is for others to prove
		}
		for r := range most {
			largest := int64(0)
			for w := range t.takers[a].ways {
				largest = max(largest, t.takers[a].ways[w].use[r])
			}
			most[r] = problem.AddSaturated(most[r], largest)
		}
	}
	// A limit that holds by itself needs no price and no place in a state.
	var kept []int
	for r := range most {
		if most[r] > t.limits[r] {
			kept = append(kept, r)
		}
	}
	for a := range t.takers {
		for w := range t.takers[a].ways {
			t.takers[a].ways[w].use = pick(t.takers[a].ways[w].use, kept)
		}
	}
	t.limits = pick(t.limits, kept)
	return len(kept) <= mostRows
}

// pick returns those entries, in a fresh slice: the old one still has its full length elsewhere.
func pick(all []int64, which []int) []int64 {
	some := make([]int64, len(which))
	for to, from := range which {
		some[to] = all[from]
	}
	return some
}
