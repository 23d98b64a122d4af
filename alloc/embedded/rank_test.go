package embedded

import (
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/enumerate"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// Where the search proves the loss or the number of adjusted applications, enumeration finds no less; and with one kind
// and equal demands it proves the loss in most answers.
func TestRankOfSearch(t *testing.T) {
	equal, byLoss, byAdjusted := 0, 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 5))
		inst := instancetest.Tiny(func(least, most int64, name string) int64 {
			switch {
			case name == "kinds":
				return 1
			case name == "equal demand" && seed%4 > 0:
				return most
			}
			return least + r.Int64N(most-least+1)
		})
		p := problem.New(inst)
		if p.Impossible() {
			continue
		}
		run := newRun(p, &Options{Effort: Quick}, tuning.Standard())
		run.search(t.Context())
		sol := run.solution()
		exact := solve(t, nil, inst)
		if sol.Proven < solver.ByUtilization || exact.Proven != solver.ByOrder {
			continue
		}
		got, want := enumerate.RankOf(inst, sol.Counts), enumerate.RankOf(inst, exact.Counts)
		if sol.Proven >= solver.ByLoss && got.Loss > want.Loss+2*solver.LossTolerance {
			t.Errorf("seed %d: loss %g proven, but %g can be had", seed, got.Loss, want.Loss)
		}
		if sol.Proven >= solver.ByAdjusted && got.Adjusted > want.Adjusted {
			t.Errorf("seed %d: %d adjusted proven, but %d can be had", seed, got.Adjusted, want.Adjusted)
		}
		if len(p.Types) == 1 {
			equal++
			if sol.Proven >= solver.ByLoss {
				byLoss++
			}
			if sol.Proven >= solver.ByAdjusted {
				byAdjusted++
			}
		}
	}
	t.Logf("of %d with equal demands %d are proven by loss, %d of them by adjusted applications too", equal, byLoss, byAdjusted)
	if byLoss < equal/2 || byAdjusted < equal/4 {
		t.Errorf("of %d with equal demands %d are proven by loss, %d of them by adjusted applications too", equal, byLoss, byAdjusted)
	}
}

// With many equal applications, too many to enumerate, the least loss is proven all the same, and with a loss that
// could be less it is not.
func TestRankOfCrowd(t *testing.T) {
	inst := instancetest.Crowd(10, 12, 4, 1, 0.1)
	for i := range inst.Apps {
		inst.Apps[i].Max = 4
	}
	p := problem.New(instancetest.Finish(inst))
	run := newRun(p, &Options{Effort: Quick}, tuning.Standard())
	run.search(t.Context())
	sol := run.solution()
	if sol.Proven != solver.ByAdjusted {
		t.Fatalf("proven by %v", sol.Proven)
	}
	// The same number of containers, but the first have twice their shares, and the last half of them.
	for i := range inst.Apps {
		inst.Apps[i].Share = 0.05
	}
	run.p = problem.New(inst)
	sol.Counts, sol.Proven = nil, solver.ByUtilization
	for i := range inst.Apps {
		n := []int64{4, 4, 4, 4, 4, 4, 4, 4, 4, 2, 1, 1}[i]
		sol.Counts = append(sol.Counts, []apportion.Placement{{Server: i % 10, Count: n}})
	}
	if run.rank(sol); sol.Proven != solver.ByUtilization {
		t.Errorf("proven by %v with loss %g", sol.Proven, inst.FairnessLoss(sol.Counts))
	}
}

// What is proven of a given answer on two servers that hold 4 each.
func TestRankOfAnswer(t *testing.T) {
	at := func(server int, n int64) []apportion.Placement {
		return []apportion.Placement{{Server: server, Count: n}}
	}
	app := func(demand, most int64, share float64, held ...apportion.Placement) solver.App {
		return solver.App{Demand: apportion.Resources{demand}, Min: 1, Max: most, Share: share, Running: len(held) > 0, Cost: 1, Previous: held}
	}
	lost := app(1, 2, 0.25, apportion.Placement{Server: 0, Count: 2})
	lost.Displaced = true
	for name, c := range map[string]struct {
		apps   []solver.App
		counts solver.Counts
		want   solver.Rank
	}{
		"all have their shares":    {[]solver.App{app(1, 4, 0.5), app(1, 4, 0.5)}, solver.Counts{at(0, 4), at(1, 4)}, solver.ByAdjusted},
		"one moved for nothing":    {[]solver.App{app(1, 2, 0.25, at(0, 2)...)}, solver.Counts{at(1, 2)}, solver.ByLoss},
		"one that had to move":     {[]solver.App{lost}, solver.Counts{at(1, 2)}, solver.ByAdjusted},
		"two demands, fair":        {[]solver.App{app(1, 4, 0.25), app(2, 2, 0.25)}, solver.Counts{at(0, 2), at(1, 1)}, solver.ByAdjusted},
		"two demands, beyond fair": {[]solver.App{app(1, 4, 0.25), app(2, 2, 0.5)}, solver.Counts{at(0, 4), at(1, 2)}, solver.ByUtilization},
	} {
		inst := instancetest.Finish(&solver.Instance{Capacity: []apportion.Resources{{4}, {4}}, Apps: c.apps, LossBudget: 9, AdjustBudget: 1})
		if err := inst.Check(c.counts); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		run := newRun(problem.New(inst), &Options{Effort: Quick}, tuning.Standard())
		sol := &solver.Solution{Counts: c.counts, Objective: inst.Objective(c.counts), Proven: solver.ByUtilization}
		if run.rank(sol); sol.Proven != c.want {
			t.Errorf("%s: proven by %v, want %v", name, sol.Proven, c.want)
		}
	}
}
