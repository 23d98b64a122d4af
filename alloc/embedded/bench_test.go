package embedded

import (
	"fmt"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
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
