package alloc_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// tasks is an empty cluster of workers of 64 processors, and single tasks that ask for it: of some shapes, which need a number of processors
// and of units of memory, and of some priorities.
func tasks(workers, count, shapes, priorities int) *alloc.Problem {
	random := rand.New(rand.NewPCG(1, uint64(workers)))
	p := &alloc.Problem{Kinds: apportion.Kinds{"cpu", "memory"}, Theta1: 1, Theta2: 1}
	for j := range workers {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("w", j), Capacity: apportion.Resources{64, 256}})
	}
	demands := make([]apportion.Resources, shapes)
	for s := range demands {
		demands[s] = apportion.Resources{1 + random.Int64N(32), 1 + random.Int64N(128)}
	}
	for i := range count {
		p.Applications = append(p.Applications, alloc.Application{ID: fmt.Sprint("t", i), Weight: 1, Priority: int64(i % priorities),
			Form: alloc.Form{Demand: demands[random.IntN(shapes)], Min: 1, Max: 1}})
	}
	return p
}

// States of the sizes that are hard for HyperQueue's scheduler, which asks a solver of integer programs at each tick: many shapes on few
// workers, and many priorities. The tasks are drawn here.
func BenchmarkTasks(b *testing.B) {
	for _, c := range []struct{ workers, count, shapes, priorities int }{{20, 600, 60, 1}, {300, 6400, 60, 3200}} {
		b.Run(fmt.Sprintf("workers=%d/tasks=%d/shapes=%d/priorities=%d", c.workers, c.count, c.shapes, c.priorities), func(b *testing.B) {
			p := tasks(c.workers, c.count, c.shapes, c.priorities)
			var d *alloc.Decision
			began := cpuTime(b)
			for b.Loop() {
				var err error
				if d, err = alloc.Reallocate(context.Background(), p, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(milliseconds(cpuTime(b)-began)/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(len(d.Allocation)), "let-in")
			b.ReportMetric(d.Gap, "gap")
			b.ReportMetric(d.Metrics.ResourceUtilization/2, "used")
		})
	}
}
