package embedded

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// What the free applications may have beside the others is what the whole instance allows: the best of the remainder is a solution of
// the whole, and is better there by as much.
func TestRemainder(t *testing.T) {
	compared := 0
	for seed := range uint64(200) {
		inst := solvertest.Choices(seed)
		s, err := New(&Options{Effort: 1}).Solve(t.Context(), inst)
		if err != nil || !s.Status.HasSolution() {
			continue
		}
		p, r := &programmer{inst: inst, sol: s}, rand.New(rand.NewPCG(seed, 5))
		free := make([]bool, len(inst.Apps))
		for _, unit := range p.units() {
			chosen := r.IntN(2) == 0
			for _, i := range unit {
				free[i] = chosen
			}
		}
		rest, apps := remainder(inst, s.Counts, free)
		have, whole := make(solver.Counts, len(apps)), append(solver.Counts(nil), s.Counts...)
		for a, i := range apps {
			have[a] = s.Counts[i]
		}
		if err := rest.Check(have); err != nil {
			t.Fatalf("%d: what they have is no solution of the remainder: %v", seed, err)
		}
		// Both leave as much of either budget.
		if left, want := rest.AdjustBudget-rest.AdjustCost(have), inst.AdjustBudget-inst.AdjustCost(s.Counts); left != want {
			t.Errorf("%d: %d adjustments are left, want %d", seed, left, want)
		}
		if left, want := rest.LossBudget-rest.FairnessLoss(have), inst.LossBudget-inst.FairnessLoss(s.Counts); math.Abs(left-want) > 1e-9 {
			t.Errorf("%d: a loss of %g is left, want %g", seed, left, want)
		}
		best, _ := p2oracle.Best(rest)
		for a, i := range apps {
			whole[i] = best[a]
		}
		if err := inst.Check(whole); err != nil {
			t.Errorf("%d: the best of the remainder is no solution of the whole: %v", seed, err)
		}
		gain, inWhole := rest.Objective(best)-rest.Objective(have), inst.Objective(whole)-inst.Objective(s.Counts)
		if math.Abs(gain-inWhole) > 1e-9 {
			t.Errorf("%d: better by %g, in the whole by %g", seed, gain, inWhole)
		}
		compared++
	}
	if compared < 100 {
		t.Errorf("only %d instances had a solution", compared)
	}
}
