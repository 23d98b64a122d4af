package alloc_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/problemtest"
	"github.com/apportion/apportion/drf"
)

// table2 is the paper's cluster with n applications of Table II in turn; where previous is set, all but
// the last two hold one container already.
func table2(servers, n int, previous bool) *alloc.Problem {
	types := testbed().Applications
	p := &alloc.Problem{Kinds: apportion.Kinds{"cpu", "gpu", "memory"}, Theta1: .1, Theta2: .1, Previous: alloc.Allocation{}}
	for j := range servers {
		capacity := apportion.Resources{12, 0, 128}
		if j%4 == 0 {
			capacity[1] = 1
		}
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: capacity})
	}
	left := make([]apportion.Resources, servers)
	for j := range left {
		left[j] = p.Servers[j].Capacity.Clone()
	}
	for i := range n {
		app := types[[...]int{0, 1, 0, 1, 2, 0, 1, 0, 3, 1}[i%10]]
		app.ID = fmt.Sprint(app.ID, i)
		p.Applications = append(p.Applications, app)
		for step := 0; previous && i < n-2 && step < servers; step++ {
			j := (i + step) % servers
			if app.Demand.FitsIn(left[j]) {
				p.Previous[app.ID] = map[string]int64{p.Servers[j].ID: 1}
				for k, d := range app.Demand {
					left[j][k] -= d
				}
				break
			}
		}
	}
	return p
}

func BenchmarkReallocate(b *testing.B) {
	for _, size := range []struct{ servers, apps int }{{20, 30}, {20, 50}, {100, 100}} {
		for _, previous := range []bool{false, true} {
			b.Run(fmt.Sprintf("servers=%d/apps=%d/previous=%v", size.servers, size.apps, previous), func(b *testing.B) {
				p := table2(size.servers, size.apps, previous)
				b.ReportAllocs()
				for b.Loop() {
					d, err := alloc.Reallocate(context.Background(), p, nil)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(100*d.Gap, "gap-%")
				}
			})
		}
	}
}

// A whole decision and its explanation at the size of clusters, on empty ones and on full ones, of which the largest is played: how the cost grows.
func BenchmarkFrontDoor(b *testing.B) {
	for _, size := range []struct {
		servers, apps int
		full, shares  bool
	}{{1000, 500, false, false}, {8000, 4000, false, false}, {10000, 5000, false, false}, {10000, 5000, true, false}, {100000, 50000, false, false},
		{10000, 5000, false, true}, {10000, 5000, true, true}, {100000, 50000, true, false}} {
		b.Run(fmt.Sprintf("servers=%d/apps=%d/full=%v/shares=%v", size.servers, size.apps, size.full, size.shares), func(b *testing.B) {
			large := size.full && size.servers > 20000 // too many to be filled by hand
			p := problemtest.Draw(alloctest.Families()[0], 1, size.servers, size.apps, size.full && !large)
			if large {
				renew(b, p)
			}
			if size.shares {
				p.Theta1, p.Options.NoCeil15, p.Options.RestartCost = 0.1, false, nil
			}
			for b.Loop() {
				before := cpuTime(b)
				d, err := alloc.Reallocate(context.Background(), p, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(milliseconds(cpuTime(b)-before), "cpu-ms")
				began := time.Now()
				if _, err := alloc.Explain(p, d); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(time.Since(began).Milliseconds()), "explain-ms")
				b.ReportMetric(100*d.Gap, "gap-%")
			}
		})
	}
}

// renew decides p, and then has every tenth application gone and another one waiting in its place.
func renew(b *testing.B, p *alloc.Problem) {
	d, err := alloc.Reallocate(context.Background(), p, nil)
	if err != nil {
		b.Fatal(err)
	}
	others := problemtest.Draw(alloctest.Families()[0], 2, 100, len(p.Applications), false)
	p.Previous = d.Allocation
	for i := 3; i < len(p.Applications); i += 10 {
		delete(p.Previous, p.Applications[i].ID)
		p.Applications[i] = others.Applications[i]
		p.Applications[i].ID = fmt.Sprint("new", i)
	}
}

