// This file checks what must hold of every host, plan and packing.

package placement_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/growthoracle"
	"github.com/apportion/apportion/placement"
)

// TestPropRebalanceIsTheListing compares the plan without regard to room with the dumb search.
func TestPropRebalanceIsTheListing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		request := clusters.Draw(t, "cluster")
		plan := must.Have(placement.Rebalance(request, &placement.RebalanceOptions{IgnoreRoom: true}))(t)
		var containers []growthoracle.Container
		for _, c := range request.Containers {
			containers = append(containers, growthoracle.Container{ID: c.ID, Worker: c.Worker, Since: int64(c.Since), Moved: c.Rebalanced})
		}
		want := growthoracle.Rebalance(len(request.Free), containers)
		got := apply(t, request, plan, true)
		for i := range want {
			must.Equal(t, got.Containers[i].Worker, want[i].Worker, want[i].ID, "is on", "moves", moves(request.Containers, plan))
		}
	})
}

// apply carries a plan out and checks each transfer: it starts where the container is, moves it for
// the first time, finds room, and leaves the source at least as many as the target has then.
func apply(t *rapid.T, request placement.RebalanceRequest, plan placement.RebalancePlan, ignoreRoom bool) placement.RebalanceRequest {
	request.Containers = slices.Clone(request.Containers)
	request.Free = slices.Clone(request.Free)
	for w := range request.Free {
		request.Free[w] = request.Free[w].Clone()
	}
	sizes := make([]int, len(request.Free))
	for _, c := range request.Containers {
		sizes[c.Worker]++
	}
	for _, m := range plan.Transfers {
		c := &request.Containers[m.Container]
		if c.Worker != m.From || m.From == m.To || c.Rebalanced {
			t.Fatalf("%+v moves %+v", m, *c)
		}
		if !ignoreRoom && !c.Demand.FitsIn(request.Free[m.To]) {
			t.Fatalf("%+v does not fit in %v", *c, request.Free[m.To])
		}
		sizes[m.From]--
		sizes[m.To]++
		if sizes[m.From] < sizes[m.To] {
			t.Fatalf("%+v leaves %d and makes %d", m, sizes[m.From], sizes[m.To])
		}
		for k, q := range c.Demand {
			request.Free[m.From][k] += q
			request.Free[m.To][k] -= q
		}
		c.Worker, c.Rebalanced = m.To, true
	}
	return request
}

// TestPropRebalanceIsAFixedPoint checks that a plan, once carried out, leaves nothing to do.
func TestPropRebalanceIsAFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		request := clusters.Draw(t, "cluster")
		options := &placement.RebalanceOptions{Ceiling: rapid.Bool().Draw(t, "ceiling")}
		plan := must.Have(placement.Rebalance(request, options))(t)
		after := apply(t, request, plan, false)
		again, err := placement.Rebalance(after, options)
		if err != nil || len(again.Transfers) > 0 {
			t.Fatalf("again: %v, %v", moves(after.Containers, again), err)
		}
	})
}

// TestPropHost compares the host with what its definition asks of every worker.
func TestPropHost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		request := placement.HostRequest{Kinds: apportion.Kinds{"cpu", "gpu"}, Demand: resources(4).Draw(t, "demand"),
			Containers: rapid.Int64Range(1, 3).Draw(t, "gang")}
		small := rapid.Int64Range(0, 3)
		for i := range rapid.IntRange(1, 6).Draw(t, "workers") {
			request.Workers = append(request.Workers, placement.Worker{ID: string(rune('a' + i)), Free: resources(9).Draw(t, "free"),
				Usage:  float64(rapid.IntRange(0, 2).Draw(t, "usage")),
				Counts: placement.Counts{Progressing: small.Draw(t, "pc"), Watching: small.Draw(t, "wc"), Converged: small.Draw(t, "cc")}})
		}
		request.Current = rapid.IntRange(0, len(request.Workers)-1).Draw(t, "current")
		got := must.Have(placement.ChooseHost(request, nil))(t)
		score := func(w int) float64 {
			c := request.Workers[w].Counts
			return 2*float64(c.Progressing) + 1.5*float64(c.Watching) + float64(c.Converged)
		}
		lower, ties, preferred := false, 0, false
		for w, worker := range request.Workers {
			fits := true
			for k, q := range request.Demand {
				fits = fits && worker.Free[k]-q*request.Containers >= 0
			}
			lower = lower || score(w) < score(request.Current)
			if w != got.Worker && score(w) == score(got.Worker) {
				ties++
			}
			preferred = preferred || score(w) < score(got.Worker) ||
				score(w) == score(got.Worker) && worker.Usage < request.Workers[got.Worker].Usage
			switch {
			case w == got.Worker && w != request.Current && !fits:
				t.Fatalf("worker %d has no room", w)
			case fits && score(w) < score(got.Worker):
				t.Fatalf("worker %d has a smaller score than %d", w, got.Worker)
			case fits && w != got.Worker && got.Worker != request.Current && score(w) == score(got.Worker):
				if u := request.Workers[got.Worker].Usage; worker.Usage < u || worker.Usage == u && w < got.Worker {
					t.Fatalf("worker %d uses less than %d or comes first", w, got.Worker)
				}
			}
		}
		stays := got.Worker == request.Current
		if got.Decided != (!stays || !lower) || stays != (got.Reason == placement.Stays || got.Reason == placement.NoRoom) {
			t.Fatalf("%+v with a lower score somewhere: %v", got, lower)
		}
		if want := map[placement.HostReason]bool{
			placement.Stays: stays && !lower, placement.NoRoom: stays && lower, placement.LeastScore: !stays && !preferred && ties == 0,
			placement.LeastUsage: !stays && !preferred && ties > 0, placement.BestWithRoom: !stays && preferred,
		}; !want[got.Reason] {
			t.Fatalf("%v is not true of %+v, %d ties, preferred %v", got.Reason, got, ties, preferred)
		}
	})
}

