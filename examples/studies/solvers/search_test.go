// This file measures searches whose answers are known.

package main

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
)

// slow is branch and bound that takes some time more, or its limit, and remembers what it was asked.
type slow struct {
	can   milp.Capability
	takes time.Duration
	fail  error
	asked *[]milp.Options
}

func (s slow) Capabilities() milp.Capability { return s.can }

// Solve implements milp.Solver.
func (s slow) Solve(ctx context.Context, model *milp.Model, opts *milp.Options) (milp.Solution, error) {
	*s.asked = append(*s.asked, *opts)
	if s.fail != nil {
		return milp.Solution{}, s.fail
	}
	time.Sleep(min(s.takes, opts.TimeLimit))
	if opts.Log != nil {
		opts.Log(milp.Progress{Objective: math.NaN(), Bound: 3})
		opts.Log(milp.Progress{Objective: 0.5, Bound: 2.75})
	}
	full := milp.Options{
		RelativeGap: milp.DefaultRelativeGap, AbsoluteGap: milp.DefaultAbsoluteGap,
		FeasibilityTolerance: milp.DefaultFeasibilityTolerance, IntegralityTolerance: milp.DefaultIntegralityTolerance,
	}
	return bb.Solver{}.Solve(ctx, model, &full)
}

const dumb = milp.CanContinuous | milp.CanInteger | milp.CanInfiniteBounds | milp.CanInterrupt | milp.CanTimeLimit

// smallest is a problem that branch and bound solves in milliseconds, and its optimum.
func smallest(t *testing.T) (*solver.Instance, float64) {
	t.Helper()
	inst := alloctest.Table2(1, 3, 5, true)
	answer := must.Have(mip.New(bb.Solver{}, mip.Disjunctive, nil).Solve(t.Context(), inst))(t)
	must.Equal(t, answer.Status, solver.Optimal, answer)
	return inst, answer.Objective
}

// An engine without a log is asked again with half the time, as long as the answer is near.
func TestHalving(t *testing.T) {
	inst, optimum := smallest(t)
	for _, test := range []struct {
		near     float64
		searches int // at least
	}{{0.99 * optimum, 3}, {1.01 * optimum, 1}} {
		var asked []milp.Options
		one := search{inst, slow{can: dumb, takes: 50 * time.Millisecond, asked: &asked}, mip.Disjunctive, time.Minute, 2, test.near}
		points := must.Have(one.measure(t.Context()))(t)
		if len(asked) != len(points) || len(points) < test.searches || test.searches == 1 && len(points) > 1 {
			t.Fatalf("%d searches, %d points, want %d searches", len(asked), len(points), test.searches)
		}
		if asked[0].TimeLimit != time.Minute || asked[0].Workers != 1 {
			t.Errorf("first search: %v, %d workers", asked[0].TimeLimit, asked[0].Workers)
		}
		for k := 1; k < len(asked); k++ {
			if limit := asked[k].TimeLimit; limit > asked[k-1].TimeLimit/2 || limit < shortest {
				t.Errorf("search %d has %v after %v", k, limit, asked[k-1].TimeLimit)
			}
		}
		for k, p := range points {
			if p.after < shortest || k > 0 && p.after < points[k-1].after || !p.proven || math.Abs(p.objective-optimum) > 1e-9 {
				t.Errorf("point %d: %+v", k, p)
			}
		}
	}
}

// An engine with a log is asked once, with the workers; its reports and the answer are the points. By
// class its reports are not about allocations, so they do not count.
func TestLog(t *testing.T) {
	inst, optimum := smallest(t)
	for form, reports := range map[mip.Form]bool{mip.Verbatim: true, mip.Disjunctive: true, mip.Class: false} {
		var asked []milp.Options
		one := search{inst, slow{can: milp.CanEverything, asked: &asked}, form, time.Minute, 2, math.Inf(1)}
		points := must.Have(one.measure(t.Context()))(t)
		if len(asked) != 1 || asked[0].Workers != 2 || (asked[0].Log != nil) != reports {
			t.Errorf("%s: asked %+v", form, asked)
		}
		if !reports {
			must.Equal(t, len(points), 1, form, points)
			continue
		}
		if len(points) != 3 || !math.IsNaN(points[0].objective) || points[0].bound != 3 || points[1].objective != 0.5 || points[1].proven {
			t.Fatalf("%s: %+v", form, points)
		}
		if last := points.last(); !last.proven || math.Abs(last.objective-optimum) > 1e-9 {
			t.Errorf("%s: %+v, want %v", form, last, optimum)
		}
	}
}

// A solution by class that cannot be packed is no allocation, and one that lost containers in packing
// is not proven best; the bound holds for all.
func TestPacking(t *testing.T) {
	unpacked, proven, open := 0, 0, 0
	for seed := range uint64(8) {
		inst := alloctest.Mixed(seed, 3, 5, true)
		exact := must.Have(mip.New(bb.Solver{}, mip.Disjunctive, nil).Solve(t.Context(), inst))(t)
		if exact.Status != solver.Optimal {
			continue // some are infeasible
		}
		one := search{inst, bb.Solver{}, mip.Class, time.Minute, 1, math.Inf(1)}
		points := must.Have(one.measure(t.Context()))(t)
		last := points.last()
		if last.bound < exact.Objective-1e-6 {
			t.Errorf("seed %d: bound %v below the optimum %v", seed, last.bound, exact.Objective)
		}
		switch {
		case math.IsNaN(last.objective):
			unpacked++
			if last.proven {
				t.Errorf("seed %d: a proof of nothing", seed)
			}
		case last.proven:
			proven++
			if math.Abs(last.objective-exact.Objective) > 1e-6 {
				t.Errorf("seed %d: %v proven, the optimum is %v", seed, last.objective, exact.Objective)
			}
		default:
			open++
		}
	}
	if unpacked == 0 || proven == 0 || open == 0 {
		t.Errorf("%d not packed, %d packed and proven, %d only packed: every sort is wanted", unpacked, proven, open)
	}
}

func TestFailure(t *testing.T) {
	inst, _ := smallest(t)
	broken := errors.New("out of order")
	for _, can := range []milp.Capability{dumb, milp.CanEverything} {
		var asked []milp.Options
		one := search{inst, slow{can: can, fail: broken, asked: &asked}, mip.Verbatim, time.Minute, 1, 0}
		if points, err := one.measure(t.Context()); !errors.Is(err, broken) || points != nil {
			t.Errorf("%v, %v", points, err)
		}
	}
}

// The embedded solver finds the optimum of a small problem, and proves it.
func TestMeasureOwn(t *testing.T) {
	inst, optimum := smallest(t)
	for _, e := range efforts {
		points := must.Have(measureOwn(t.Context(), inst, e, time.Minute))(t)
		if last := points.last(); len(points) != 1 || !last.proven || math.Abs(last.objective-optimum) > 1e-6 || last.after <= 0 {
			t.Errorf("%s: %+v, want %v", e.name, points, optimum)
		}
	}
}
