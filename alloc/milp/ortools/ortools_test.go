package ortools_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/milp/milptest"
	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/internal/must"
)

// requireVariable is the environment variable that, set to 1, makes the absence of the library a
// failure.
const requireVariable = "APPORTION_REQUIRE_ORTOOLS"

// named is one back-end of the package.
type named struct {
	name   string
	solver milp.Solver
}

func (n named) can(c milp.Capability) bool { return milp.Capabilities(n.solver)&c == c }

// engines returns every back-end, and skips the test loudly where there is no library.
func engines(t testing.TB) []named {
	t.Helper()
	all := []named{
		{"cp-sat", ortools.CPSAT{}}, {"highs", ortools.HiGHS{}}, {"scip", ortools.SCIP{}}, {"glop", ortools.GLOP{}},
	}
	model := knapsack(t, 0)
	for _, e := range all {
		if !e.can(model.Needs()) {
			continue
		}
		_, err := milp.Solve(context.Background(), e.solver, model, nil)
		switch {
		case err == nil:
		case errors.Is(err, ortools.ErrUnavailable) && os.Getenv(requireVariable) != "1":
			t.Skipf("NOT TESTED, OR-Tools is missing: %v", err)
		default:
			t.Fatal(err)
		}
	}
	return all
}

// knapsack returns a knapsack problem of 12 items, one for each seed.
func knapsack(t testing.TB, seed uint64) *milp.Model {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 12))
	b := milp.NewBuilder("")
	var weights, values []milp.Term
	for range 12 {
		x := b.Binary("")
		weights = append(weights, milp.Term{Var: x, Coef: float64(1 + random.IntN(30))})
		values = append(values, milp.Term{Var: x, Coef: float64(1 + random.IntN(30))})
	}
	b.AtMost("", weights, 60)
	b.Maximize(values, 0)
	return build(t, b)
}

func build(t testing.TB, b *milp.Builder) *milp.Model {
	t.Helper()
	model := must.Have(b.Build())(t)
	return model
}

func TestConformance(t *testing.T) {
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			milptest.Run(t, func(*testing.T) milp.Solver { return e.solver })
		})
	}
	t.Run("cp-sat deterministic", func(t *testing.T) {
		milptest.Run(t, func(*testing.T) milp.Solver { return ortools.CPSAT{Deterministic: true} })
	})
}

// hard returns a problem that keeps every engine busy for longer than any test waits: several
// knapsacks over the same items; without integers a large dense linear program.
func hard(t testing.TB, integer bool, size int) *milp.Model {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 5))
	b := milp.NewBuilder("")
	items := make([]milp.Var, size)
	var values []milp.Term
	for k := range items {
		if integer {
			items[k] = b.Binary("")
		} else {
			items[k] = b.Continuous(0, math.Inf(1), "")
		}
		values = append(values, milp.Term{Var: items[k], Coef: float64(100 + random.IntN(900))})
	}
	rows := size
	if integer {
		rows = 10
	}
	for range rows {
		var weights []milp.Term
		for _, x := range items {
			weights = append(weights, milp.Term{Var: x, Coef: float64(1 + random.IntN(1000))})
		}
		b.AtMost("", weights, float64(size*100))
	}
	b.Maximize(values, 0)
	return build(t, b)
}

// hardFor returns a hard problem that the engine can state.
func hardFor(t testing.TB, e named) *milp.Model {
	if e.can(milp.CanInteger) {
		return hard(t, true, 200)
	}
	return hard(t, false, 1200)
}

// windUp waits until no search goes on.
func windUp(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := ortools.WaitWindingUp(ctx); err != nil || ortools.WindingUp() != 0 {
		t.Fatalf("%d searches go on: %v", ortools.WindingUp(), err)
	}
}

