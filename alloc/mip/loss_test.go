package mip_test

import (
	"context"
	"math"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
)

// single returns one application of a server with ten units, whose share is the given number of
// containers of one unit; it must get exactly n.
func single(share float64, n int64, budget float64) *solver.Instance {
	return &solver.Instance{
		Capacity: []apportion.Resources{{10}}, Total: apportion.Resources{10}, LossBudget: budget,
		Apps: []solver.App{{Demand: apportion.Resources{1}, Min: n, Max: max(1, n), Value: .1, Delta: .1, Share: share * .1}},
	}
}

// TestLossBudgetIsSharp: with every number of containers, below and above a share that is whole or not,
// new or staying, the budget that is just the loss is enough, and a little less is not.
func TestLossBudgetIsSharp(t *testing.T) {
	for _, share := range []float64{0, 0.25, 3, 3.5, 3.999999, 10, 12.75} {
		for n := int64(1); n <= 10; n++ {
			loss := single(share, n, 0).Apps[0].Loss(n)
			enough, less := single(share, n, loss), single(share, n, loss-1e-4)
			sharp(t, enough, less)
			for _, inst := range []*solver.Instance{enough, less} { // it may not be adjusted
				inst.Apps[0].Cost = 1
				inst.Apps[0].Running, inst.Apps[0].Previous = true, []apportion.Placement{{Server: 0, Count: n}}
			}
			sharp(t, enough, less)
		}
	}
}

// sharp solves an instance that is feasible and, where its budget is not negative, one that is not.
func sharp(t *testing.T, enough, less *solver.Instance) {
	t.Helper()
	for _, form := range mip.Forms() {
		for _, backend := range []milp.Solver{bb.Solver{}, integersOnly{}} {
			s, err := mip.New(backend, form, nil).Solve(context.Background(), enough)
			if err != nil || s.Status != solver.Optimal {
				t.Errorf("%s, %T, %+v: %v, %v with the budget that it needs", form, backend, enough.Apps, s, err)
			}
			if less.LossBudget < 0 {
				continue
			}
			s, err = mip.New(backend, form, nil).Solve(context.Background(), less)
			if err != nil || s.Status != solver.Infeasible {
				t.Errorf("%s, %T, %+v: %v, %v with too small a budget", form, backend, less.Apps, s, err)
			}
		}
	}
}

// TestLossesAreBounded: no variable of a model is without bounds, and with BuildFor none is continuous
// where the solver takes none.
func TestLossesAreBounded(t *testing.T) {
	inst := instanceOf(t, tinyProblem())
	inst.Apps[0].Delta, inst.Apps[0].Share = 0, 0 // demands a kind that the cluster has none of
	for _, form := range mip.Forms() {
		for backend, needs := range map[milp.Solver]milp.Capability{
			bb.Solver{}: milp.CanInteger | milp.CanContinuous, integersOnly{}: milp.CanInteger,
		} {
			model, err := mip.BuildFor(backend, inst, form)
			if err != nil || model.MILP.Needs() != needs {
				t.Errorf("%s for %T: %v, needs %s, want %s", form, backend, err, model.MILP.Needs(), needs)
			}
		}
	}
}

// TestNoCoefficientIsNoise: an application that holds its very share loses some 1e-17 by rounding; that is
// no coefficient of (15).
func TestNoCoefficientIsNoise(t *testing.T) {
	inst := single(3, 3, 1)
	app := &inst.Apps[0]
	app.Delta, app.Share = .1, .3
	app.Cost = 1
	app.Running, app.Previous = true, []apportion.Placement{{Server: 0, Count: 3}}
	if loss := app.Loss(3); loss == 0 || loss > 1e-15 {
		t.Fatalf("the loss is %g: the test sees nothing", loss)
	}
	model := must.Have(mip.Build(inst, mip.Disjunctive))(t)
	for i := range model.MILP.Rows() {
		for _, coef := range model.MILP.Row(i).Coefs {
			if math.Abs(coef) < 1e-12 {
				t.Errorf("row %s has the coefficient %g", model.MILP.RowName(i), coef)
			}
		}
	}
}
