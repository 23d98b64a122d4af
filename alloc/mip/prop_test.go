package mip_test

import (
	"context"
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/must"
)

// zeroPrices are prices of nothing, of the shape of an instance.
func zeroPrices(inst *solver.Instance) (*solver.Multipliers, *solver.CopyPrices) {
	m, c := &solver.Multipliers{}, &solver.CopyPrices{Container: make([]float64, len(inst.Apps))}
	for range inst.Capacity {
		m.Server = append(m.Server, make([]float64, len(inst.Total)))
	}
	for i := range inst.Apps {
		c.Room = append(c.Room, make([]float64, len(inst.Apps[i].Previous)))
	}
	return m, c
}

// On instances that nobody can enumerate the exact forms agree with each other, in both ways to write the
// losses, and with the embedded solver; the pooled one bounds them, and so do the dual bounds without any prices.
func TestFormsAgree(t *testing.T) {
	count := 300
	if testing.Short() {
		count = 40
	}
	solved, proven := 0, 0
	for seed := range uint64(count) {
		inst := solvertest.Medium(seed)
		want := answered(t, bb.Solver{}, mip.Disjunctive, inst)
		for _, c := range []struct {
			backend milp.Solver
			form    mip.Form
		}{{bb.Solver{}, mip.Verbatim}, {integersOnly{}, mip.Disjunctive}, {bb.Solver{}, mip.Class}} {
			got := answered(t, c.backend, c.form, inst)
			if c.form != mip.Class && (got.Status != want.Status || math.Abs(got.Objective-want.Objective) > 1e-6) ||
				want.Status == solver.Optimal && got.Bound < want.Objective-1e-6 {
				t.Errorf("Medium(%d), %s by %T: %s, %.9g of at most %.9g; disjunctive %s, %.9g", seed, c.form, c.backend,
					got.Status, got.Objective, got.Bound, want.Status, want.Objective)
			}
		}
		own := must.Have(embedded.New(nil).Solve(context.Background(), inst))(t)
		if want.Status != solver.Optimal {
			if own.Status.HasSolution() {
				t.Errorf("Medium(%d): %s by the embedded solver, %s by the form", seed, own.Status, want.Status)
			}
			continue
		}
		solved++
		if own.Status == solver.Optimal {
			proven++
		}
		if own.Status == solver.Infeasible || own.Bound < want.Objective-1e-6 || own.Objective > want.Objective+1e-6 ||
			own.Status == solver.Optimal && own.Objective < want.Objective-1e-6 {
			t.Errorf("Medium(%d): %s, %.9g of at most %.9g by the embedded solver, the optimum is %.9g", seed, own.Status, own.Objective, own.Bound, want.Objective)
		}
		m, c := zeroPrices(inst)
		dual, err := solver.DualBound(inst, m)
		if err != nil || dual < want.Objective-1e-6 {
			t.Errorf("Medium(%d): DualBound %.9g, %v, below the optimum %.9g", seed, dual, err, want.Objective)
		}
		copies, err := solver.CopyBound(inst, c)
		if err != nil || copies < want.Objective-1e-6 {
			t.Errorf("Medium(%d): CopyBound %.9g, %v, below the optimum %.9g", seed, copies, err, want.Objective)
		}
	}
	if solved < count/4 || proven < solved/2 {
		t.Errorf("%d of %d have a solution, the embedded solver has proven %d", solved, count, proven)
	}
}

// answered asks for the utilization alone.
func answered(t *testing.T, backend milp.Solver, form mip.Form, inst *solver.Instance) *solver.Solution {
	t.Helper()
	s, err := mip.New(backend, form, nil).Solve(context.Background(), inst)
	if err != nil {
		t.Fatalf("%s by %T: %v", form, backend, err)
	}
	if s.Status.HasSolution() && inst.Check(s.Counts) != nil {
		t.Errorf("%s by %T: %v", form, backend, inst.Check(s.Counts))
	}
	return s
}
