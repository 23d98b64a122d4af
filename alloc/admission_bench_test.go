// This file measures what the limits of admission bring and cost, on crowded clusters.

package alloc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
)

// crowd draws a cluster of the family that is full: running applications hold up to their fewest containers and some
// more, others that held the rest have just finished, and as many newcomers ask for 1 to 8 containers.
func crowd(family alloctest.Family, seed uint64, servers, running, newcomers int) *Problem {
	inst, weights := family.Draw(seed, servers, running+newcomers, false)
	r := rand.New(rand.NewPCG(seed, 1))
	p := &Problem{Kinds: apportion.Kinds{"cpu", "gpu", "memory"}, Theta1: .1, Theta2: .1, Previous: Allocation{}}
	left := make([]apportion.Resources, servers)
	for j, capacity := range inst.Capacity {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: capacity})
		left[j] = capacity.Clone()
	}
	for i := range inst.Apps {
		app := Application{ID: fmt.Sprint("a", i), Weight: weights[i], Form: Form{Demand: inst.Apps[i].Demand, Min: 1 + r.Int64N(8)}}
		app.Max = max(app.Min, inst.Apps[i].Max)
		p.Applications = append(p.Applications, app)
	}
	// Everybody takes what it wants where it comes first, as a scheduler without a plan does.
	for i := range running {
		app := &p.Applications[i]
		n := app.Min + r.Int64N(4)
		for _, j := range r.Perm(servers) {
			for ; n > 0 && app.Demand.FitsIn(left[j]); n-- {
				if p.Previous[app.ID] == nil {
					p.Previous[app.ID] = make(map[string]int64)
				}
				p.Previous[app.ID][p.Servers[j].ID]++
				for k, d := range app.Demand {
					left[j][k] -= d
				}
			}
		}
		app.Min = max(1, min(app.Min, p.Previous.Containers(app.ID)))
	}
	return p
}

// withOptions lets half of the applications of a crowd run in other ways too, limits some of the newcomers by server, and has those
// of low priority make way.
func withOptions(p *Problem, seed uint64) *Problem {
	r := rand.New(rand.NewPCG(seed, 2))
	p.Options.Preempt = true
	for i := range p.Applications {
		app := &p.Applications[i]
		app.Priority, app.Preemptible = r.Int64N(3), r.IntN(2) == 0
		if p.Previous[app.ID] == nil && r.IntN(4) == 0 {
			app.PerServer, app.MaxServers = 1+r.Int64N(4), 1+r.Int64N(8)
		}
		if r.IntN(2) == 0 {
			continue
		}
		own := Option{ID: "own", Form: Form{Demand: app.Demand, Min: app.Min, Max: app.Max}}
		app.Options, app.Option = []Option{own}, own.ID
		for o := range 1 + r.IntN(2) {
			other := own
			other.ID, other.Demand = fmt.Sprint("other", o), own.Demand.Clone()
			k := r.IntN(len(p.Kinds))
			other.Demand[k] = max(1, other.Demand[k]/2)
			app.Options = append(app.Options, other)
		}
		app.Demand, app.Min, app.Max = nil, 0, 0
	}
	return p
}

// BenchmarkAdmissionOfAll is admission at 500 servers and 1,000 applications with all of these features at once.
func BenchmarkAdmissionOfAll(b *testing.B) {
	p := withOptions(crowd(alloctest.Families()[1], 0, 500, 700, 300), 0)
	refused := 0
	for b.Loop() {
		refused = len(resolve(p).admitAll(context.Background()).refused)
	}
	b.ReportMetric(float64(refused), "refused")
}

// crowds are the clusters on which the limits are judged: where pieces do not fit each other questions are asked, and
// where more run than are asked to make room that limit binds.
var crowds = []struct {
	family                      int
	servers, running, newcomers int
	draws                       uint64
	limits                      []limits
}{
	{1, 10, 15, 30, 10, []limits{{0, 256, 8}, {1, 256, 8}, {2, 256, 8}, {4, 256, 8}, {8, 256, 8}, {16, 256, 8}, {64, 256, 8}}},
	{1, 20, 30, 30, 10, []limits{{0, 256, 8}, {1, 256, 8}, {2, 256, 8}, {4, 256, 8}, {8, 256, 8}, {16, 256, 8}}},
	{1, 30, 60, 60, 4, []limits{{0, 256, 8}, {1, 256, 8}, {2, 256, 8}, {4, 256, 8}, {8, 256, 8}, {16, 256, 8}}},
	{0, 200, 1000, 400, 1, []limits{{0, 0, 8}, {0, 16, 8}, {0, 64, 8}, {0, 256, 8}, {0, 1024, 8}}},
	{1, 200, 1000, 400, 1, []limits{{0, 0, 8}, {0, 16, 8}, {0, 64, 8}, {0, 256, 8}, {0, 1024, 8}}},
	{2, 200, 1000, 800, 1, []limits{{0, 0, 8}, {0, 16, 8}, {0, 64, 8}, {0, 256, 8}, {0, 1024, 8}}},
}

