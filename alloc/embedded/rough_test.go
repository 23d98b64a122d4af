package embedded

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
)

// rough draws an instance with what a cluster may come to: equal servers and such that are empty or gone,
// demands that are equal, or zero in some kinds, budgets from nothing to everything. Unless it is sound,
// also what no decision leaves behind: servers that hold more than they have, counts outside their
// bounds, shares out of reach.
func rough(t *rapid.T) *solver.Instance {
	kinds := rapid.IntRange(1, 4).Draw(t, "kinds")
	unit := rapid.SampledFrom([]int64{1, 1, 1, 7, 1 << 40}).Draw(t, "unit")
	sound := rapid.IntRange(0, 4).Draw(t, "sound") > 0
	vector := func(name string, most int64) apportion.Resources {
		r := make(apportion.Resources, kinds)
		for k := range r {
			r[k] = unit * max(0, rapid.Int64Range(-most/4, most).Draw(t, name))
		}
		return r
	}
	inst := &solver.Instance{
		LossBudget:   rapid.SampledFrom([]float64{0.5, 1, 2, 4, 20, 0}).Draw(t, "loss budget"),
		AdjustBudget: rapid.SampledFrom([]int64{1, 2, 3, 100, 0}).Draw(t, "adjust budget"),
	}
	var left []apportion.Resources
	servers := rapid.IntRange(1, 7).Draw(t, "servers")
	for j := range servers {
		if j > 0 && rapid.Bool().Draw(t, "equal server") {
			inst.Capacity = append(inst.Capacity, inst.Capacity[j-1].Clone())
		} else {
			inst.Capacity = append(inst.Capacity, vector("capacity", rapid.SampledFrom([]int64{12, 30, 8, 4, 0}).Draw(t, "size")))
		}
		left = append(left, inst.Capacity[j].Clone())
	}
	for i := range rapid.IntRange(0, 9).Draw(t, "applications") {
		app := solver.App{Min: rapid.Int64Range(0, 1).Draw(t, "min"), Share: rapid.Float64Range(0, 0.5).Draw(t, "share")}
		if app.Demand = vector("demand", 6); i > 0 && rapid.IntRange(0, 2).Draw(t, "equal demand") == 0 {
			app.Demand = inst.Apps[i-1].Demand.Clone()
		}
		if app.Demand.IsZero() {
			app.Demand[0] = unit
		}
		app.Max = max(1, app.Min+rapid.SampledFrom([]int64{0, 1, 5, 100, math.MaxInt32}).Draw(t, "more"))
		app.Cost = 1
		if app.Running = rapid.IntRange(0, 3).Draw(t, "running") > 0; app.Running {
			app.Displaced = rapid.IntRange(0, 9).Draw(t, "displaced") == 9
			for j := range servers {
				n := rapid.Int64Range(-2, 3).Draw(t, "held")
				if sound {
					n = min(n, app.Demand.CountIn(left[j]), app.Max-solver.Containers(app.Previous))
				}
				if n > 0 {
					app.Previous = append(app.Previous, apportion.Placement{Server: j, Count: n})
					for k, q := range app.Demand {
						left[j][k] = max(0, left[j][k]-n*q)
					}
				}
			}
			app.Cost = 1
			if app.Running = len(app.Previous) > 0 || !sound; sound && app.Running {
				app.Min = min(app.Min, solver.Containers(app.Previous))
			}
		}
		if !sound {
			app.Min, app.Share = min(app.Max, 3*app.Min), 3*app.Share
		}
		inst.Apps = append(inst.Apps, app)
	}
	return instancetest.Finish(inst)
}

// Whatever the instance, no effort panics, every answer is a solution with a bound that others cannot
// exceed, what one proves no other contradicts, and the same call gives the same answer.
func TestRoughInstances(t *testing.T) {
	var met [solver.Infeasible + 1]int
	rapid.Check(t, func(t *rapid.T) {
		inst := rough(t)
		before := instancetest.Clone(inst)
		efforts := []*Options{
			{Effort: 1},
			{Effort: 5, Gap: rapid.SampledFrom([]float64{0, 0.01, 1}).Draw(t, "gap"), Seed: rapid.Uint64().Draw(t, "seed")},
			{Effort: 30},
		}
		var sols []*solver.Solution
		best := math.Inf(-1)
		for _, opts := range efforts {
			sol := solve(t, opts, inst)
			if again := solve(t, opts, inst); !cmp.Equal(sol, again) {
				t.Fatalf("effort %d twice:\n%s", opts.Effort, cmp.Diff(sol, again))
			}
			if sol.Status.HasSolution() {
				if err := inst.Check(sol.Counts); err != nil {
					t.Fatalf("effort %d: %v", opts.Effort, err)
				}
				best = math.Max(best, sol.Objective)
				efforts[len(efforts)-1].Warm = WarmFrom(inst, sol)
			}
			sols = append(sols, sol)
			met[sol.Status]++
		}
		if !cmp.Equal(before, inst) {
			t.Fatalf("changed its input:\n%s", cmp.Diff(before, inst))
		}
		for e, sol := range sols {
			switch {
			case math.IsInf(best, -1):
				continue
			case sol.Status == solver.Infeasible:
				t.Fatalf("effort %d: infeasible, but %g is attained", efforts[e].Effort, best)
			case sol.Status == solver.Optimal && sol.Objective < best-2*solver.ObjectiveTolerance:
				t.Fatalf("effort %d: optimal with %.12g, but %.12g is attained", efforts[e].Effort, sol.Objective, best)
			}
			checkBound(t, inst, sol, best)
		}
	})
	t.Logf("answers: %d unknown, %d feasible, %d optimal, %d infeasible", met[solver.Unknown], met[solver.Feasible], met[solver.Optimal], met[solver.Infeasible])
}
