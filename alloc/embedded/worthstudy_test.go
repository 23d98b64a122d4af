//go:build linux || darwin

package embedded_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"syscall"
	"testing"
	"time"

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

// BenchmarkWorths compares the default effort with HiGHS on instances with worths by number, and prints a table: how many
// are proven, how far answers and bounds are off, and processor time. Run it with
//
//	go test -run NONE -bench Worths -benchtime 1x -v ./alloc/embedded -worths 20
func BenchmarkWorths(b *testing.B) {
	for b.Loop() {
		for _, size := range [][2]int{{20, 30}, {100, 100}} {
			for _, family := range []string{"gpus", "options", "table2", "mixed"} {
				for _, previous := range []bool{false, true} {
					compareWorths(b, family, size[0], size[1], previous)
				}
			}
		}
	}
}

// compareWorths prints a row of the table: by how much the default effort falls short of the better of both answers,
// how far its bound is from its own, and how long it takes.
func compareWorths(b *testing.B, family string, servers, apps int, previous bool) {
	var short, gaps, millis []float64
	better, proven := 0, 0
	for seed := range uint64(*worthSeeds) {
		inst := worthInstance(family, seed, servers, apps, previous)
		before := spent(b)
		got, err := embedded.New(nil).Solve(b.Context(), inst)
		if err != nil {
			b.Fatal(err)
		}
		millis = append(millis, float64((spent(b)-before).Microseconds())/1000)
		if got.Status == solver.Optimal {
			proven++
		}
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
	b.Logf("%-22s proven %d, within 0.1 %%: %d of %d, short median %.3f %% most %.3f %%, no worse %d, gap median %.3f %% most %.3f %%, ms median %.1f most %.1f",
		fmt.Sprintf("%s %dx%d %v", family, servers, apps, previous), proven, within, len(short), 100*middle(short), 100*slices.Max(short), better,
		100*middle(gaps), 100*slices.Max(gaps), middle(millis), slices.Max(millis))
}

// middle returns the median, and sorts x.
func middle(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// spent returns the time that this process has had of the processors.
func spent(t testing.TB) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
