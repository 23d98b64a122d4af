package embedded_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
)

var (
	worthSeeds   = flag.Int("worths", 10, "how many instances of each kind BenchmarkWorths looks at")
	worthPatient = flag.Duration("worthpatience", 10*time.Second, "how long HiGHS has for each of them")
)

// worthInstance draws an instance with worths by number, half of them with a budget for every adjustment.
func worthInstance(family string, seed uint64, servers, apps int, previous bool) *solver.Instance {
	draw := map[string]func(uint64, int, int, bool) *solver.Instance{"table2": alloctest.Table2, "mixed": alloctest.Mixed, "gpus": alloctest.GPUs}[family]
	inst := draw(seed, servers, apps, previous)
	alloctest.AddWorths(seed, inst)
	if seed/2%2 == 0 {
		inst.AdjustBudget = int64(apps)
	}
	inst.LossBudget *= 2
	return inst
}

// BenchmarkWorths compares the default effort with HiGHS on instances with worths by number, and prints a table; run it
// with
//
//	go test -run NONE -bench Worths -benchtime 1x -v ./alloc/embedded -worths 20
func BenchmarkWorths(b *testing.B) {
	for b.Loop() {
		for _, size := range [][2]int{{20, 30}, {100, 100}} {
			for _, family := range []string{"gpus", "table2", "mixed"} {
				for _, previous := range []bool{false, true} {
					compareWorths(b, family, size[0], size[1], previous)
				}
			}
		}
	}
}

// Where HiGHS proves an optimum with worths by number it is within the bound here, and hardly above the answer.
func TestWorthsAgainstHiGHS(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	compared, close := 0, 0
	for seed := range seeds {
		for _, family := range []string{"gpus", "table2", "mixed"} {
			inst := worthInstance(family, seed, 6, 10, seed%3 > 0)
			want, err := mip.New(ortools.HiGHS{}, mip.Disjunctive, &mip.Options{Search: milp.Options{RelativeGap: 1e-9}}).Solve(t.Context(), inst)
			if errors.Is(err, ortools.ErrUnavailable) {
				t.Skipf("NOT TESTED, OR-Tools is missing: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := embedded.New(nil).Solve(t.Context(), inst)
			if err != nil {
				t.Fatal(err)
			}
			if want.Status != solver.Optimal || !got.Status.HasSolution() {
				continue
			}
			compared++
			if got.Bound < want.Objective-1e-6 || got.Objective > want.Objective+1e-6 {
				t.Errorf("%s, seed %d: %g, at most %g; HiGHS proves %g", family, seed, got.Objective, got.Bound, want.Objective)
			}
			if got.Objective >= want.Objective-0.001*math.Abs(want.Objective) {
				close++
			}
			if certified, err := got.Certified(inst); err != nil || certified < want.Objective-1e-6 {
				t.Errorf("%s, seed %d: certified %g, %v; HiGHS proves %g", family, seed, certified, err, want.Objective)
			}
		}
	}
	if !testing.Short() && (compared < 8 || float64(close) < .9*float64(compared)) {
		t.Errorf("of %d instances %d are within a thousandth", compared, close)
	}
}

// compareWorths prints a row of the table: by how much the default effort falls short of the better of both answers,
// how far its bound is from its own, and how long it takes.
func compareWorths(b *testing.B, family string, servers, apps int, previous bool) {
	var short, gaps, millis []float64
	better := 0
	for seed := range uint64(*worthSeeds) {
		inst := worthInstance(family, seed, servers, apps, previous)
		start := time.Now()
		got, err := embedded.New(nil).Solve(b.Context(), inst)
		if err != nil {
			b.Fatal(err)
		}
		millis = append(millis, float64(time.Since(start).Microseconds())/1000)
		ctx, cancel := context.WithTimeout(b.Context(), *worthPatient)
		want, err := mip.New(ortools.HiGHS{}, mip.Disjunctive, &mip.Options{Search: milp.Options{RelativeGap: 1e-4}}).Solve(ctx, inst)
		cancel()
		if errors.Is(err, ortools.ErrUnavailable) {
			b.Skipf("NOT MEASURED, OR-Tools is missing: %v", err)
		}
		if err != nil {
			b.Fatal(err)
		}
		if !want.Status.HasSolution() && !got.Status.HasSolution() {
			continue
		}
		if !got.Status.HasSolution() {
			short = append(short, 1)
			continue
		}
		best := got.Objective
		if want.Status.HasSolution() && want.Objective > best {
			best = want.Objective
		} else {
			better++
		}
		if got.Bound < best-1e-6 {
			b.Errorf("%s, seed %d: bound %g, and %g can be had", family, seed, got.Bound, best)
		}
		short, gaps = append(short, (best-got.Objective)/math.Abs(best)), append(gaps, got.Gap())
	}
	within := 0
	for _, s := range short {
		if s <= 0.001 {
			within++
		}
	}
	b.Logf("%-22s within 0.1 %%: %d of %d, short median %.3f %% most %.3f %%, no worse %d, gap median %.3f %% most %.3f %%, ms median %.1f most %.1f",
		fmt.Sprintf("%s %dx%d %v", family, servers, apps, previous), within, len(short), 100*middle(short), 100*slices.Max(short), better,
		100*middle(gaps), 100*slices.Max(gaps), middle(millis), slices.Max(millis))
}

// middle returns the median, and sorts x.
func middle(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
