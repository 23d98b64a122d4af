package alloc_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/drf"
)

// workload is one of the three sorts that Kueue's large-scale performance test creates in every queue, from
// test/performance/scheduler/configs/large-scale/generator.yaml in kubernetes-sigs/kueue (f6517b0c): so many, one every interval, each with so many
// units for so long.
type workload struct {
	name              string
	count, request    int64
	interval, runtime int64 // milliseconds
	priority          int64
}

var workloads = []workload{{"small", 35, 1, 60, 150, 50}, {"medium", 11, 5, 300, 350, 100}, {"large", 4, 20, 700, 700, 200}}

// quota is that of a queue, borrowing what it may have beyond.
const quota, borrowing = 20, 100

// play is the test in virtual time: a decision whenever workloads are created or end.
type play struct {
	problem  *alloc.Problem
	decider  alloc.Decider
	coming   map[int64][]alloc.Application // by time
	ends     map[int64][]string            // by time
	runtime  map[string]int64
	since    map[string]int64 // when it was started last
	now      int64
	admitted int
	preempts int
}

func newPlay(queues int) *play {
	p := &play{coming: make(map[int64][]alloc.Application), ends: make(map[int64][]string), runtime: make(map[string]int64), since: make(map[string]int64)}
	all := int64(queues) * quota
	p.problem = &alloc.Problem{Kinds: apportion.Kinds{"unit"}, Theta1: 1, Theta2: 1, Previous: alloc.Allocation{}, Options: alloc.Options{Preempt: true},
		Servers: []apportion.Server{{ID: "all", Capacity: apportion.Resources{all}}}}
	for q := range queues {
		queue := fmt.Sprint("q", q)
		p.problem.Queues = append(p.problem.Queues, drf.Queue{ID: queue, Weight: 1, Guarantee: apportion.Resources{quota}, Ceiling: drf.Ceiling{quota + borrowing}})
		for _, w := range workloads {
			for n := range w.count {
				id := fmt.Sprint(queue, w.name, n)
				p.runtime[id] = w.runtime
				p.coming[n*w.interval] = append(p.coming[n*w.interval], alloc.Application{ID: id, Weight: 1, Queue: queue, Priority: w.priority, Preemptible: true,
					Form: alloc.Form{Demand: apportion.Resources{w.request}, Min: 1, Max: 1}})
			}
		}
	}
	return p
}

// step goes to the next time at which something happens, and decides; false: nothing more does.
func (p *play) step(b *testing.B) bool {
	next := int64(-1)
	for at := range p.coming {
		if next < 0 || at < next {
			next = at
		}
	}
	for at := range p.ends {
		if next < 0 || at < next {
			next = at
		}
	}
	if next < 0 {
		return false
	}
	p.now = next
	ended := make(map[string]bool)
	for _, id := range p.ends[next] {
		// One that was preempted since begins again, and ends later.
		if began, runs := p.since[id]; runs && began+p.runtime[id] == next {
			ended[id] = true
			delete(p.since, id)
			delete(p.problem.Previous, id)
		}
	}
	var apps []alloc.Application
	for _, a := range p.problem.Applications {
		if !ended[a.ID] {
			apps = append(apps, a)
		}
	}
	p.problem.Applications = append(apps, p.coming[next]...)
	delete(p.coming, next)
	delete(p.ends, next)
	d, err := p.decider.Reallocate(context.Background(), p.problem)
	if err != nil {
		b.Fatal(err)
	}
	p.problem.Previous = d.Allocation
	for id := range p.since {
		if d.Allocation[id] == nil {
			p.preempts++
			delete(p.since, id)
		}
	}
	for id := range d.Allocation {
		if _, runs := p.since[id]; !runs {
			p.since[id] = next
			p.admitted++
			p.ends[next+p.runtime[id]] = append(p.ends[next+p.runtime[id]], id)
		}
	}
	return true
}

// The workloads of Kueue's large-scale performance test, which takes its own scheduler 1,179 s in the mean, with the API server (kueue #11422):
// all decisions together, in time of the processor. The test has ten cohorts of 100 queues, which share nothing, so that each has a Decider of
// its own.
func BenchmarkKueue(b *testing.B) {
	for _, size := range []struct{ cohorts, queues int }{{1, 10}, {1, 100}, {10, 100}} {
		b.Run(fmt.Sprintf("queues=%d", size.cohorts*size.queues), func(b *testing.B) {
			for b.Loop() {
				began, decisions, admitted, preempts := cpuTime(b), 0, 0, 0
				var slowest time.Duration
				var virtual int64
				for range size.cohorts {
					p := newPlay(size.queues)
					for before := cpuTime(b); p.step(b); before = cpuTime(b) {
						decisions++
						slowest = max(slowest, cpuTime(b)-before)
					}
					admitted, preempts, virtual = admitted+p.admitted, preempts+p.preempts, max(virtual, p.now)
				}
				b.ReportMetric((cpuTime(b) - began).Seconds(), "cpu-s")
				b.ReportMetric(float64(decisions), "decisions")
				b.ReportMetric(slowest.Seconds(), "slowest-cpu-s")
				b.ReportMetric(float64(admitted), "admissions")
				b.ReportMetric(float64(preempts), "preemptions")
				b.ReportMetric(float64(virtual)/1000, "virtual-s")
			}
		})
	}
}
