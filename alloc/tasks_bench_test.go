package alloc_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// tasks is an empty cluster of workers of 64 processors, and single tasks that ask for it: of some shapes, which need a number of processors
// and of units of memory, and of some priorities.
func tasks(seed uint64, workers, count, shapes, priorities int) *alloc.Problem {
	random := rand.New(rand.NewPCG(seed, uint64(workers)))
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

// taskStates is how many states BenchmarkTasks draws of each size.
const taskStates = 7

// States of the sizes that are hard for HyperQueue's scheduler, which asks a solver of integer programs at each tick: many shapes on few
// workers, and many priorities. The tasks are drawn here. A state that can be packed takes a fraction of one that cannot.
func BenchmarkTasks(b *testing.B) {
	for _, c := range []struct{ workers, count, shapes, priorities int }{{20, 600, 60, 1}, {300, 6400, 60, 3200}} {
		b.Run(fmt.Sprintf("workers=%d/tasks=%d/shapes=%d/priorities=%d", c.workers, c.count, c.shapes, c.priorities), func(b *testing.B) {
			var each []float64
			in, gap, used := 0, 0.0, 0.0
			for b.Loop() {
				each, in, gap, used = nil, 0, 0, 0
				for seed := range uint64(taskStates) {
					p, began := tasks(seed+1, c.workers, c.count, c.shapes, c.priorities), cpuTime(b)
					d, err := alloc.Reallocate(context.Background(), p, nil)
					if err != nil {
						b.Fatal(err)
					}
					each = append(each, milliseconds(cpuTime(b)-began))
					in, gap, used = in+len(d.Allocation), max(gap, d.Gap), used+d.Metrics.ResourceUtilization/2
				}
			}
			slices.Sort(each)
			b.ReportMetric(each[0], "least-ms")
			b.ReportMetric(each[taskStates/2], "median-ms")
			b.ReportMetric(each[taskStates-1], "longest-ms")
			b.ReportMetric(float64(in)/taskStates, "let-in")
			b.ReportMetric(gap, "worst-gap")
			b.ReportMetric(used/taskStates, "used")
		})
	}
}
