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
)

// day is a stream of events on a cluster: applications come and go, servers are lost, drained, and back.
type day struct {
	rand    *rand.Rand
	pool    []alloc.Application // those that come
	in      []string
	up      []string
	gone    []apportion.Server
	drained []string
	next    int
	byID    map[string]apportion.Server
}

func newDay(seed uint64, p *alloc.Problem) *day {
	d := &day{rand: rand.New(rand.NewPCG(seed, 7)), byID: make(map[string]apportion.Server)}
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
func (d *day) event() alloc.Change {
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

// One event through a Decider, beside the whole decision of the same cluster.
func BenchmarkEvent(b *testing.B) {
	for _, size := range []struct{ servers, apps int }{{1000, 500}, {10000, 5000}, {100000, 50000}} {
		b.Run(fmt.Sprintf("servers=%d/apps=%d", size.servers, size.apps), func(b *testing.B) {
			p := clusterOf(size.servers, size.apps)
			var d alloc.Decider
			began := time.Now()
			if _, err := d.Reallocate(context.Background(), p); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "fresh-ms")
			day := newDay(1, p)
			whole, gap, worst, changed := 0, 0.0, 0.0, 0
			var slowest time.Duration
			for b.Loop() {
				began := time.Now()
				e, err := d.Apply(context.Background(), day.event())
				if err != nil {
					b.Fatal(err)
				}
				slowest = max(slowest, time.Since(began))
				if e.Whole != "" {
					whole++
					b.Log(e.Whole)
				}
				gap, worst, changed = gap+e.Gap, max(worst, e.Gap), changed+len(e.Allocation)
			}
			b.ReportMetric(float64(whole), "whole")
			b.ReportMetric(100*gap/float64(b.N), "gap-%")
			b.ReportMetric(100*worst, "worst-gap-%")
			b.ReportMetric(float64(changed)/float64(b.N), "changed/op")
			b.ReportMetric(float64(slowest.Microseconds())/1000, "slowest-ms")
		})
	}
}
