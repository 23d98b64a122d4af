package solver_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// No solution of the whole program is above any bound, whatever the prices are.
func TestBoundsOfGeneral(t *testing.T) { checkBounds(t, solvertest.General) }

// Nor is one with worths by number, whatever their shape.
func TestBoundsOfWorth(t *testing.T) { checkBounds(t, solvertest.Worth) }

// Nor is one with losses by number.
func TestBoundsOfLoss(t *testing.T) { checkBounds(t, solvertest.Loss) }

// Nor is one below ceilings, whatever these cost.
func TestBoundsOfGrouped(t *testing.T) {
	checkBounds(t, func(seed uint64) *solver.Instance { return solvertest.Grouped(solvertest.Worth(seed), seed) })
}

// checkBounds compares the bounds of instances drawn by seed, at random prices, with the optimum.
func checkBounds(t *testing.T, draw func(seed uint64) *solver.Instance) {
	solved, tight := 0, 0
	for seed := range uint64(2000) {
		inst := draw(seed)
		if err := inst.Validate(); err != nil {
			t.Fatalf("%d: %v", seed, err)
		}
		best, _ := p2oracle.Best(inst)
		if best == nil {
			continue
		}
		solved++
		objective := inst.Objective(best)
		if limit := inst.Cap(); objective > limit+solver.ObjectiveTolerance {
			t.Errorf("%d: %g is above the cap %g", seed, objective, limit)
		}
		r := rand.New(rand.NewPCG(seed, 5))
		for range 3 {
			m, c := drawPrices(r, inst)
			for name, bound := range map[string]func() (float64, error){
				"DualBound": func() (float64, error) { return solver.DualBound(inst, m) },
				"CopyBound": func() (float64, error) { return solver.CopyBound(inst, c) },
			} {
				got, err := bound()
				if err != nil || got < objective-2*solver.ObjectiveTolerance*(1+m.Loss+c.Loss) {
					t.Errorf("%d: %s is %g, %v, and the optimum %g", seed, name, got, err, objective)
				}
				if got < objective+1e-6 {
					tight++
				}
			}
		}
	}
	if solved < 400 || tight < 100 {
		t.Errorf("only %d of the instances have a solution, and %d bounds are tight", solved, tight)
	}
}

// The numbers next to n are what a walk over all numbers finds.
func TestAllowedNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.Int64Range(0, 9)
		app := solver.App{Min: small.Draw(t, "min"), Step: rapid.Int64Range(0, 4).Draw(t, "step"), Elective: rapid.Bool().Draw(t, "elective")}
		app.Max = max(1, app.Min+small.Draw(t, "more"))
		if rapid.Bool().Draw(t, "listed") {
			app.Counts = rapid.SliceOfNDistinct(rapid.Int64Range(1, 20), 1, 6, rapid.ID[int64]).Draw(t, "counts")
			slices.Sort(app.Counts)
		}
		n := rapid.Int64Range(-2, 25).Draw(t, "n")
		below, above := int64(-1), int64(-1)
		for c := range int64(30) {
			if app.Allows(c) && c <= n {
				below = c
			}
			if app.Allows(c) && c >= n && above < 0 {
				above = c
			}
		}
		if got := app.AtMost(n); got != below {
			t.Fatalf("%+v: AtMost(%d) = %d, want %d", app, n, got, below)
		}
		if got := app.AtLeast(n); got != above {
			t.Fatalf("%+v: AtLeast(%d) = %d, want %d", app, n, got, above)
		}
	})
}

// The largest numbers do not overflow.
func TestAllowedNumbersOfAnySize(t *testing.T) {
	app := solver.App{Min: 1, Max: math.MaxInt64, Step: 4}
	if got := app.AtMost(math.MaxInt64); got != math.MaxInt64-3 {
		t.Errorf("AtMost = %d", got)
	}
	if got := app.AtLeast(math.MaxInt64 - 1); got != -1 {
		t.Errorf("AtLeast = %d", got)
	}
}
