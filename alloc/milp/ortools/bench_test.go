package ortools_test

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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

// BenchmarkInterrupt ends the context in mid-search and reports how long the search went on.
func BenchmarkInterrupt(b *testing.B) {
	for _, e := range engines(b) {
		b.Run("engine="+e.name, func(b *testing.B) {
			model := hardFor(b, e)
			var took []time.Duration
			for b.Loop() {
				_, late := interrupt(b, e, model, time.Duration(50+7*(len(took)%50))*time.Millisecond)
				took = append(took, late)
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
			b.ReportMetric(took[len(took)-1].Seconds()*1e3, "max-ms")
		})
	}
}

// resident returns the resident memory of this process in bytes.
func resident(t *testing.T) int {
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

// TestMemory: thousands of solves leave no more behind than the first hundreds do.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("some ten seconds")
	}
	const warm, solves, allowed = 500, 2000, 8 << 20
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			solve := func(times int) {
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
			solve(warm)
			before := resident(t)
			solve(solves)
			grown := resident(t) - before
			if grown > allowed {
				t.Errorf("%d bytes more after %d solves", grown, solves)
			}
			t.Logf("%.1f MB, %+.2f MB after %d solves", float64(before)/1e6, float64(grown)/1e6, solves)
		})
	}
}
