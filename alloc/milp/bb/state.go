// This file holds the state of one branch and bound, and how it begins.

package bb

import (
	"math"

	"github.com/apportion/apportion/alloc/milp"
)

// logEvery is the number of nodes between two reports of progress.
const logEvery = 100

// search is the state of one branch and bound. Objectives inside are those of the relaxation:
// scaled, without the constant, to be minimised.
type search struct {
	model  *milp.Model
	opts   *milp.Options
	budget *budget
	lp     *simplex
	costs  pseudocosts
	grain  float64 // every feasible objective is a multiple of it; 0: unknown

	rootLower, rootUpper []float64 // bounds of the model's variables that hold everywhere
	rootBound            float64   // bound and reduced costs of the root, to fix variables by
	rootCosts            []float64

	incumbent []float64
	best      float64 // its objective; +Inf without one
	anyPoint  bool    // the first feasible point ends the search

	open       openNodes
	current    *node   // in work, not in open
	nodes      int64   // solved
	serial     int64   // of the last node created
	pruned     float64 // least bound of a node that was given up although it was below best
	unresolved float64 // least bound of a node that could not be solved
}

func newSearch(model *milp.Model, opts *milp.Options, b *budget) *search {
	r := newRelaxation(model)
	s := &search{
		model: model, opts: opts, budget: b,
		// The simplex asks the same budget as the tree: a long relaxation stops in its midst.
		lp: newSimplex(r, b.spent), costs: newPseudocosts(r.n), grain: grainOf(model, r),
		// The relaxation's bounds change with every node, so the root's are copies.
		rootLower: append([]float64(nil), r.lower[:r.n]...), rootUpper: append([]float64(nil), r.upper[:r.n]...),
		// Infinite means "none": each of them is lowered by a minimum.
		best: math.Inf(1), pruned: math.Inf(1), unresolved: math.Inf(1),
	}
	s.current = &node{bound: math.Inf(-1)}
	return s
}

// grainOf returns the greatest number of which every cost is a multiple where all of them are
// whole numbers on integer variables, scaled; else 0.
func grainOf(model *milp.Model, r *relaxation) float64 {
	const exact = 1 << 53 // whole float64 numbers up to here are exact
	grain := 0.0
	for j := range model.Variables() {
		v := model.Variable(j)
		// A variable without a cost moves the objective by nothing and has no say.
		if v.Cost == 0 {
			continue
		}
		// One cost of another sort, and objectives may lie anywhere.
		if !v.Integer || v.Cost != math.Trunc(v.Cost) || math.Abs(v.Cost) > exact {
			return 0
		}
		// Euclid's algorithm; Mod is exact for whole float64 numbers.
		for a, b := math.Abs(v.Cost), grain; ; a, b = b, math.Mod(a, b) {
			if b == 0 {
				grain = a
				break
			}
		}
	}
	return grain * math.Abs(r.costScale)
}
