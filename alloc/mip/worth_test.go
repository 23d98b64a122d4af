package mip_test

import (
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
)

// Worths that are concave take a row for each piece and no variable for a number; others, and those of back-ends
// without continuous variables, a variable for each number.
func TestConcaveTakesNoBinaries(t *testing.T) {
	for name, c := range map[string]struct {
		worth      []float64
		idle       float64
		whole      bool
		rows, each int
	}{
		"a line of tenths":            {[]float64{.1, .2, .3, .4, .5}, 0, false, 1, 0},
		"with a bend":                 {[]float64{1, 2, 3, 3.5, 4}, 0, false, 2, 0},
		"falling in the end":          {[]float64{1, 2, 3, 2, 1}, 0, false, 2, 0},
		"a first one that is dear":    {[]float64{-1, 2, 3, 3.5, 4}, 0, false, 0, 5},
		"in steps":                    {[]float64{1, 1, 2, 2, 3}, 0, false, 0, 5},
		"worse without":               {[]float64{1, 2, 3, 3.5, 4}, -7, false, 3, 0},
		"better without":              {[]float64{1, 2, 3, 3.5, 4}, 1, false, 0, 6},
		"without continuous variable": {[]float64{1, 2, 3, 3.5, 4}, 0, true, 0, 5},
	} {
		inst := &solver.Instance{Capacity: []apportion.Resources{{9}}, Total: apportion.Resources{9}, LossBudget: 2,
			Apps: []solver.App{{Demand: apportion.Resources{1}, Max: 5, Delta: 1. / 9, Worth: c.worth, Idle: c.idle}}}
		var backend milp.Solver = bb.Solver{}
		if c.whole {
			backend = integersOnly{}
		}
		model := must.Have(mip.BuildFor(backend, inst, mip.Disjunctive))(t)
		rows, each := 0, 0
		for i := range model.MILP.Rows() {
			if strings.HasPrefix(model.MILP.RowName(i), "worth_a0_p") {
				rows++
			}
		}
		for j := range model.MILP.Variables() {
			if strings.HasPrefix(model.MILP.VariableName(j), "u_a0_n") {
				each++
			}
		}
		if rows != c.rows || each != c.each {
			t.Errorf("%s: %d rows and %d variables, want %d and %d", name, rows, each, c.rows, c.each)
		}
	}
}

// Having none is worth what it is worth, too: less than nothing is no way out.
func TestNoneBelowNothing(t *testing.T) {
	inst := &solver.Instance{Capacity: []apportion.Resources{{9}}, Total: apportion.Resources{9}, LossBudget: 2,
		Apps: []solver.App{{Demand: apportion.Resources{1}, Max: 2, Delta: 1. / 9, Worth: []float64{-2.9, -1}, Idle: -3}}}
	for _, form := range mip.Forms() {
		s, err := mip.New(bb.Solver{}, form, nil).Solve(t.Context(), inst)
		if err != nil || s.Status != solver.Optimal || s.Objective != -1 {
			t.Errorf("%s: %v with %g, %v", form, s.Status, s.Objective, err)
		}
	}
}
