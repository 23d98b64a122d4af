package search

import (
	"math"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// tearable is two servers of four with one application of up to eight, which loses a container for each server beyond the fewest.
func tearable() *Annealer {
	inst := &solver.Instance{Capacity: []apportion.Resources{{4}, {4}}, Total: apportion.Resources{8}, LossBudget: 2, Apps: []solver.App{{
		Demand: apportion.Resources{1}, Max: 8, Value: .125, Delta: .125, Share: 1,
		Spread: &solver.Spread{Part: .1, Least: .125, Rooms: []solver.Rooms{{Containers: 4, Servers: 2}}},
	}}}
	return New(NewState(problem.New(inst)), 1, tuning.Standard())
}

// A container on a server more is worth less by what that costs, and on one that is needed as much as any.
func TestMarginOnServers(t *testing.T) {
	a := tearable()
	for _, c := range []struct {
		there  int64 // on the first server
		server int
		want   float64
	}{{0, 0, .125}, {2, 0, .125}, {2, 1, 0}, {4, 1, .125}} {
		a.S.put(0, 0, c.there-a.S.countOn(0, 0))
		if m := a.marginOn(c.server, 0); math.Abs(m.value-c.want) > 1e-12 {
			t.Errorf("with %d on the first server one more on server %d is worth %g, want %g", c.there, c.server, m.value, c.want)
		}
	}
}

// What is needed goes to one server if one holds it, the tightest, and else first where most of it finds room.
func TestWholeServers(t *testing.T) {
	a := tearable()
	a.S.p.Capacity[0], a.S.left[0] = 3, 3
	for need, want := range map[int64]int{1: 0, 3: 0, 4: 1, 6: 1} {
		if got := (&fitter{a: a}).home(0, need); got != want {
			t.Errorf("%d go to server %d, want %d", need, got, want)
		}
	}
	a.S.put(1, 0, 1)
	if got := (&fitter{a: a}).home(0, 2); got != 1 {
		t.Errorf("beside those on server 1 two more go to server %d", got)
	}
}
