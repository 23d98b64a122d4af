package solver_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

// dualTwin computes DualBound as its formula reads, by trying every number of containers and every set of
// those that leave. room_ij is found by trying every set of at most budget residents of a server.
func dualTwin(inst *solver.Instance, m *solver.Multipliers) float64 {
	stays := func(i int) bool {
		app := &inst.Apps[i]
		n := solver.Containers(app.Previous)
		ok := app.Running && !app.Displaced && app.Min <= n && n <= app.Max
		for _, p := range app.Previous {
			ok = ok && p.Count <= app.Demand.CountIn(inst.Capacity[p.Server])
		}
		return ok
	}
	total := m.Loss * (inst.LossBudget + solver.LossTolerance)
	budget := inst.AdjustBudget
	for j := range inst.Capacity {
		for k, c := range inst.Capacity[j] {
			total += m.Server[j][k] * float64(c)
		}
	}
	var gains []float64
	for i := range inst.Apps {
		if inst.Apps[i].Running && !stays(i) {
			budget--
		}
	}
	if budget < 0 {
		return math.Inf(-1)
	}
	for i := range inst.Apps {
		free := freeTwin(inst, m, i, budget, stays)
		if !stays(i) {
			total += free
			continue
		}
		app := &inst.Apps[i]
		keep := -m.Loss * app.Loss(solver.Containers(app.Previous))
		for _, p := range app.Previous {
			keep += float64(p.Count) * profitTwin(inst, m, i, p.Server)
		}
		total += keep
		gains = append(gains, free-keep)
	}
	best := 0.0
	for set := range 1 << len(gains) {
		sum, leaving := 0.0, int64(0)
		for g, gain := range gains {
			if set>>g&1 == 1 {
				sum, leaving = sum+gain, leaving+1
			}
		}
		if leaving <= budget {
			best = math.Max(best, sum)
		}
	}
	return total + best
}

// profitTwin is v_i - p_j d_i.
func profitTwin(inst *solver.Instance, m *solver.Multipliers, i, j int) float64 {
	profit := inst.Apps[i].Value
	for k, d := range inst.Apps[i].Demand {
		profit -= m.Server[j][k] * float64(d)
	}
	return profit
}

// freeTwin is free_i: every way to put up to room_ij containers on each server, up to the maximum.
func freeTwin(inst *solver.Instance, m *solver.Multipliers, i int, budget int64, stays func(int) bool) float64 {
	app := &inst.Apps[i]
	var walk func(j int, n int64, worth float64) float64
	walk = func(j int, n int64, worth float64) float64 {
		if j == len(inst.Capacity) {
			if n < app.Min || n > app.Max {
				return math.Inf(-1)
			}
			return worth - m.Loss*app.Loss(n)
		}
		best := math.Inf(-1)
		for c := range min(app.Max, roomTwin(inst, i, j, budget, stays)) + 1 {
			best = math.Max(best, walk(j+1, n+c, worth+float64(c)*profitTwin(inst, m, i, j)))
		}
		return best
	}
	return walk(0, 0, 0)
}

// roomTwin is room_ij: what is left in each kind when the budget's worth of residents that use most of it
// has left, kind by kind.
func roomTwin(inst *solver.Instance, i, j int, budget int64, stays func(int) bool) int64 {
	left := inst.Capacity[j].Clone()
	for k := range left {
		var uses []int64
		for a := range inst.Apps {
			for _, p := range inst.Apps[a].Previous {
				if p.Server == j && stays(a) {
					uses = append(uses, p.Count*inst.Apps[a].Demand[k])
				}
			}
		}
		least := int64(math.MaxInt64)
		for set := range 1 << len(uses) { // set: who leaves
			remains, leaving := int64(0), int64(0)
			for u, use := range uses {
				if set>>u&1 == 1 {
					leaving++
				} else {
					remains += use
				}
			}
			if leaving <= budget {
				least = min(least, remains)
			}
		}
		left[k] = max(0, left[k]-least)
	}
	return inst.Apps[i].Demand.CountIn(left)
}

// drawPrices draws prices of both bounds; a third of them are 0, some are large.
func drawPrices(r *rand.Rand, inst *solver.Instance) (*solver.Multipliers, *solver.CopyPrices) {
	price := func() float64 { return []float64{0, r.Float64() / 4, r.Float64() * 4}[r.IntN(3)] }
	m := &solver.Multipliers{Loss: price(), Server: make([][]float64, len(inst.Capacity))}
	for j := range m.Server {
		for range inst.Total {
			m.Server[j] = append(m.Server[j], price())
		}
	}
	for g := range inst.Groups {
		m.Group = append(m.Group, nil)
		for _, limit := range inst.Groups[g].Ceiling {
			nu := price()
			if limit == solver.NoLimit {
				nu = 0
			}
			m.Group[g] = append(m.Group[g], nu)
		}
	}
	c := &solver.CopyPrices{Loss: price(), Room: make([][]float64, len(inst.Apps))}
	for i := range inst.Apps {
		c.Container = append(c.Container, price()-price())
		for range inst.Apps[i].Previous {
			c.Room[i] = append(c.Room[i], price())
		}
	}
	return m, c
}

// near compares two bounds, infinite ones included.
func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(a))
}

// DualBound is its formula: sorting, steps and shortcuts change nothing.
func TestDualBoundAgainstFormula(t *testing.T) {
	finite := 0
	for seed := range uint64(2000) {
		inst := solvertest.Small(seed)
		m, _ := drawPrices(rand.New(rand.NewPCG(seed, 1)), inst)
		want := dualTwin(inst, m)
		if got, err := solver.DualBound(inst, m); err != nil || !near(got, want) {
			t.Errorf("Small(%d): DualBound %.12g, %v; the formula says %.12g", seed, got, err, want)
		}
		if !math.IsInf(want, 0) {
			finite++
		}
	}
	if finite < 500 {
		t.Errorf("%d finite bounds were compared", finite)
	}
}

// Applications in another order have the same bounds.
func TestBoundsIgnoreOrder(t *testing.T) {
	for seed := range uint64(1000) {
		inst := solvertest.Small(seed)
		m, c := drawPrices(rand.New(rand.NewPCG(seed, 1)), inst)
		turned := *inst
		turned.Apps = nil
		prices := &solver.CopyPrices{Loss: c.Loss}
		for i := len(inst.Apps) - 1; i >= 0; i-- {
			turned.Apps = append(turned.Apps, inst.Apps[i])
			prices.Container, prices.Room = append(prices.Container, c.Container[i]), append(prices.Room, c.Room[i])
		}
		dual, err := solver.DualBound(inst, m)
		dualBack, errBack := solver.DualBound(&turned, m)
		if err != nil || errBack != nil || !near(dual, dualBack) {
			t.Errorf("Small(%d): DualBound %.12g, %v; turned round %.12g, %v", seed, dual, err, dualBack, errBack)
		}
		copies, err := solver.CopyBound(inst, c)
		copiesBack, errBack := solver.CopyBound(&turned, prices)
		if err != nil || errBack != nil || !near(copies, copiesBack) {
			t.Errorf("Small(%d): CopyBound %.12g, %v; turned round %.12g, %v", seed, copies, err, copiesBack, errBack)
		}
	}
}
