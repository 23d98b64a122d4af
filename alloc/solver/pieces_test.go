package solver_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
)

// Seven jobs of 5 GPUs fill 35 of 48, and of six servers of 8 each holds one whole: a price on pieces above a half of a server proves that
// one is torn, which prices by the GPU do not see.
func TestPiecesCountHalves(t *testing.T) {
	inst := &solver.Instance{Total: apportion.Resources{48}, LossBudget: 10}
	for range 6 {
		inst.Capacity = append(inst.Capacity, apportion.Resources{8})
	}
	for range 7 {
		inst.Apps = append(inst.Apps, solver.App{Demand: apportion.Resources{1}, Min: 5, Max: 5, Value: 1. / 48, Delta: 1. / 48,
			Spread: &solver.Spread{Part: .2, Least: 1. / 48, Rooms: []solver.Rooms{{Containers: 8, Servers: 6}}}})
	}
	m := zero(inst)
	const all, torn = 35. / 48, 1. / 48 // a fifth of a job is a container
	if got := must.Have(solver.DualBound(inst, m))(t); math.Abs(got-all) > 1e-12 {
		t.Errorf("%g without prices, want %g", got, all)
	}
	m.Pieces = []solver.PiecePrices{{Unit: 1, Price: []float64{0, 0, 0, 0, torn, torn, torn, torn}}}
	if got := must.Have(solver.DualBound(inst, m))(t); math.Abs(got-(all-torn)) > 1e-12 {
		t.Errorf("%g with prices on halves, want %g", got, all-torn)
	}
	// A server of another number of units has no such prices: all would be there.
	inst.Capacity[0][0], inst.Total[0] = 9, 49
	if got := must.Have(solver.DualBound(inst, m))(t); math.Abs(got-(all+5*torn)) > 1e-12 {
		t.Errorf("%g with a server of nine, want %g", got, all+5*torn)
	}
}

// Of the numbers that an application may have the one for which a server costs least says what one costs: two containers apart lose a tenth,
// six of them three on each.
func TestPiecesOfTheLeastNumber(t *testing.T) {
	inst := &solver.Instance{Total: apportion.Resources{9}, LossBudget: 10, Capacity: []apportion.Resources{{3}, {3}, {3}}}
	inst.Apps = []solver.App{{Demand: apportion.Resources{1}, Min: 2, Max: 6, Value: .1, Delta: .1,
		Spread: &solver.Spread{Part: .5, Rooms: []solver.Rooms{{Containers: 3, Servers: 3}}}}}
	m := zero(inst)
	m.Pieces = []solver.PiecePrices{{Unit: 1, Price: []float64{0, 1, 1}}}
	if got := must.Have(solver.DualBound(inst, m))(t); math.Abs(got-3.2) > 1e-12 {
		t.Errorf("%g, want 3 for the servers and .2 for six containers apart", got)
	}
}

// What a server charges at most is the best of all choices of pieces on it, and the pieces that are named come to that.
func TestFullestAgainstAllChoices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := solver.PiecePrices{Unit: 1, Price: rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 9).Draw(t, "prices")}
		var best func(left, largest int) float64
		best = func(left, largest int) float64 {
			sum := 0.0
			for size := 1; size <= min(left, largest); size++ {
				sum = math.Max(sum, p.Price[size-1]+best(left-size, size))
			}
			return sum
		}
		most, last := p.Fullest()
		q, named := len(p.Price), 0.0
		if want := best(q, q); math.Abs(most[q]-want) > 1e-12 {
			t.Fatalf("%v: %g, want %g", p.Price, most[q], want)
		}
		for q > 0 {
			if last[q] == 0 {
				q--
				continue
			}
			named += p.Price[last[q]-1]
			q -= last[q]
		}
		if math.Abs(named-most[len(p.Price)]) > 1e-12 {
			t.Fatalf("%v: pieces of %g for %g", p.Price, named, most[len(p.Price)])
		}
	})
}
