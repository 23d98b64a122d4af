// This file tests the parts of the search one by one, against their definitions.

package primaldual

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

func drawMarket(t *rapid.T) (*Ledger, apportion.Resources) {
	draw := fromRapid(t)
	cluster := size{slots: 1, servers: 5, kinds: 3, capacity: 9}.cluster(draw)
	bounds := boundsDraw(func(low, high int) int { return low }, cluster, nil)
	for r := range cluster.Kinds {
		bounds.LWorker[r], bounds.UWorker[r] = 1, float64(draw(2, 9))
		bounds.LPS[r], bounds.UPS[r] = 1, 5
	}
	l := must.Have(NewLedger(cluster, &bounds))(t)
	for h, server := range cluster.WorkerServers {
		taken := make(apportion.Resources, len(cluster.Kinds))
		for r, c := range server.Capacity {
			taken[r] = int64(draw(0, int(c)))
		}
		j := plainJob("j", 1)
		j.Worker, j.PS = taken, make(apportion.Resources, len(taken))
		must.Do(t, l.Commit(&j, Schedule{{Slot: 1, Workers: []apportion.Placement{{Server: h, Count: 1}}}}))
		if draw(0, 5) == 0 {
			must.Do(t, l.setDown(h, 1, true))
		}
	}
	demand := make(apportion.Resources, len(cluster.Kinds))
	for r := range demand {
		demand[r] = int64(draw(0, 3))
	}
	return l, demand
}

// The greedy takes servers in the order of a sort by cost and index, as many containers as fit.
func TestGreedyProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, vector := drawMarket(t)
		need := int64(rapid.IntRange(0, 12).Draw(t, "need"))
		var d demand
		d.set(&l.market, Workers, vector)
		state := l.slot(1)
		var want []pick
		for h := range l.cluster.WorkerServers {
			used, _ := l.Used(Workers, 1, h)
			prices, _ := l.Prices(Workers, 1, h)
			unit := 0.0
			left := l.cluster.WorkerServers[h].Capacity.Clone()
			for r, q := range vector {
				unit += prices[r] * float64(q)
				left[r] -= used[r]
			}
			count := vector.CountIn(left)
			if state.down != nil && state.down[h] {
				count = 0
			}
			if count > 0 {
				want = append(want, pick{h, count, unit})
			}
		}
		slices.SortStableFunc(want, func(a, b pick) int { return cmp.Compare(a.unit, b.unit) })
		var g greedy
		left := need
		got := g.fill(&l.market, state, &d, order{need, inf})
		for i, p := range got {
			expected := want[i]
			expected.count = min(expected.count, left)
			if p.server != expected.server || p.count != expected.count || math.Abs(p.unit-expected.unit) > 1e-12 {
				t.Fatalf("pick %d is %+v, want %+v", i, p, expected)
			}
			left -= p.count
		}
		if left > 0 && len(got) != len(want) {
			t.Fatalf("%d of %d left, %d of %d servers used", left, need, len(got), len(want))
		}
	})
}

// A budget ends the list early, and only with containers that cost it or more.
func TestGreedyBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, vector := drawMarket(t)
		budget := float64(rapid.IntRange(0, 40).Draw(t, "budget"))
		var d demand
		d.set(&l.market, Workers, vector)
		sums := func(budget float64) []float64 {
			var g greedy
			return g.sums(nil, &l.market, l.slot(1), &d, order{9, budget})
		}
		all, some := sums(inf), sums(budget)
		for n, cost := range some {
			must.Equal(t, cost, all[n], some, "is no part of", all)
		}
		if len(some) < len(all) && all[len(some)] < budget {
			t.Fatalf("budget %g: %v of %v", budget, some, all)
		}
	})
}

// The workers that a number of parameter servers serves, and the room for a job over several slots.
func TestRoomFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := fromRapid(t)
		j := plainJob("j", 1)
		j.WorkerBandwidth = int64(draw(1, 7))
		j.PSBandwidth = j.WorkerBandwidth + int64(draw(0, 20))
		j.Chunks = int64(draw(1, 12))
		capacity := int64(draw(1, 6))
		cluster, bounds := plainCluster(3, capacity)
		s := must.Have(NewScheduler(cluster, bounds, nil))(t)
		most := int64(0)
		for y := int64(0); y <= min(j.Chunks, 2*capacity); y++ {
			if j.PSFor(y) <= 2*capacity {
				most = y
			}
		}
		j.Worker, j.PS = vec{1}, vec{1}
		for work := int64(1); work <= 3*most+1; work++ {
			r := &request{job: &j, first: 1, work: work}
			r.set(&s.ledger.market)
			if got := r.roomFor(&s.ledger.market, 2); min(got, work) != min(3*most, work) {
				t.Fatalf("job %+v, %d workers a slot, work %d: room for %d", j, most, work, got)
			}
		}
		ps := int64(draw(0, 5))
		r := &request{job: &j}
		served := r.served(ps, 1000)
		if j.PSFor(served) > ps || served < 999 && j.PSFor(served+1) <= ps {
			t.Fatalf("job %+v: %d workers served by %d", j, served, ps)
		}
	})
}
