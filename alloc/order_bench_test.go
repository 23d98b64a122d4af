// This file measures what the order of asking costs, and what choosing brings, on an empty cluster and in streams, [Program §9]; and what the rules of
// who is let in cost beside the order of submission.

package alloc_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/problemtest"
	"github.com/apportion/apportion/drf"
)

// BenchmarkChoose plays streams of gangs of 5 to 40 GPUs on 12 servers of 8, of exponential lengths, with so many GPUs waiting as a part of the cluster:
// in a hundred of the GPUs what is used by the order and chosen, and by how many at most one was passed.
func BenchmarkChoose(b *testing.B) {
	for _, waiting := range []float64{3.6, 1.2} {
		for _, choose := range []bool{false, true} {
			b.Run(fmt.Sprintf("waiting=%g/choose=%v", waiting, choose), func(b *testing.B) {
				const streams, ends = 3, 250
				var used float64
				var took time.Duration
				for b.Loop() {
					used, took = 0, 0
					for seed := range uint64(streams) {
						began := cpuTime(b)
						used += gangs(b, seed, ends, waiting, choose) / streams
						took += cpuTime(b) - began
					}
				}
				b.ReportMetric(100*used, "used-%")
				b.ReportMetric(float64(took.Milliseconds())/(streams*ends), "cpu-ms/decision")
			})
		}
	}
}

// gangs plays one stream until so many have ended, and returns the part of the GPUs that was used. Exponential lengths have no memory, so that any of
// those that run is as likely to be the next to end, after a time that is the shorter the more run.
func gangs(b *testing.B, seed uint64, ends int, waiting float64, choose bool) float64 {
	r := rand.New(rand.NewPCG(seed, 9))
	p := cluster(12, 8)
	p.Options.Choose = choose
	var by alloc.Decider
	born, all, used := 0, 0.0, 0.0
	for range ends {
		queued := int64(0)
		for i := range p.Applications {
			if p.Previous[p.Applications[i].ID] == nil {
				queued += p.Applications[i].Min
			}
		}
		for float64(queued) < waiting*96 {
			born++
			n := 5 + r.Int64N(36)
			job(p, fmt.Sprint("g", born), n, n, 1)
			queued += n
		}
		d, err := by.Reallocate(b.Context(), p)
		if err != nil {
			b.Fatal(err)
		}
		p.Previous = d.Allocation
		var running []int
		busy := int64(0)
		for i := range p.Applications {
			if n := d.Allocation.Containers(p.Applications[i].ID); n > 0 {
				running, busy = append(running, i), busy+n
			}
		}
		lasts := r.ExpFloat64() / float64(len(running))
		all, used = all+lasts, used+lasts*float64(busy)/96
		i := running[r.IntN(len(running))]
		delete(p.Previous, p.Applications[i].ID)
		p.Applications = append(p.Applications[:i:i], p.Applications[i+1:]...)
	}
	return used / all
}

// BenchmarkOrder is a decision on 500 applications and 1,000 servers by submission, and with everything that says who is let in: 30 queues in two
// levels, guarantees, preemption by level, some that are due, and a choice.
func BenchmarkOrder(b *testing.B) {
	for _, previous := range []bool{false, true} {
		for _, c := range []struct {
			name   string
			change func(*alloc.Problem)
		}{
			{"submission", func(p *alloc.Problem) { p.Options.Order = alloc.BySubmission }},
			{"submission/queues", func(p *alloc.Problem) {
				queued(p, 30, 0)
				p.Options.Order = alloc.BySubmission
			}},
			{"fair/queues", func(p *alloc.Problem) { queued(p, 30, 0) }},
			{"fair/all", func(p *alloc.Problem) {
				queued(p, 30, 0)
				everything(p)
			}},
		} {
			b.Run(fmt.Sprintf("previous=%v/%s", previous, c.name), func(b *testing.B) {
				p := problemtest.Draw(alloctest.Families()[0], 0, 1000, 500, previous)
				c.change(p)
				began := cpuTime(b)
				for b.Loop() {
					if _, err := alloc.Reallocate(context.Background(), p, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((cpuTime(b)-began).Milliseconds())/float64(b.N), "cpu-ms")
			})
		}
	}
}

// everything turns on what there is of rules: guarantees of two thirds of an equal part, preemption, levels, choice, and each tenth that waits is due.
func everything(p *alloc.Problem) {
	total, leaves := make(apportion.Resources, len(p.Kinds)), int64(0)
	for _, server := range p.Servers {
		for k, q := range server.Capacity {
			total[k] += q
		}
	}
	parents := map[string]bool{}
	for _, q := range p.Queues {
		parents[q.Parent] = true
	}
	for _, q := range p.Queues {
		if !parents[q.ID] {
			leaves++
		}
	}
	for q := range p.Queues {
		if queue := &p.Queues[q]; !parents[queue.ID] {
			queue.Guarantee, queue.Ceiling = make(apportion.Resources, len(total)), drf.Ceiling(nil)
			for k := range total {
				queue.Guarantee[k] = total[k] * 2 / (3 * leaves)
			}
		}
	}
	p.Options.Preempt, p.Options.ReclaimLevel, p.Options.Choose = true, true, true
	for i := range p.Applications {
		app := &p.Applications[i]
		app.Preemptible = i%2 == 0
		if p.Previous[app.ID] == nil && i%10 == 0 {
			app.Passed = 2
		}
	}
}