// The work around the solver alone: validation, shares by DRF, indices.
func BenchmarkInstance(b *testing.B) {
	for _, size := range []struct{ servers, apps int }{{20, 50}, {1000, 500}} {
		b.Run(fmt.Sprintf("servers=%d/apps=%d", size.servers, size.apps), func(b *testing.B) {
			p := table2(size.servers, size.apps, true)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := p.Instance(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The smallest decision; general solvers are in package mip's BenchmarkTiny.
func BenchmarkTiny(b *testing.B) {
	p := tiny(alloc.Allocation{"LR": {"s0": 2}, "MF": {"s0": 1, "s1": 2}}, "LR", "MF", "NN")
	b.Run("solver=embedded", func(b *testing.B) {
		for b.Loop() {
			if _, err := alloc.Reallocate(context.Background(), p, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// What the whole program costs beside the paper's: sorts of servers that applications require, steps, limits, and
// how full the cluster is.
func BenchmarkCluster(b *testing.B) {
	paper := func(p *alloc.Problem) { p.Options.Paper = true }
	zones := func(n int) func(*alloc.Problem) {
		return func(p *alloc.Problem) {
			for j := range p.Servers {
				p.Servers[j].Labels = map[string]string{"zone": fmt.Sprint(j % n)}
			}
			// Whoever runs stays where it may; one in four newcomers and residents is free to go anywhere.
			for i := range p.Applications {
				if p.Previous.Containers(p.Applications[i].ID) == 0 && i%4 > 0 {
					p.Applications[i].Requires = []apportion.Requirement{{Key: "zone", Op: apportion.In, Values: []string{fmt.Sprint(i % n)}}}
				}
			}
		}
	}
	limits := func(p *alloc.Problem) {
		for i := range p.Applications {
			switch app := &p.Applications[i]; i % 8 {
			case 0:
				app.Step = 2
			case 1:
				app.PerServer = 2
			case 2:
				app.Counts = []int64{1, 2, 4, 8, 16}
			}
		}
	}
	for _, c := range []struct {
		name     string
		apps     int
		previous bool
		change   func(*alloc.Problem)
	}{
		{"fresh/paper", 60, false, paper}, {"fresh/default", 60, false, func(*alloc.Problem) {}},
		{"fresh/zones=1", 60, false, zones(1)}, {"fresh/zones=5", 60, false, zones(5)}, {"fresh/zones=25", 60, false, zones(25)},
		{"fresh/limits", 60, false, limits}, {"fresh/apps=6", 6, false, zones(5)}, {"fresh/apps=30", 30, false, zones(5)},
		{"full/paper", 60, true, paper}, {"full/default", 60, true, func(*alloc.Problem) {}}, {"full/zones=5", 60, true, zones(5)},
		{"full/limits", 60, true, limits},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := problemtest.Draw(alloctest.Families()[1], 0, 50, c.apps, c.previous)
			c.change(p)
			for b.Loop() {
				d, err := alloc.Reallocate(context.Background(), p, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(100*d.Gap, "gap-%")
				b.ReportMetric(d.Objective, "utilization")
				b.ReportMetric(float64(len(d.Waiting)+len(d.Suspended)), "without")
			}
		})
	}
}

// queued puts the applications below so many queues in two levels, of which those of the lower one may have allowed times
// their part of the cluster; 0 stands for no ceilings.
func queued(p *alloc.Problem, queues int, allowed float64) {
	total := make(apportion.Resources, len(p.Kinds))
	for _, server := range p.Servers {
		for k, c := range server.Capacity {
			total[k] += c
		}
	}
	tops := max(1, queues/6)
	leaves := queues - tops
	for q := range queues {
		queue := drf.Queue{ID: fmt.Sprint("q", q), Weight: 1}
		if q >= tops {
			queue.Parent = fmt.Sprint("q", q%tops)
		}
		for _, c := range total {
			if q >= tops && allowed > 0 {
				queue.Ceiling = append(queue.Ceiling, int64(allowed*float64(c)/float64(leaves)))
			}
		}
		p.Queues = append(p.Queues, queue)
	}
	for i := range p.Applications {
		p.Applications[i].Queue = fmt.Sprint("q", tops+i%leaves)
	}
}

// What queues cost beside the flat problem: 30 of them in two levels, without ceilings, with some that allow a leaf four
// times its part of the cluster, and with some that allow it just that.
func BenchmarkQueues(b *testing.B) {
	for _, family := range alloctest.Families()[:2] {
		for _, previous := range []bool{false, true} {
			for _, c := range []struct {
				name   string
				change func(*alloc.Problem)
			}{
				{"flat", func(*alloc.Problem) {}}, {"free", func(p *alloc.Problem) { queued(p, 30, 0) }},
				{"loose", func(p *alloc.Problem) { queued(p, 30, 4) }}, {"tight", func(p *alloc.Problem) { queued(p, 30, 1) }},
			} {
				b.Run(fmt.Sprintf("%s/previous=%v/%s", family.Name, previous, c.name), func(b *testing.B) {
					p := problemtest.Draw(family, 0, 100, 100, previous)
					c.change(p)
					for b.Loop() {
						d, err := alloc.Reallocate(context.Background(), p, nil)
						if err != nil {
							b.Fatal(err)
						}
						b.ReportMetric(100*d.Gap, "gap-%")
						b.ReportMetric(d.Objective, "utilization")
						b.ReportMetric(float64(len(d.Waiting)+len(d.Suspended)), "without")
					}
				})
			}
		}
	}
}

// The same on six clusters of each size and number of queues: what all decisions below ceilings take together, in times
// of what the flat ones take, the worst of the six, and the mean gap.
func BenchmarkQueueCost(b *testing.B) {
	decide := func(p *alloc.Problem) (time.Duration, float64) {
		begin := time.Now()
		d, err := alloc.Reallocate(context.Background(), p, nil)
		if err != nil {
			b.Fatal(err)
		}
		return time.Since(begin), 100 * d.Gap
	}
	for _, c := range []struct{ size, queues int }{{100, 30}, {50, 30}, {200, 30}, {100, 10}, {100, 60}} {
		for _, family := range alloctest.Families()[:2] {
			for _, previous := range []bool{false, true} {
				for _, allowed := range []float64{4, 2, 1} {
					b.Run(fmt.Sprintf("size=%d/queues=%d/%s/previous=%v/allowed=%g", c.size, c.queues, family.Name, previous, allowed), func(b *testing.B) {
						for b.Loop() {
							var flat, below time.Duration
							var worst, gap float64
							const clusters = 6
							for seed := range uint64(clusters) {
								p := problemtest.Draw(family, seed, c.size, c.size, previous)
								alone, _ := decide(p)
								queued(p, c.queues, allowed)
								took, left := decide(p)
								flat, below = flat+alone, below+took
								worst, gap = max(worst, took.Seconds()/alone.Seconds()), gap+left/clusters
							}
							b.ReportMetric(below.Seconds()/flat.Seconds(), "times-flat")
							b.ReportMetric(worst, "worst")
							b.ReportMetric(below.Seconds()*1000/clusters, "ms")
							b.ReportMetric(gap, "gap-%")
						}
					})
				}
			}
		}
	}
}
