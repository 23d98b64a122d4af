package embedded

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/enumerate"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

func solve(t rapid.TB, opts *Options, inst *solver.Instance) *solver.Solution {
	t.Helper()
	sol, err := New(opts).Solve(context.Background(), inst)
	if err != nil {
		t.Fatalf("Solve: %v", err)
	}
	return sol
}

// The whole answer agrees with the exhaustive twin, down to the order of x.
func TestAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		want, _ := p2oracle.Best(inst)
		sol := solve(t, &Options{Effort: 50}, inst)
		if want == nil {
			if sol.Status != solver.Infeasible || !math.IsInf(sol.Bound, -1) {
				t.Fatalf("status %v, bound %g; there is no solution", sol.Status, sol.Bound)
			}
			return
		}
		if sol.Status != solver.Optimal || sol.Proven != solver.ByOrder {
			t.Fatalf("status %v proven by %v, want optimal by order", sol.Status, sol.Proven)
		}
		if diff := cmp.Diff(want, sol.Counts); diff != "" {
			t.Fatalf("counts (-want +got):\n%s", diff)
		}
		checkBound(t, inst, sol, inst.Objective(want))
	})
}

// checkBound asserts that Bound and Multipliers are bounds, recomputed by other code.
func checkBound(t rapid.TB, inst *solver.Instance, sol *solver.Solution, attained float64) {
	t.Helper()
	if sol.Bound < attained-solver.ObjectiveTolerance {
		t.Fatalf("bound %.12g below %.12g, which is attained", sol.Bound, attained)
	}
	proved, err := sol.Certified(inst)
	if err != nil {
		t.Fatalf("multipliers: %v", err)
	}
	if proved < attained-solver.ObjectiveTolerance {
		t.Fatalf("multipliers prove %.12g, attained %.12g", proved, attained)
	}
	if !sol.Searched && proved > sol.Bound+1e-8 {
		t.Fatalf("multipliers prove %.12g, without a search the solution claims %.12g", proved, sol.Bound)
	}
}

// The search alone, without enumeration, gives solutions and bounds, and never calls a feasible
// instance infeasible.
func TestSearchAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		want, _ := p2oracle.Best(inst)
		p := problem.New(inst)
		if p.Impossible() {
			if want != nil {
				t.Fatalf("impossible, but %v is a solution", want)
			}
			return
		}
		r := newRun(p, &Options{Effort: 50, Seed: 1}, tuning.Standard())
		r.search(context.Background())
		sol := r.solution()
		if want == nil {
			if sol.Status != solver.Unknown {
				t.Fatalf("found %v where there is no solution", sol.Counts)
			}
			if !r.empty() {
				t.Fatalf("branch and bound does not see that there is no solution: %v, lost %g", r.tree, r.tree.Lost)
			}
			return
		}
		sol.Searched = searched(inst, sol)
		checkBound(t, inst, sol, inst.Objective(want))
		if sol.Status == solver.Optimal && sol.Objective < inst.Objective(want)-solver.ObjectiveTolerance {
			t.Fatalf("optimal with %g of %g", sol.Objective, inst.Objective(want))
		}
	})
}

// Prices say what one more unit of everything scarce is worth at most: solving again with it gives no
// more than the multipliers of the old answer prove, and for the fairness budget no more than its price.
func TestPricesAgainstResolving(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		before := solve(t, &Options{Effort: 50}, inst)
		if before.Status != solver.Optimal {
			t.Skip("no prices")
		}
		m := before.Multipliers
		old, err := solver.DualBound(inst, m)
		if err != nil {
			t.Fatal(err)
		}
		more := instancetest.Clone(inst)
		const extra = 0.25
		switch kind := rapid.IntRange(0, len(inst.Total)+1).Draw(t, "what"); kind {
		case len(inst.Total):
			more.LossBudget += extra
			old += m.Loss * extra
		case len(inst.Total) + 1:
			more.AdjustBudget++
			old = math.Inf(1)
		default: // values stay as they were: a unit of a larger cluster would be worth less
			more.Capacity[rapid.IntRange(0, len(inst.Capacity)-1).Draw(t, "server")][kind]++
			more.Total[kind]++
			old = math.Inf(1)
		}
		bound, err := solver.DualBound(more, m)
		if err != nil {
			t.Fatal(err)
		}
		after := solve(t, &Options{Effort: 50}, more)
		if after.Objective < before.Objective-solver.ObjectiveTolerance || after.Objective > math.Min(bound, old)+solver.ObjectiveTolerance {
			t.Fatalf("%g with more, %g before; the multipliers prove %g and %g", after.Objective, before.Objective, bound, old)
		}
	})
}

