package mip_test

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
)

// scaled returns inst with every quantity times factor: the same problem in a smaller unit.
func scaled(inst *solver.Instance, factor int64) *solver.Instance {
	times := func(r apportion.Resources) apportion.Resources {
		product := r.Clone()
		for k := range product {
			product[k] *= factor
		}
		return product
	}
	large := *inst
	large.Total = times(inst.Total)
	large.Capacity = make([]apportion.Resources, len(inst.Capacity))
	for j, capacity := range inst.Capacity {
		large.Capacity[j] = times(capacity)
	}
	large.Apps = append([]solver.App(nil), inst.Apps...)
	for i := range large.Apps {
		large.Apps[i].Demand = times(inst.Apps[i].Demand)
	}
	return &large
}

// Counted in units 2^56 times smaller, every form has the same program and the same answer.
func TestUnitsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := genInstance(t)
		large := scaled(inst, 1<<56+1)
		for _, form := range mip.Forms() {
			model := must.Have(mip.Build(large, form))(t)
			if model.Relaxed != (form == mip.Class) {
				t.Errorf("%s: relaxed %v", form, model.Relaxed)
			}
			want := must.Have(mip.New(bb.Solver{}, form, nil).Solve(context.Background(), inst))(t)
			got, err := mip.New(bb.Solver{}, form, nil).Solve(context.Background(), large)
			if err != nil || got.Status != want.Status || math.Abs(got.Objective-want.Objective) > 1e-9 {
				t.Errorf("%s: %v, %v; in the small unit %v", form, got, err, want)
			}
		}
	})
}

// Demands without a common divisor are rounded down: the model is a relaxation, whose answers the
// referee still checks.
func TestUnitsRound(t *testing.T) {
	const petabyte = 1 << 50
	build := func(extra int64) *solver.Instance {
		inst := &solver.Instance{
			Capacity:   []apportion.Resources{{16*petabyte + extra}, {16 * petabyte}},
			Total:      apportion.Resources{32*petabyte + extra},
			LossBudget: 2,
		}
		for _, demand := range []int64{8*petabyte + 1, 4*petabyte - 1, 1} {
			share := float64(demand) / float64(inst.Total[0])
			inst.Apps = append(inst.Apps, solver.App{Demand: apportion.Resources{demand}, Max: 4, Value: share, Delta: share, Share: share})
		}
		return inst
	}
	for _, extra := range []int64{0, 2} {
		inst := build(extra)
		// The best that any solver finds, within a unit of 2^53 parts.
		best, err := embedded.New(nil).Solve(context.Background(), inst)
		if err != nil || best.Status != solver.Optimal {
			t.Fatalf("%+v, %v", best, err)
		}
		for _, form := range []mip.Form{mip.Verbatim, mip.Disjunctive} {
			model, err := mip.Build(inst, form)
			if err != nil || !model.Relaxed {
				t.Fatalf("%s: %+v, %v; want a relaxed model", form, model, err)
			}
			got, err := mip.New(bb.Solver{}, form, nil).Solve(context.Background(), inst)
			if err != nil || inst.Check(got.Counts) != nil || math.Abs(got.Objective-best.Objective) > 1e-9 {
				t.Errorf("%s: %v, %+v, best %g", form, err, got, best.Objective)
			}
			if got.Bound < best.Objective || got.Bound > best.Bound+1e-9 {
				t.Errorf("%s: bound %.15g, embedded %.15g", form, got.Bound, best.Bound)
			}
		}
	}
}

// A petabyte in bytes is counted in what the demands are multiples of, which is exact: some back-ends refuse larger numbers.
func TestUnitsOfPetabytes(t *testing.T) {
	const gigabyte, most = 1_000_000_000, 1e15
	inst := &solver.Instance{LossBudget: 2, Capacity: []apportion.Resources{{4_000_001 * gigabyte}, {4_000_001 * gigabyte}}, Total: apportion.Resources{8_000_002 * gigabyte}}
	for _, demand := range []int64{1_500_000 * gigabyte, 900_003 * gigabyte} {
		share := float64(demand) / float64(inst.Total[0])
		inst.Apps = append(inst.Apps, solver.App{Demand: apportion.Resources{demand}, Max: 4, Value: share, Delta: share, Share: share})
	}
	for _, form := range mip.Forms() {
		model, err := mip.Build(inst, form)
		if err != nil || model.Relaxed != (form == mip.Class) {
			t.Fatalf("%s: %+v, %v", form, model, err)
		}
		for i := range model.MILP.Rows() {
			row := model.MILP.Row(i)
			for _, coef := range append([]float64{row.Upper}, row.Coefs...) {
				if math.Abs(coef) > most && !math.IsInf(coef, 0) {
					t.Errorf("%s: row %s has %g", form, model.MILP.RowName(i), coef)
				}
			}
		}
	}
}