// TestLeaving cancels searches of a model whose root takes long, and leaves while they are still being
// wound up: what comes back holds, and so does what the same engine finds afterwards.
func TestLeaving(t *testing.T) {
	model := must.Have(mip.BuildFor(ortools.HiGHS{}, reference(t, "table2_100x100_prev_0").Instance, mip.Verbatim))(t)
	all, small := engines(t), knapsack(t, 0)
	want := must.Have(milp.Solve(context.Background(), bb.Solver{}, small, nil))(t)
	for k := range 6 {
		ctx, cancel := context.WithCancel(context.Background())
		timer := time.AfterFunc(time.Duration(1+20*k)*time.Millisecond, cancel)
		got, err := milp.Solve(ctx, ortools.HiGHS{}, model.MILP, nil)
		if err != nil || got.Status != milp.Cancelled {
			t.Errorf("%v, %v", got.Status, err)
		}
		for _, e := range all[:3] {
			if got, err := milp.Solve(context.Background(), e.solver, small, nil); err != nil || got.Objective != want.Objective {
				t.Errorf("%s, with %d searches winding up: %+v, %v, want %v", e.name, ortools.WindingUp(), got, err, want.Objective)
			}
		}
		timer.Stop()
		cancel()
	}
	windUp(t)
}

// TestCancelledAtOnce calls the back-ends themselves, past the check of milp.Solve: a search that has
// hardly begun claims no bound that a known point refutes.
func TestCancelledAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	opts := milp.Options{
		RelativeGap: milp.DefaultRelativeGap, AbsoluteGap: milp.DefaultAbsoluteGap, Workers: 1,
		FeasibilityTolerance: milp.DefaultFeasibilityTolerance, IntegralityTolerance: milp.DefaultIntegralityTolerance,
	}
	for _, e := range engines(t) {
		model := hardFor(t, e)
		first := make([]float64, model.Variables())
		first[0] = 1
		must.Do(t, model.Verify(first, 0, 0))
		got, err := e.solver.Solve(ctx, model, &opts)
		if err != nil || got.Status != milp.Cancelled || got.Bound < model.Objective(first) {
			t.Errorf("%s: %v, bound %v, %v; a point is worth %v", e.name, got.Status, got.Bound, err, model.Objective(first))
		}
	}
}

// TestTimeLimit: a limit in the middle of a search gives a point and a bound.
func TestTimeLimit(t *testing.T) {
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			model := hardFor(t, e)
			start := time.Now()
			got := must.Have(milp.Solve(context.Background(), e.solver, model, &milp.Options{TimeLimit: 200 * time.Millisecond}))(t)
			if got.Status != milp.Feasible && got.Status != milp.LimitReached || got.Reason != "time limit" {
				t.Errorf("%v (%s)", got.Status, got.Reason)
			}
			if took := time.Since(start); took > milptest.Patience {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestTogether runs every engine many times at once, every other search cancelled.
func TestTogether(t *testing.T) {
	all := engines(t)
	want := map[uint64]float64{}
	for seed := range uint64(5) {
		got := must.Have(milp.Solve(context.Background(), ortools.HiGHS{}, knapsack(t, seed), nil))(t)
		want[seed] = got.Objective
	}
	busy := hard(t, true, 100)
	var group sync.WaitGroup
	for k := range 24 {
		e := all[k%3]
		model := knapsack(t, uint64(k%5))
		group.Go(func() {
			got, err := milp.Solve(context.Background(), e.solver, model, nil)
			if err != nil || got.Status != milp.Optimal || math.Abs(got.Objective-want[uint64(k%5)]) > 1e-6 {
				t.Errorf("%s: %+v, %v, want %v", e.name, got, err, want[uint64(k%5)])
			}
		})
		group.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(k)*5*time.Millisecond)
			defer cancel()
			if got, err := milp.Solve(ctx, e.solver, busy, nil); err != nil || got.Status != milp.Cancelled {
				t.Errorf("%s: %v, %v, want cancelled", e.name, got.Status, err)
			}
		})
	}
	group.Wait()
}

// TestDeterministic: the same model gives the same point and bound, also with two workers where
// that is promised.
func TestDeterministic(t *testing.T) {
	engines(t)
	model := knapsack(t, 3)
	for name, s := range map[string]struct {
		solver  milp.Solver
		workers int
	}{
		"cp-sat": {ortools.CPSAT{}, 1}, "cp-sat, 2 workers": {ortools.CPSAT{Deterministic: true}, 2},
		"highs": {ortools.HiGHS{}, 1}, "scip": {ortools.SCIP{}, 1},
	} {
		var first string
		for range 5 {
			got := must.Have(milp.Solve(context.Background(), s.solver, model, &milp.Options{Workers: s.workers}))(t)
			if text := fmt.Sprintf("%+v", got); first == "" {
				first = text
			} else if text != first {
				t.Errorf("%s: %s after %s", name, text, first)
			}
		}
	}
}
