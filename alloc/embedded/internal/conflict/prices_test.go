// This file tests proofs by prices whose numbers are known.

package conflict

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// app demands q of the only kind, and must have from least to most containers.
func app(q, least, most int64, share float64) solver.App {
	return solver.App{Demand: apportion.Resources{q}, Min: least, Max: most, Share: share}
}

// on is an application that runs with n containers on a server.
func on(a solver.App, server int, n int64) solver.App {
	a.Running, a.Cost = true, 1
	a.Previous = []apportion.Placement{{Server: server, Count: n}}
	return a
}

// Prices give the constraints that cannot hold together, and both sides: of capacity in parts of all there is at the prices,
// of fairness in shares.
func TestPricedSides(t *testing.T) {
	ten := []apportion.Resources{{10}}
	for name, c := range map[string]struct {
		inst        solver.Instance
		constraints []solver.Constraint
		need, have  float64
	}{
		"minima of 12 in 10": {
			solver.Instance{Capacity: ten, LossBudget: 9, Apps: []solver.App{app(1, 8, 9, 0.5), app(1, 4, 9, 0.5)}},
			[]solver.Constraint{solver.Capacity, solver.Minimum}, 1.2, 1},
		"minima of 14 in 10": {
			solver.Instance{Capacity: ten, LossBudget: 9, Apps: []solver.App{app(3, 2, 9, 0.5), app(2, 4, 9, 0.5)}},
			[]solver.Constraint{solver.Capacity, solver.Minimum}, 1.4, 1},
		// Shares of 0.9 and 0.6 are 0.5 more than all there is.
		"shares beyond the cluster": {
			solver.Instance{Capacity: ten, LossBudget: 0.25, Apps: []solver.App{app(1, 1, 9, 0.9), app(1, 1, 9, 0.6)}},
			[]solver.Constraint{solver.Fairness, solver.Minimum, solver.Capacity}, 0.5, 0.25},
		// Nobody may be moved: 6 of 10 stay, and a share of 0.8 beside them loses 0.4.
		"nobody may be moved": {
			solver.Instance{Capacity: ten, LossBudget: 0.25, AdjustBudget: 0, Apps: []solver.App{on(app(1, 1, 9, 0.6), 0, 6), app(1, 1, 9, 0.8)}},
			[]solver.Constraint{solver.Fairness, solver.Minimum, solver.Capacity, solver.Adjust}, 0.4, 0.25},
	} {
		inst := instancetest.Finish(&c.inst)
		got, rounds := Priced(t.Context(), problem.New(inst))
		if got == nil {
			t.Errorf("%s: nothing is proven", name)
			continue
		}
		if !slices.Equal(got.Constraints, c.constraints) || got.Kind != -1 {
			t.Errorf("%s: %v of kind %d, want %v", name, got.Constraints, got.Kind, c.constraints)
		}
		// The descent stops as soon as it has a proof: what it needs is at most the truth, and more than there is.
		if got.Have != c.have || got.Need <= c.have || got.Need > c.need+1e-6 {
			t.Errorf("%s: %g of %g, want more than that and at most %g", name, got.Need, got.Have, c.need)
		}
		if rounds < 0 || rounds > 2*proofRounds {
			t.Errorf("%s: %d rounds", name, rounds)
		}
	}
}

// Where there is a solution nothing is proven, whatever the sum of what is asked for beside the minima.
func TestPricedProvesNothing(t *testing.T) {
	for name, inst := range map[string]*solver.Instance{
		"minima fill the cluster": {Capacity: []apportion.Resources{{10}}, LossBudget: 9, Apps: []solver.App{app(1, 6, 9, 0.5), app(1, 4, 9, 0.5)}},
		"the loss is just allowed": {Capacity: []apportion.Resources{{10}}, LossBudget: 0.5,
			Apps: []solver.App{app(1, 1, 9, 0.9), app(1, 1, 9, 0.6)}},
		"whoever is in the way may be moved": {Capacity: []apportion.Resources{{10}}, LossBudget: 0.45, AdjustBudget: 1,
			Apps: []solver.App{on(app(1, 1, 9, 0.6), 0, 6), app(1, 1, 9, 0.8)}},
		"no applications": {Capacity: []apportion.Resources{{10}}},
	} {
		p := problem.New(instancetest.Finish(inst))
		if c, rounds := Priced(t.Context(), p); c != nil {
			t.Errorf("%s: %+v after %d rounds", name, c, rounds)
		}
	}
}

// A context that has ended begins no proof, and what the instance is worth otherwise has no say in one.
func TestPricedStops(t *testing.T) {
	inst := instancetest.Finish(&solver.Instance{Capacity: []apportion.Resources{{10}}, LossBudget: 0.25,
		Apps: []solver.App{app(1, 1, 9, 0.9), app(1, 1, 9, 0.6)}})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if c, rounds := Priced(ctx, problem.New(inst)); c != nil || rounds != 0 {
		t.Errorf("%+v after %d rounds and the end", c, rounds)
	}
	dear := instancetest.Clone(inst)
	dear.LossPrice = 100
	for i := range dear.Apps {
		dear.Apps[i].Value, dear.Apps[i].Stay = 1e6, 1e6
	}
	want, _ := Priced(t.Context(), problem.New(inst))
	got, _ := Priced(t.Context(), problem.New(dear))
	if got == nil || !slices.Equal(got.Constraints, want.Constraints) || math.Abs(got.Need-want.Need) > 1e-9 {
		t.Errorf("with worths %+v, want %+v", got, want)
	}
	if dear.Apps[0].Value != 1e6 || dear.LossPrice != 100 {
		t.Error("the instance has changed")
	}
}
