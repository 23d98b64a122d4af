//go:build unix

package embedded_test

import (
	"testing"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

// More effort never has an answer that is worth less, nor a looser bound, whatever features meet.
func TestMoreEffortIsNeverWorse(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 20
	}
	improved := 0
	for name, draw := range map[string]func(seed uint64) *solver.Instance{
		"medium":     solvertest.Medium,
		"worth":      solvertest.Worth,
		"loss":       solvertest.Loss,
		"ceilings":   func(seed uint64) *solver.Instance { return solvertest.Grouped(solvertest.Worth(seed), seed) },
		"options":    solvertest.Choices,
		"everything": solvertest.Everything,
		"unlike":     func(seed uint64) *solver.Instance { return instancetest.Unlike(seed, 6, 9, 3) },
	} {
		for seed := range seeds {
			inst := draw(seed)
			last := &solver.Solution{Bound: inst.Cap()}
			for _, effort := range [...]embedded.Effort{embedded.Quick, embedded.Default, 3 * embedded.Default} {
				s, err := embedded.New(&embedded.Options{Effort: effort}).Solve(t.Context(), inst)
				if err != nil {
					t.Fatal(err)
				}
				switch tolerance := solver.ObjectiveTolerance; {
				case last.Status.HasSolution() && (!s.Status.HasSolution() || s.Objective < last.Objective-tolerance):
					t.Errorf("%s %d: effort %d has %v worth %g, less effort had %g", name, seed, effort, s.Status, s.Objective, last.Objective)
				case s.Bound > last.Bound+tolerance:
					t.Errorf("%s %d: effort %d has the bound %g, less effort had %g", name, seed, effort, s.Bound, last.Bound)
				case s.Status.HasSolution() && (!last.Status.HasSolution() || s.Objective > last.Objective+tolerance):
					improved++
				}
				last = s
			}
		}
	}
	if improved == 0 {
		t.Error("no effort has improved anything")
	}
}

// Where a search with less effort finds nothing the one with more has nothing to take over: here the loss budget cannot be held.
func TestNothingFoundWithLessEffort(t *testing.T) {
	for seed := range uint64(4) {
		if _, err := alloc.Reallocate(t.Context(), binding("none", seed), nil); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
