//go:build unix

// This file measures in time of the processor, which a busy machine does not stretch.

package embedded

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
)

// cpuTime returns what this process has used so far.
func cpuTime(tb testing.TB) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// cpuLimit is a context that ends when the process has used so much.
type cpuLimit struct {
	context.Context
	tb  testing.TB
	end time.Duration
}

func (c *cpuLimit) Err() error {
	if cpuTime(c.tb) >= c.end {
		return context.DeadlineExceeded
	}
	return nil
}

// benchmarkCPU is benchmark, and reports the time of the processor too.
func benchmarkCPU(b *testing.B, inst *solver.Instance) {
	start := cpuTime(b)
	benchmark(b, nil, inst)
	b.ReportMetric(float64((cpuTime(b)-start).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// How long after the end of its context a decision comes: the longest of four contexts that end evenly over the time
// that it takes, or over the first four seconds of it.
func BenchmarkLate(b *testing.B) {
	const limits, most = 4, 4 * time.Second
	for _, size := range [...][2]int{{100, 100}, {2000, 2000}, {10_000, 5000}} {
		for _, mix := range instancetest.Generators[:3] {
			for _, previous := range []bool{false, true} {
				b.Run(fmt.Sprintf("mix=%s/servers=%d/apps=%d/previous=%v", mix.Name, size[0], size[1], previous), func(b *testing.B) {
					inst := mix.Generate(1, size[0], size[1], previous)
					// after decides within limit and returns the time that it took.
					after := func(limit time.Duration) time.Duration {
						start := cpuTime(b)
						if _, err := New(nil).Solve(&cpuLimit{b.Context(), b, start + limit}, inst); err != nil {
							b.Fatal(err)
						}
						return cpuTime(b) - start
					}
					var latest time.Duration
					for b.Loop() {
						whole := min(most, after(most))
						for n := range limits {
							limit := whole * time.Duration(n) / limits
							latest = max(latest, after(limit)-limit)
						}
					}
					b.ReportMetric(float64(latest.Microseconds())/1000, "late-ms")
				})
			}
		}
	}
}

// Clusters in which nothing is like anything else: few servers with many applications, many with few, and one.
func BenchmarkUnlike(b *testing.B) {
	for _, size := range [...][3]int{{7, 57, 6}, {18, 16, 6}, {125, 125, 6}, {1, 1000, 3}, {1, 1000, 6}} {
		b.Run(fmt.Sprintf("servers=%d/apps=%d/kinds=%d", size[0], size[1], size[2]), func(b *testing.B) {
			benchmarkCPU(b, instancetest.Unlike(1, size[0], size[1], size[2]))
		})
	}
}

// Clusters of which half of the jobs have just finished, up to 10,000 servers.
func BenchmarkHalf(b *testing.B) {
	for _, mix := range instancetest.Generators[:3] {
		for _, size := range [...][2]int{{100, 100}, {1000, 500}, {10_000, 5000}} {
			b.Run(fmt.Sprintf("mix=%s/servers=%d/apps=%d", mix.Name, size[0], size[1]), func(b *testing.B) {
				benchmarkCPU(b, instancetest.Half(mix.Generate(1, size[0], size[1], true)))
			})
		}
	}
}
