package embedded

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

// wild draws what is an instance by its types, and hardly ever by its sense: quantities, counts and budgets
// up to the largest numbers, values that do not follow from demands, previous containers that no server
// holds, no kinds, no applications.
func wild(t *rapid.T) *solver.Instance {
	quantity := func(name string) int64 {
		return rapid.SampledFrom([]int64{0, 0, 0, 1, 1, 2, 3, 7, 20, 1 << 31, 1 << 40, 1<<62 + 1, math.MaxInt64}).Draw(t, name)
	}
	number := func(name string) float64 {
		return rapid.SampledFrom([]float64{0, 5e-324, 1e-300, 1e-9, 0.1, 0.5, 1, 3, 1e9, 1e150, 1e300, math.MaxFloat64}).Draw(t, name)
	}
	kinds := rapid.IntRange(0, 3).Draw(t, "kinds")
	vector := func(name string) apportion.Resources {
		r := make(apportion.Resources, kinds)
		for k := range r {
			r[k] = quantity(name)
		}
		return r
	}
	inst := &solver.Instance{Total: make(apportion.Resources, kinds), AdjustBudget: quantity("adjust budget") - quantity("less")}
	inst.LossBudget = number("loss budget") - number("less loss")
	for range rapid.IntRange(0, 12).Draw(t, "servers") {
		capacity := vector("capacity")
		if exact.AddTo(inst.Total, inst.Total, capacity) == nil {
			inst.Capacity = append(inst.Capacity, capacity)
		}
	}
	for range rapid.IntRange(0, 9).Draw(t, "applications") {
		app := solver.App{Demand: vector("demand"), Min: quantity("min"), Max: quantity("max"), Value: number("value"), Delta: number("delta"), Share: number("share")}
		app.Min, app.Max = min(app.Min, app.Max), max(app.Min, app.Max, 1)
		if kinds > 0 && app.Demand.IsZero() {
			app.Demand[0] = 1
		}
		app.Cost = 1
		app.Running, app.Displaced = rapid.Bool().Draw(t, "running"), rapid.Bool().Draw(t, "displaced")
		for j := range inst.Capacity {
			if n := quantity("held"); n > 0 && rapid.Bool().Draw(t, "there") {
				app.Previous = append(app.Previous, apportion.Placement{Server: j, Count: n})
			}
		}
		inst.Apps = append(inst.Apps, app)
	}
	return inst
}

// Nothing that has the types of an instance makes Solve panic: it is refused with an error, or answered, and
// then what is claimed to be a solution is one.
func TestSolveNeverPanics(t *testing.T) {
	answered := 0
	rapid.Check(t, func(t *rapid.T) {
		inst := wild(t)
		if rapid.Bool().Draw(t, "no minima") {
			for i := range inst.Apps {
				inst.Apps[i].Min = 0
			}
		}
		effort := rapid.SampledFrom([]Effort{1, 3, Quick, Default, 200, Thorough, Prove, math.MaxInt64}).Draw(t, "effort")
		// A descent looks once a round: many rounds are what lets numbers grow.
		looks := rapid.SampledFrom([]int{200, 2000}).Draw(t, "looks")
		sol, err := New(&Options{Effort: effort, Gap: -1}).Solve(instancetest.NewFuse(looks), inst)
		if err != nil {
			return
		}
		answered++
		mustHold(t, inst, sol)
	})
	t.Logf("%d answered", answered)
}

// Where no allocation holds the loss budget bounds fall for ever: every search ends with a proof, at any effort.
func TestNoLossToBeHad(t *testing.T) {
	inst := instancetest.Finish(&solver.Instance{
		Capacity: []apportion.Resources{{6, 11, 7}, {19, 14, 6}},
		Apps: []solver.App{
			{Demand: apportion.Resources{6, 7, 1}, Max: 2, Elective: true, Share: .56},
			{Demand: apportion.Resources{2, 2, 0}, Max: 8, PerServer: 2, Elective: true, Share: .32},
		},
	})
	for _, effort := range []Effort{1, Quick, Default, 200, Thorough, 10 * Thorough, Prove} {
		// The programs of small instances would tell before any descent falls.
		s := New(&Options{Effort: effort})
		if sol := s.answer(t.Context(), inst); sol.Status != solver.Infeasible {
			t.Errorf("effort %d: %v, bound %g", effort, sol.Status, sol.Bound)
		}
	}
}

// mustHold checks an answer: what is claimed to be a solution is one, and none is worth more than the bound says.
func mustHold(t *rapid.T, inst *solver.Instance, sol *solver.Solution) {
	if sol.Status.HasSolution() {
		if err := inst.Check(sol.Counts); err != nil {
			t.Fatal(err)
		}
	}
	if math.IsNaN(sol.Bound) || sol.Status.HasSolution() && sol.Bound < sol.Objective-1e-9*math.Abs(sol.Objective)-solver.ObjectiveTolerance {
		t.Fatalf("bound %g of %g", sol.Bound, sol.Objective)
	}
}
