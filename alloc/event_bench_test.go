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
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
)

// eventDay is a stream of events on a cluster: applications come and go, servers are lost, drained, and back.
type eventDay struct {
	rand    *rand.Rand
	pool    []alloc.Application // those that come
	in      []string
	up      []string
	gone    []apportion.Server
	drained []string
	next    int
	byID    map[string]apportion.Server
}

func newDay(seed uint64, p *alloc.Problem) *eventDay {
	d := &eventDay{rand: rand.New(rand.NewPCG(seed, 7)), byID: make(map[string]apportion.Server)}
	for _, a := range p.Applications {
		d.pool, d.in = append(d.pool, a), append(d.in, a.ID)
	}
	for _, s := range p.Servers {
		d.up = append(d.up, s.ID)
		d.byID[s.ID] = s
	}
	return d
}

// take draws an element out of a list.
func take[T any](r *rand.Rand, list *[]T) T {
	at := r.IntN(len(*list))
	x := (*list)[at]
	(*list)[at] = (*list)[len(*list)-1]
	*list = (*list)[:len(*list)-1]
	return x
}

// event draws the next one: 45 in 100 are arrivals, as many completions, 5 losses and drains, 5 servers that are back.
func (d *eventDay) event() alloc.Change {
	switch n := d.rand.IntN(100); {
	case n < 45:
		a := d.pool[d.rand.IntN(len(d.pool))]
		a.ID = fmt.Sprint("n", d.next)
		d.next++
		d.in = append(d.in, a.ID)
		return alloc.Change{Arrive: &a}
	case n < 90 && len(d.in) > 1:
		id := take(d.rand, &d.in)
		return alloc.Change{End: &id}
	case n < 93:
		id := take(d.rand, &d.up)
		d.gone = append(d.gone, d.byID[id])
		return alloc.Change{Lose: &id}
	case n < 95:
		id := take(d.rand, &d.up)
		d.drained = append(d.drained, id)
		return alloc.Change{Cordon: &id}
	case n < 98 && len(d.gone) > 0:
		s := take(d.rand, &d.gone)
		d.up = append(d.up, s.ID)
		return alloc.Change{Join: &s}
	case len(d.drained) > 0:
		id := take(d.rand, &d.drained)
		d.up = append(d.up, id)
		return alloc.Change{Uncordon: &id}
	}
	return d.event()
}

// clusterOf is a fresh cluster of the paper's kind with the budgets of a user.
func clusterOf(servers, apps int) *alloc.Problem {
	p := problemtest.Draw(alloctest.Families()[0], 1, servers, apps, false)
	p.Theta1, p.Options.NoCeil15, p.Options.RestartCost = 0.1, false, nil
	return p
}

// below puts the applications into so many queues of equal weights, of which half have a ceiling of half to all of an equal part of the
// cluster.
func below(p *alloc.Problem, queues int) {
	total := make(apportion.Resources, len(p.Kinds))
	for _, s := range p.Servers {
		for k, q := range s.Capacity {
			total[k] += q
		}
	}
	for q := range queues {
		queue := drf.Queue{ID: fmt.Sprint("q", q), Weight: 1}
		if q%2 == 0 {
			for _, all := range total {
				queue.Ceiling = append(queue.Ceiling, all*int64(queues+q)/int64(2*queues*queues))
			}
		}
		p.Queues = append(p.Queues, queue)
	}
	for i := range p.Applications {
		if queues > 0 {
			p.Applications[i].Queue = p.Queues[i%queues].ID
		}
	}
}