// BenchmarkAdmission removes one limit of admission at a time, or makes it tighter: how many newcomers are taken in, and
// in what time.
func BenchmarkAdmission(b *testing.B) {
	for _, c := range crowds {
		family := alloctest.Families()[c.family]
		for _, l := range c.limits {
			b.Run(fmt.Sprintf("%s/servers=%d/running=%d/newcomers=%d/questions=%d/victims=%d", family.Name, c.servers, c.running, c.newcomers, l.questions, l.victims), func(b *testing.B) {
				newcomers := 0
				for b.Loop() {
					newcomers = 0
					for seed := range c.draws {
						r := resolve(crowd(family, seed, c.servers, c.running, c.newcomers))
						r.limits = l
						a := r.admitAll(context.Background())
						for i, in := range a.in {
							if in && !r.running(i) {
								newcomers++
							}
						}
					}
				}
				b.ReportMetric(float64(newcomers)/float64(c.draws), "admitted")
			})
		}
	}
}

// BenchmarkReservations is admission at 100 servers with nobody due, and with every tenth newcomer due and asking for 40 containers: what
// it costs to keep room.
func BenchmarkReservations(b *testing.B) {
	for _, due := range []bool{false, true} {
		b.Run(fmt.Sprint("due=", due), func(b *testing.B) {
			p := crowd(alloctest.Families()[1], 0, 100, 140, 60)
			for i := range p.Applications {
				if app := &p.Applications[i]; p.Previous[app.ID] == nil && i%10 == 0 {
					app.Min, app.Max = 40, 40
					if due {
						app.Passed = 10
					}
				}
			}
			kept := 0
			for b.Loop() {
				kept = len(resolve(p).admitAll(context.Background()).reserved)
			}
			b.ReportMetric(float64(kept), "reserved")
		})
	}
}

// BenchmarkOpenBound is the bound on all choices at 500 servers and 1,000 applications, beside building the instance.
func BenchmarkOpenBound(b *testing.B) {
	r := resolve(crowd(alloctest.Families()[1], 0, 500, 700, 300))
	m := &solver.Multipliers{Server: make([][]float64, len(r.capacity))}
	for j := range m.Server {
		m.Server[j] = []float64{1 / float64(r.total[0]), 0, 0}
	}
	a := &attempt{}
	b.Run("instance", func(b *testing.B) {
		for b.Loop() {
			r.openInstance()
		}
	})
	b.Run("bound", func(b *testing.B) {
		for b.Loop() {
			r.openBound(a, m)
		}
	})
	b.Run("decision", func(b *testing.B) {
		for b.Loop() {
			_, _ = Reallocate(context.Background(), r.given, embedded.New(&embedded.Options{Effort: embedded.Quick}))
		}
	})
}

// BenchmarkOffers is admission of gangs of high priority into full servers of 16 small jobs, by how many of these are tried in all sets
// on one server: how many gangs are in, and how many jobs had to be suspended for that.
func BenchmarkOffers(b *testing.B) {
	for _, offers := range []int{1, 4, 8, 12} {
		b.Run(fmt.Sprint("offers=", offers), func(b *testing.B) {
			var gangs, suspended int
			for b.Loop() {
				gangs, suspended = 0, 0
				for seed := range uint64(5) {
					r := resolve(small(seed))
					r.limits.offers = offers
					a := r.admitAll(context.Background())
					suspended += len(a.preempted)
					for i, in := range a.in {
						if in && !r.running(i) {
							gangs++
						}
					}
				}
			}
			b.ReportMetric(float64(gangs), "gangs")
			b.ReportMetric(float64(suspended), "suspended")
		})
	}
}

// small draws 10 servers of 16 GPUs that are full of preemptible jobs of 1 to 3, and gangs of 4 to 16 that come, on one server each.
func small(seed uint64) *Problem {
	r := rand.New(rand.NewPCG(seed, 3))
	p := &Problem{Kinds: apportion.Kinds{"gpu", "cpu"}, Theta1: .1, Theta2: .1, Previous: Allocation{}, Options: Options{Preempt: true}}
	for j := range 10 {
		server := apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{16, 64}}
		for left := server.Capacity.Clone(); left[0] > 0; {
			n := min(left[0], 1+r.Int64N(3))
			app := Application{ID: fmt.Sprint("j", len(p.Applications)), Weight: 1, Preemptible: true, Form: Form{Demand: apportion.Resources{n, min(left[1], n+r.Int64N(5*n))}, Min: 1, Max: 1}}
			p.Applications, p.Previous[app.ID] = append(p.Applications, app), map[string]int64{server.ID: 1}
			left[0], left[1] = left[0]-n, left[1]-app.Demand[1]
		}
		p.Servers = append(p.Servers, server)
	}
	for n := range 8 {
		size := 4 + r.Int64N(13)
		p.Applications = append(p.Applications, Application{ID: fmt.Sprint("gang", n), Weight: 1, Priority: 1, MaxServers: 1,
			Form: Form{Demand: apportion.Resources{1, 1 + r.Int64N(3)}, Min: size, Max: size}})
	}
	return p
}
