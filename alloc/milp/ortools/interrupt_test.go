//go:build linux || darwin

package ortools_test

import (
	"context"
	"math"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/milptest"
	"github.com/apportion/apportion/internal/must"
)

// processorTime is what this process has used of all processors so far.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	must.Do(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// interrupted is what an interrupted search came to: the answer, and how long and how much processor time
// it took after the end of the context.
type interrupted struct {
	milp.Solution
	took, worked time.Duration
}

// interrupt cancels a search after a while, and waits until it is wound up.
func interrupt(t testing.TB, e named, model *milp.Model, after time.Duration) interrupted {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var cancelled time.Time
	var worked time.Duration
	timer := time.AfterFunc(after, func() {
		cancelled, worked = time.Now(), processorTime(t)
		cancel()
	})
	defer timer.Stop()
	got := must.Have(milp.Solve(ctx, e.solver, model, nil))(t)
	if got.Status != milp.Cancelled {
		t.Fatalf("%s: %v (%s) after %v, want cancelled", e.name, got.Status, got.Reason, after)
	}
	result := interrupted{got, time.Since(cancelled), processorTime(t) - worked}
	windUp(t)
	return result
}

// TestInterrupt stops every engine at several moments of a search: it returns soon, with what it
// has and a bound that no other bound or point of the same model contradicts.
func TestInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("some ten seconds")
	}
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			model := hardFor(t, e)
			best, bound := math.Inf(-1), math.Inf(1)
			var took []time.Duration
			unknown := func() bool { return e.can(milp.CanInteger) && (math.IsInf(best, 0) || math.IsInf(bound, 0)) }
			// A busy machine takes longer to an answer and a bound.
			after := time.Millisecond
			for k := 0; k < 10 || unknown() && after < 10*time.Second; k++ {
				got := interrupt(t, e, model, after)
				after += max(30*time.Millisecond, time.Duration(k/10)*after)
				took = append(took, got.took)
				bound = math.Min(bound, got.Bound)
				if got.HasSolution() {
					best = math.Max(best, got.Objective)
				}
			}
			if best > bound*(1+1e-9) {
				t.Errorf("objective %v beats bound %v", best, bound)
			}
			if unknown() {
				t.Errorf("objective %v and bound %v after %v", best, bound, after)
			}
			if latest := slices.Max(took); latest > milptest.Patience {
				t.Errorf("returned %v after the end of the context", latest)
			}
			t.Logf("objective %v, bound %v, returned after %v", best, bound, took)
		})
	}
}

// BenchmarkInterrupt ends the context in mid-search and reports how long the call went on, and how much
// processor time it took meanwhile: on a machine with nothing else to do that is the same.
func BenchmarkInterrupt(b *testing.B) {
	for _, e := range engines(b) {
		b.Run("engine="+e.name, func(b *testing.B) {
			model := hardFor(b, e)
			var took, worked []time.Duration
			for b.Loop() {
				late := interrupt(b, e, model, time.Duration(50+7*(len(took)%50))*time.Millisecond)
				took, worked = append(took, late.took), append(worked, late.worked)
			}
			for name, all := range map[string][]time.Duration{"": took, "cpu-": worked} {
				slices.Sort(all)
				b.ReportMetric(all[len(all)/2].Seconds()*1e3, name+"p50-ms")
				b.ReportMetric(all[len(all)-1].Seconds()*1e3, name+"max-ms")
			}
		})
	}
}
