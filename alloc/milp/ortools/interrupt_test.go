//go:build linux || darwin

package ortools_test

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

// processorTime is what this process has used of all processors so far.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
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
