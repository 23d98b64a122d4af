package embedded

import (
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
)

// exactlyFull draws twelve applications whose minima fill eight servers to the last unit: containers that use
// up to most of either kind, from per to per + 2 of them on a server.
func exactlyFull(seed uint64, most int64, per int) *solver.Instance {
	r := rand.New(rand.NewPCG(seed, 5))
	inst := &solver.Instance{LossBudget: 100}
	for range 12 {
		inst.Apps = append(inst.Apps, solver.App{Demand: apportion.Resources{1 + r.Int64N(most), 1 + r.Int64N(most)}, Share: 0.1})
	}
	for range 8 {
		capacity := apportion.Resources{0, 0}
		for range per + r.IntN(3) {
			app := &inst.Apps[r.IntN(len(inst.Apps))]
			app.Min++
			capacity[0] += app.Demand[0]
			capacity[1] += app.Demand[1]
		}
		inst.Capacity = append(inst.Capacity, capacity)
	}
	for i := range inst.Apps {
		inst.Apps[i].Max = max(1, inst.Apps[i].Min+int64(r.IntN(3)))
	}
	return instancetest.Finish(inst)
}

// What fills a cluster to the last unit is found, though hardly any search gets there.
func TestExactlyFull(t *testing.T) {
	for _, c := range []struct {
		most int64
		per  int
	}{{9, 4}, {20, 4}, {20, 7}, {60, 5}} {
		for seed := range uint64(3) {
			if sol := solve(t, nil, exactlyFull(seed, c.most, c.per)); sol.Status != solver.Optimal || sol.Objective < 2-solver.ObjectiveTolerance {
				t.Errorf("%+v, seed %d: %v with utilization %g", c, seed, sol.Status, sol.Objective)
			}
		}
	}
}

// One server that holds many applications is filled by few moves, each of which chooses thousands of
// placements; and what attains the cap of the utilization ends the search.
func TestOneServer(t *testing.T) {
	inst := &solver.Instance{LossBudget: 100, Capacity: []apportion.Resources{{4000, 5000, 6000}}}
	r := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		demand := apportion.Resources{1 + r.Int64N(5), 1 + r.Int64N(5), 1 + r.Int64N(9)}
		inst.Apps = append(inst.Apps, solver.App{Demand: demand, Min: 1, Max: 16})
	}
	const work = 400_000
	sol := solve(t, nil, instancetest.Finish(inst))
	if sol.Status != solver.Optimal || sol.Bound > inst.Cap()+solver.ObjectiveTolerance || sol.Effort > work {
		t.Errorf("%v with utilization %g of %g after %d steps", sol.Status, sol.Objective, sol.Bound, sol.Effort)
	}
}
