package embedded

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
)

// benchmark reports time, allocations, and how far bound and utilization are apart in percent.
func benchmark(b *testing.B, opts *Options, inst *solver.Instance) *solver.Solution {
	b.ReportAllocs()
	var sol *solver.Solution
	for b.Loop() {
		sol = solve(b, opts, inst)
	}
	b.ReportMetric(100*sol.Gap(), "gap%")
	return sol
}

// The reference instances at every effort: short% is by how much of the reference's utilization the
// answer falls short.
func BenchmarkSolve(b *testing.B) {
	efforts := []struct {
		name   string
		effort Effort
	}{{"quick", Quick}, {"default", Default}, {"thorough", Thorough}}
	for _, ref := range alloctest.References() {
		for _, e := range efforts {
			b.Run(fmt.Sprintf("instance=%s/effort=%s", ref.Name, e.name), func(b *testing.B) {
				sol := benchmark(b, &Options{Effort: e.effort}, ref.Instance)
				b.ReportMetric(100*(1-sol.Objective/ref.Objective), "short%")
			})
		}
	}
}

// The paper's cluster, and how time grows from there.
func BenchmarkSize(b *testing.B) {
	mixes := []struct {
		name     string
		generate func(uint64, int, int, bool) *solver.Instance
	}{{"table2", alloctest.Table2}, {"mixed", alloctest.Mixed}}
	for _, mix := range mixes {
		for _, size := range [...][2]int{{20, 50}, {100, 100}, {1000, 500}, {10_000, 5000}} {
			if mix.name == "mixed" && size[0] > 1000 {
				continue
			}
			for _, previous := range []bool{false, true} {
				name := fmt.Sprintf("mix=%s/servers=%d/apps=%d/previous=%v", mix.name, size[0], size[1], previous)
				b.Run(name, func(b *testing.B) {
					benchmark(b, nil, mix.generate(1, size[0], size[1], previous))
				})
			}
		}
	}
}

// Jobs that may use either of two kinds of accelerators, 16 options or more together: the mean over eight instances of the time
// of one, and of its gap.
func BenchmarkOptions(b *testing.B) {
	const seeds = 8
	for _, size := range [...][2]int{{20, 30}, {100, 100}} {
		for _, previous := range []bool{false, true} {
			b.Run(fmt.Sprintf("servers=%d/apps=%d/previous=%v", size[0], size[1], previous), func(b *testing.B) {
				b.ReportAllocs()
				gap, n := 0.0, uint64(0)
				for b.Loop() {
					sol := solve(b, nil, alloctest.Accelerators(n%seeds, size[0], size[1], previous))
					gap, n = gap+100*sol.Gap(), n+1
				}
				b.ReportMetric(gap/float64(n), "gap%")
			})
		}
	}
}

// How long after the end of its context a decision comes: the longest of eight contexts that end evenly over the time
// that it takes, or over the first ten seconds of it.
func BenchmarkLate(b *testing.B) {
	const limits, most = 8, 10 * time.Second
	for _, size := range [...][2]int{{100, 100}, {2000, 2000}, {10_000, 5000}} {
		for _, mix := range instancetest.Generators[:3] {
			for _, previous := range []bool{false, true} {
				b.Run(fmt.Sprintf("mix=%s/servers=%d/apps=%d/previous=%v", mix.Name, size[0], size[1], previous), func(b *testing.B) {
					inst := mix.Generate(1, size[0], size[1], previous)
					// after decides within limit and returns the time that it took.
					after := func(limit time.Duration) time.Duration {
						ctx, cancel := context.WithTimeout(b.Context(), limit)
						defer cancel()
						start := time.Now()
						if _, err := New(nil).Solve(ctx, inst); err != nil {
							b.Fatal(err)
						}
						return time.Since(start)
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
			benchmark(b, nil, instancetest.Unlike(1, size[0], size[1], size[2]))
		})
	}
}

// Clusters of which half of the jobs have just finished, up to 10,000 servers.
func BenchmarkHalf(b *testing.B) {
	for _, mix := range instancetest.Generators[:3] {
		for _, size := range [...][2]int{{100, 100}, {1000, 500}, {10_000, 5000}} {
			b.Run(fmt.Sprintf("mix=%s/servers=%d/apps=%d", mix.Name, size[0], size[1]), func(b *testing.B) {
				benchmark(b, nil, instancetest.Half(mix.Generate(1, size[0], size[1], true)))
			})
		}
	}
}