// damage does to a sound instance what happens to clusters: servers shrink, fail and come back
// empty, bounds and budgets change.
func damage(t *rapid.T, inst *solver.Instance) *solver.Instance {
	for j := range inst.Capacity {
		switch rapid.IntRange(0, 9).Draw(t, "server") {
		case 0:
			clear(inst.Capacity[j])
		case 1:
			for k := range inst.Capacity[j] {
				inst.Capacity[j][k] /= 2
			}
		}
	}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		switch rapid.IntRange(0, 19).Draw(t, "application") {
		case 0:
			app.Displaced = app.Running
		case 1:
			app.Min, app.Max = 0, max(1, app.Max/2)
		case 2:
			app.Min = min(app.Min+2, app.Max)
		case 3:
			app.Share = 0
		}
	}
	inst.AdjustBudget = rapid.SampledFrom([]int64{0, 1, 2, 4, 100}).Draw(t, "adjust budget")
	inst.LossBudget = rapid.SampledFrom([]float64{0.1, 0.5, 1, 2, 6}).Draw(t, "loss budget")
	return instancetest.Finish(inst)
}

// On damaged clusters of some size every answer passes the referee, its bound is recomputed, no
// other seed finds more than the bound, and none finds a solution where infeasibility was proven.
func TestDamagedClusters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		generate := rapid.SampledFrom([]func(uint64, int, int, bool) *solver.Instance{alloctest.Table2, alloctest.Mixed}).Draw(t, "mix")
		inst := damage(t, generate(rapid.Uint64Range(0, 100).Draw(t, "seed"), 8, 10, rapid.Bool().Draw(t, "previous")))
		first := solve(t, &Options{Effort: Quick}, inst)
		second := solve(t, &Options{Effort: Quick, Seed: 1}, inst)
		attained := math.Inf(-1)
		for _, sol := range []*solver.Solution{first, second} {
			if sol.Status.HasSolution() {
				attained = max(attained, sol.Objective)
			}
		}
		for _, sol := range []*solver.Solution{first, second} {
			if sol.Status == solver.Infeasible {
				if first.Status.HasSolution() || second.Status.HasSolution() {
					t.Fatalf("%v and %v", first.Status, second.Status)
				}
				continue
			}
			if sol.Status.HasSolution() {
				if err := inst.Check(sol.Counts); err != nil {
					t.Fatal(err)
				}
			}
			checkBound(t, inst, sol, attained)
		}
	})
}

// Another unit of measure changes nothing: all quantities of a kind times a power of two, up to
// the edge of int64.
func TestUnitsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		scaled := instancetest.Clone(inst)
		for k := range inst.Total {
			shift := rapid.IntRange(0, 58).Draw(t, "shift")
			for j := range scaled.Capacity {
				scaled.Capacity[j][k] <<= shift
			}
			for i := range scaled.Apps {
				scaled.Apps[i].Demand[k] <<= shift
			}
		}
		instancetest.Finish(scaled)
		want, got := solve(t, &Options{Effort: Quick}, inst), solve(t, &Options{Effort: Quick}, scaled)
		if diff := cmp.Diff(want.Counts, got.Counts); diff != "" || want.Status != got.Status || want.Bound != got.Bound {
			t.Fatalf("%v with bound %g, scaled %v with bound %g (-want +got):\n%s", want.Status, want.Bound, got.Status, got.Bound, diff)
		}
	})
}

// The order of servers and applications does not change what is proven: status and every level of
// the preference but the last.
func TestShuffled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		servers := rapid.Permutation(identity(len(inst.Capacity))).Draw(t, "servers")
		apps := rapid.Permutation(identity(len(inst.Apps))).Draw(t, "applications")
		shuffled := instancetest.Clone(inst)
		at := make([]int, len(servers)) // where server j went
		for to, from := range servers {
			shuffled.Capacity[to] = inst.Capacity[from]
			at[from] = to
		}
		for to, from := range apps {
			app := inst.Apps[from]
			app.Previous = nil
			for _, placed := range inst.Apps[from].Previous {
				app.Previous = append(app.Previous, apportion.Placement{Server: at[placed.Server], Count: placed.Count})
			}
			slices.SortFunc(app.Previous, func(a, b apportion.Placement) int { return a.Server - b.Server })
			shuffled.Apps[to] = app
		}
		want, got := solve(t, nil, inst), solve(t, nil, shuffled)
		if want.Status != got.Status {
			t.Fatalf("%v, shuffled %v", want.Status, got.Status)
		}
		if want.Status != solver.Optimal {
			return
		}
		a, b := enumerate.RankOf(inst, want.Counts), enumerate.RankOf(shuffled, got.Counts)
		if math.Abs(a.Objective-b.Objective) > solver.ObjectiveTolerance || math.Abs(a.Loss-b.Loss) > solver.LossTolerance || a.Adjusted != b.Adjusted || a.Moved != b.Moved {
			t.Fatalf("%+v, shuffled %+v", a, b)
		}
	})
}

func identity(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
