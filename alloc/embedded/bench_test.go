package embedded

import (
	"fmt"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/p2"
)

// benchmark reports time, allocations, and how far bound and utilization are apart in percent.
func benchmark(b *testing.B, inst *p2.Instance) {
	b.ReportAllocs()
	var sol *p2.Solution
	for b.Loop() {
		sol = solve(b, nil, inst)
	}
	b.ReportMetric(100*sol.Gap(), "gap%")
}

func BenchmarkSolve(b *testing.B) {
	for _, ref := range alloctest.References() {
		b.Run("instance="+ref.Name, func(b *testing.B) {
			benchmark(b, ref.Instance)
		})
	}
}

// The paper's cluster, and how time grows from there.
func BenchmarkSize(b *testing.B) {
	mixes := []struct {
		name     string
		generate func(uint64, int, int, bool) *p2.Instance
	}{{"table2", alloctest.Table2}, {"mixed", alloctest.Mixed}}
	for _, mix := range mixes {
		for _, size := range [...][2]int{{20, 50}, {100, 100}, {1000, 500}} {
			for _, previous := range []bool{false, true} {
				name := fmt.Sprintf("mix=%s/servers=%d/apps=%d/previous=%v", mix.name, size[0], size[1], previous)
				b.Run(name, func(b *testing.B) {
					benchmark(b, mix.generate(1, size[0], size[1], previous))
				})
			}
		}
	}
}