// One event through a Decider, beside the whole decision of the same cluster, in time of the processor.
func BenchmarkEvent(b *testing.B) {
	for _, size := range []struct {
		servers, apps int
		crowd         bool
		queues        int
	}{{1000, 500, false, 0}, {10000, 5000, false, 0}, {100000, 50000, false, 0}, {1000, 1500, true, 0}, {10000, 15000, true, 0}, {100000, 150000, true, 0},
		{1000, 500, false, 20}, {10000, 5000, false, 20}, {1000, 1500, true, 20}, {10000, 15000, true, 20}} {
		b.Run(fmt.Sprintf("servers=%d/apps=%d/crowded=%v/ceilings=%d", size.servers, size.apps, size.crowd, size.queues), func(b *testing.B) {
			p := clusterOf(size.servers, size.apps)
			below(p, size.queues)
			if size.crowd {
				crowded(rand.New(rand.NewPCG(1, 1)), p)
			}
			var d alloc.Decider
			if _, err := d.Reallocate(context.Background(), p); err != nil {
				b.Fatal(err)
			}
			stream, figures := newDay(1, p), eventFigures{}
			for b.Loop() {
				c := stream.event()
				figures.add(b, func() (*alloc.Event, error) { return d.Apply(context.Background(), c) })
			}
			figures.report(b)
			b.ReportMetric(float64(waiting(d.Snapshot().Problem)), "waiting")
			began := cpuTime(b)
			if _, err := alloc.Reallocate(context.Background(), d.Snapshot().Problem, nil); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(milliseconds(cpuTime(b)-began), "whole-cpu-ms")
		})
	}
}

// waiting counts the applications that have nothing.
func waiting(p *alloc.Problem) (n int) {
	for i := range p.Applications {
		if p.Previous.Containers(p.Applications[i].ID) == 0 {
			n++
		}
	}
	return n
}

// BenchmarkDay is 20,000 events on 10,000 servers. At some of them the whole is decided anew from the same state: by how much that is better,
// and whether it is within the bound of the event.
func BenchmarkDay(b *testing.B) {
	const events, looks = 20000, 10
	p := clusterOf(10000, 5000)
	for b.Loop() {
		var d alloc.Decider
		if _, err := d.Reallocate(context.Background(), p); err != nil {
			b.Fatal(err)
		}
		stream, figures, behind, most := newDay(1, p), eventFigures{}, 0.0, 0.0
		for n := range events {
			c := stream.event()
			look := n%(events/looks) == events/looks-1
			var next *alloc.Problem
			if look {
				var err error
				if next, err = d.Snapshot().Problem.After([]alloc.Change{c}, ""); err != nil {
					b.Fatal(err)
				}
			}
			e := figures.add(b, func() (*alloc.Event, error) { return d.Apply(context.Background(), c) })
			if look {
				anew, err := alloc.Reallocate(context.Background(), next, nil)
				if err != nil {
					b.Fatal(err)
				}
				if anew.Objective > e.Bound+solver.ObjectiveTolerance {
					b.Fatalf("anew %g, above the bound %g", anew.Objective, e.Bound)
				}
				by := (anew.Objective - e.Objective) / anew.Objective
				behind, most = behind+by/looks, max(most, by)
			}
		}
		figures.report(b)
		b.ReportMetric(100*behind, "behind-anew-%")
		b.ReportMetric(100*most, "most-behind-%")
	}
}

// eventFigures adds up what a stream of events took and gave.
type eventFigures struct {
	events, whole, changed int
	cpu, wholeCPU, slowest time.Duration
	gap, worst             float64
}

// add decides an event; those that were decided as a whole count by themselves.
func (f *eventFigures) add(b *testing.B, decide func() (*alloc.Event, error)) *alloc.Event {
	began := cpuTime(b)
	e, err := decide()
	took := cpuTime(b) - began
	if err != nil {
		b.Fatal(err)
	}
	f.events++
	f.gap, f.worst, f.changed = f.gap+e.Gap, max(f.worst, e.Gap), f.changed+len(e.Allocation)
	if e.Whole != "" {
		f.whole++
		f.wholeCPU += took
	} else {
		f.cpu += took
		f.slowest = max(f.slowest, took)
	}
	return e
}

func (f *eventFigures) report(b *testing.B) {
	alone := float64(f.events - f.whole)
	b.ReportMetric(milliseconds(f.cpu)/alone, "event-cpu-ms")
	b.ReportMetric(milliseconds(f.slowest), "slowest-cpu-ms")
	b.ReportMetric(float64(f.events), "events")
	b.ReportMetric(float64(f.whole), "whole")
	b.ReportMetric(100*f.gap/float64(f.events), "gap-%")
	b.ReportMetric(100*f.worst, "worst-gap-%")
	b.ReportMetric(float64(f.changed)/float64(f.events), "changed/event")
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