// TestPropPack places gangs by each rule, checks every choice against the rule applied to one
// container at a time, and gives everything back.
func TestPropPack(t *testing.T) {
	rules := []placement.Rule{placement.FirstFit, placement.BestFit, placement.RoundRobin, placement.FewestFirst}
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SampledFrom(rules).Draw(t, "rule")
		input := packings.Draw(t, "packing")
		packer := must.Have(placement.NewPacker(rule, apportion.Kinds{"cpu", "gpu"}, input.bins))(t)
		twin := newTwin(rule, input.bins)
		type done struct {
			placed apportion.Placement
			demand apportion.Resources
		}
		var all []done
		for _, g := range input.gangs {
			placed, ok := packer.Place(g.demand, g.count, nil)
			want, wantOK := twin.place(g)
			var got []int
			for _, p := range placed {
				all = append(all, done{p, g.demand})
				for range p.Count {
					got = append(got, p.Server)
				}
			}
			if ok != wantOK || !slices.Equal(got, want) {
				t.Fatalf("%v of %v by %v: %v %v, want %v %v", g.count, g.demand, rule, got, ok, want, wantOK)
			}
			for j := range input.bins {
				if !packer.Free(j).Equal(twin.bins[j].Free) || slices.Min(packer.Free(j)) < 0 {
					t.Fatalf("server %d has %v, want %v", j, packer.Free(j), twin.bins[j].Free)
				}
			}
		}
		for _, d := range all {
			must.Do(t, packer.Release(d.placed.Server, d.demand, d.placed.Count))
		}
		for j, bin := range input.bins {
			if !packer.Free(j).Equal(bin.Free) {
				t.Fatalf("after all releases server %d has %v, had %v", j, packer.Free(j), bin.Free)
			}
		}
	})
}

// twin packs one container at a time by a key for each server; the least key wins.
type twin struct {
	rule  placement.Rule
	bins  []placement.Bin
	total [2]float64
	next  int
}

func newTwin(rule placement.Rule, bins []placement.Bin) *twin {
	w := &twin{rule: rule}
	for _, b := range bins {
		b.Free = b.Free.Clone()
		w.bins = append(w.bins, b)
		for k, q := range b.Free {
			w.total[k] += float64(q)
		}
	}
	return w
}

func (w *twin) key(j int, demand apportion.Resources) float64 {
	bin := w.bins[j]
	switch w.rule {
	case placement.BestFit:
		key := 0.0
		for k := range demand {
			if w.total[k] > 0 {
				key = max(key, float64(bin.Free[k]-demand[k])/w.total[k])
			}
		}
		return key
	case placement.RoundRobin:
		return float64((j - w.next + len(w.bins)) % len(w.bins))
	case placement.FewestFirst:
		return float64(bin.Containers)
	default:
		return float64(j)
	}
}

func (w *twin) place(g gang) (servers []int, ok bool) {
	before := *w
	before.bins = slices.Clone(w.bins)
	for range g.count {
		best := -1
		for j, bin := range w.bins {
			if g.demand.FitsIn(bin.Free) && (best < 0 || w.key(j, g.demand) < w.key(best, g.demand)-1e-12) {
				best = j
			}
		}
		if best < 0 {
			*w = before
			return nil, false
		}
		left := w.bins[best].Free.Clone()
		for k, q := range g.demand {
			left[k] -= q
		}
		w.bins[best].Free = left
		w.bins[best].Containers++
		w.next = (best + 1) % len(w.bins)
		servers = append(servers, best)
	}
	return servers, true
}

// TestDeterministic lists the containers in 50 orders: the same containers move to the same places.
func TestDeterministic(t *testing.T) {
	request := placement.RebalanceRequest{Now: 1000, Kinds: cpu, Free: free(4, 100)}
	for i := range 23 {
		request.Containers = append(request.Containers, placement.Active{ID: string(rune('a' + i)), Worker: 1 + i%7/3,
			Demand: apportion.Resources{int64(1 + i)}, Migrated: true, Since: 7})
	}
	var want []string
	for shuffle := range 50 {
		rng := rand.New(rand.NewPCG(uint64(shuffle), 3))
		rng.Shuffle(len(request.Containers), func(i, j int) {
			request.Containers[i], request.Containers[j] = request.Containers[j], request.Containers[i]
		})
		plan, err := placement.Rebalance(request, nil)
		if err != nil || len(plan.Transfers) == 0 {
			t.Fatal(plan, err)
		}
		got := moves(request.Containers, plan)
		if want == nil {
			want = got
		}
		must.Equal(t, cmp.Diff(want, got), "")
	}
}
