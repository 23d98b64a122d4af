package embedded

import (
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/counting"
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
		if counting.Conflict(p) != nil {
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
	inst := instancetest.Crowd(10, 12, 4, 1, 0.05)
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
	// The same number of containers, but the first has all that it may have and the last one only.
	sol.Counts, sol.Proven = nil, solver.ByUtilization
	for i := range inst.Apps {
		n := []int64{4, 4, 4, 4, 4, 4, 4, 4, 4, 2, 1, 1}[i]
		sol.Counts = append(sol.Counts, []apportion.Placement{{Server: i % 10, Count: n}})
	}
	if run.rank(sol); sol.Proven != solver.ByUtilization {
		t.Errorf("proven by %v with loss %g", sol.Proven, inst.FairnessLoss(sol.Counts))
	}
}
