package ortools_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
)

// trivial returns a model of one variable that the engine can state.
func trivial(t testing.TB, e named) *milp.Model {
	b := milp.NewBuilder("")
	var x milp.Var
	if e.can(milp.CanInteger) {
		x = b.Integer(0, 9, "")
	} else {
		x = b.Continuous(0, 9, "")
	}
	b.AtMost("", []milp.Term{{Var: x, Coef: 2}}, 9)
	b.Maximize([]milp.Term{{Var: x, Coef: 1}}, 0)
	return build(t, b)
}

// BenchmarkCall is the overhead of one call after the first.
func BenchmarkCall(b *testing.B) {
	for _, e := range engines(b) {
		b.Run("engine="+e.name, func(b *testing.B) {
			model := trivial(b, e)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := milp.Solve(context.Background(), e.solver, model, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// resident returns the resident memory of this process in bytes.
func resident(t testing.TB) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// solveMany solves one small model after the other.
func solveMany(t testing.TB, e named, times int) {
	t.Helper()
	for k := range times {
		model := trivial(t, e)
		if e.can(milp.CanInteger) {
			model = knapsack(t, uint64(k))
		}
		if _, err := milp.Solve(context.Background(), e.solver, model, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// warm is how many solves it takes until the engines have all the memory that they keep.
const warm = 500

// TestMemory: thousands of solves leave no more behind than the first hundreds do.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("some ten seconds")
	}
	const solves, allowed = 2000, 8 << 20
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			solveMany(t, e, warm)
			before := resident(t)
			solveMany(t, e, solves)
			grown := resident(t) - before
			if grown > allowed {
				t.Errorf("%d bytes more after %d solves", grown, solves)
			}
			t.Logf("%.1f MB, %+.2f MB after %d solves", float64(before)/1e6, float64(grown)/1e6, solves)
		})
	}
}

// BenchmarkResident reports the resident memory before and after the solves of a run, which
// -benchtime=10000x makes ten thousand, and what each has left behind.
func BenchmarkResident(b *testing.B) {
	for _, e := range engines(b) {
		b.Run("engine="+e.name, func(b *testing.B) {
			solveMany(b, e, warm)
			before := resident(b)
			for b.Loop() {
				solveMany(b, e, 1)
			}
			after := resident(b)
			b.ReportMetric(float64(before)/1e6, "MB-before")
			b.ReportMetric(float64(after)/1e6, "MB-after")
			b.ReportMetric(float64(after-before)/float64(b.N), "B-left/solve")
		})
	}
}
