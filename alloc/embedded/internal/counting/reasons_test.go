// This file tests each reason on an instance made for it, and its arithmetic against trying everything.

package counting

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// app is an application of one kind that holds held on server 0, where held is positive.
func app(demand, least, most, held int64) solver.App {
	a := solver.App{Demand: apportion.Resources{demand}, Min: least, Max: most, Running: held > 0, Cost: 1}
	if held > 0 {
		a.Previous = []apportion.Placement{{Server: 0, Count: held}}
	}
	return a
}

// Each reason names its constraints, violated one first, its applications, and both sides.
func TestReasons(t *testing.T) {
	const lots = 100
	for name, c := range map[string]struct {
		capacity     []int64
		apps         []solver.App
		loss         float64
		adjust       int64
		constraints  []solver.Constraint
		involved     []int
		kind         int
		need, have   float64
		withoutReach bool // NoRoom finds it, not Conflict
	}{
		"a container is larger than every server": {
			capacity: []int64{4, 3}, apps: []solver.App{app(1, 1, 1, 0), app(5, 1, 2, 0)}, loss: lots,
			constraints: []solver.Constraint{solver.Capacity, solver.Minimum}, involved: []int{1}, need: 5, have: 4,
		},
		"a minimum is larger than the cluster": {
			capacity: []int64{4, 3}, apps: []solver.App{app(2, 4, 5, 0)}, loss: lots,
			constraints: []solver.Constraint{solver.Minimum, solver.Capacity}, involved: []int{0}, kind: -1, need: 4, have: 3,
		},
		"the minima are": {
			capacity: []int64{4, 4}, apps: []solver.App{app(1, 5, 5, 0), app(1, 0, 9, 0), app(2, 2, 2, 0)}, loss: lots,
			constraints: []solver.Constraint{solver.Capacity, solver.Minimum}, involved: []int{0, 2}, need: 9, have: 8,
		},
		"a server shrank": {
			capacity: []int64{5, 9}, apps: []solver.App{app(1, 0, 9, 2), app(1, 0, 9, 4), app(1, 0, 9, 3)}, loss: lots,
			constraints: []solver.Constraint{solver.Adjust, solver.Capacity}, involved: []int{0, 1, 2}, kind: -1, need: 1, have: 0,
		},
		"a minimum rose": {
			capacity: []int64{9}, apps: []solver.App{app(1, 3, 9, 2)}, loss: lots,
			constraints: []solver.Constraint{solver.Adjust, solver.Minimum}, involved: []int{0}, kind: -1, need: 1, have: 0,
		},
		"a server shrank below one, and the minimum of another rose": {
			capacity: []int64{3, 9}, apps: []solver.App{app(1, 0, 9, 4), app(1, 3, 9, 2)}, loss: lots, adjust: 1,
			constraints: []solver.Constraint{solver.Adjust, solver.Capacity, solver.Minimum}, involved: []int{0, 1}, kind: -1, need: 2, have: 1,
		},
		"no room beside what stays": {
			capacity: []int64{5}, apps: []solver.App{app(1, 0, 9, 4), app(1, 2, 2, 0)}, loss: lots, withoutReach: true,
			constraints: []solver.Constraint{solver.Minimum, solver.Adjust, solver.Capacity}, involved: []int{1}, kind: -1, need: 2, have: 1,
		},
	} {
		inst := &solver.Instance{Apps: c.apps, LossBudget: c.loss, AdjustBudget: c.adjust}
		for _, capacity := range c.capacity {
			inst.Capacity = append(inst.Capacity, apportion.Resources{capacity})
		}
		p := problem.New(instancetest.Finish(inst))
		got := Conflict(p)
		if c.withoutReach {
			if got != nil {
				t.Errorf("%s: %+v already", name, got)
			}
			got = NoRoom(p)
		}
		if got == nil {
			t.Errorf("%s: nothing was found", name)
			continue
		}
		if !slices.Equal(got.Constraints, c.constraints) || !slices.Equal(got.Apps, c.involved) || got.Kind != c.kind || got.Need != c.need || got.Have != c.have {
			t.Errorf("%s: %+v, want %v of %v, kind %d, %g > %g", name, got, c.constraints, c.involved, c.kind, c.need, c.have)
		}
	}
}

// Too much loss is blamed on as few constraints as that takes.
func TestTooMuchLoss(t *testing.T) {
	share := func(a solver.App, share float64) solver.App { a.Share = share; return a }
	for name, c := range map[string]struct {
		app    solver.App
		need   float64
		blamed []solver.Constraint
	}{
		"its maximum":        {share(app(1, 0, 2, 0), 0.5), 0.3, []solver.Constraint{solver.Fairness}},
		"its minimum":        {share(app(1, 8, 9, 0), 0.5), 0.3, []solver.Constraint{solver.Fairness, solver.Minimum}},
		"that it stays":      {share(app(1, 0, 9, 2), 0.5), 0.3, []solver.Constraint{solver.Fairness, solver.Adjust}},
		"nothing, it is met": {share(app(1, 0, 9, 0), 0.5), 0, nil},
	} {
		inst := &solver.Instance{Capacity: []apportion.Resources{{10}}, Apps: []solver.App{c.app}, LossBudget: 0.1}
		got := Conflict(problem.New(instancetest.Finish(inst)))
		if c.blamed == nil {
			if got != nil {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		if got == nil || !slices.Equal(got.Constraints, c.blamed) || math.Abs(got.Need-c.need) > 1e-12 || got.Have != 0.1 {
			t.Errorf("%s: %+v, want %v with %g", name, got, c.blamed, c.need)
		}
	}
}

// With one kind, the fewest moves off a server are those of the smallest set of residents that makes room.
func TestFewestMovesAgainstAllSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := &solver.Instance{LossBudget: 9, AdjustBudget: 9, Capacity: []apportion.Resources{{rapid.Int64Range(6, 12).Draw(t, "capacity")}}}
		for range rapid.IntRange(0, 5).Draw(t, "residents") {
			inst.Apps = append(inst.Apps, app(rapid.Int64Range(1, 3).Draw(t, "demand"), 0, 9, rapid.Int64Range(1, 2).Draw(t, "held")))
		}
		p := problem.New(instancetest.Finish(inst))
		residents := len(p.Residents[0])
		want := residents
		for set := range 1 << residents {
			left := p.Capacity[0]
			for s, i := range p.Residents[0] {
				if set>>s&1 == 0 {
					left -= p.Holding[0][s] * p.DemandOf(p.Apps[i].Type)[0]
				}
			}
			if left >= 0 {
				want = min(want, bits.OnesCount(uint(set)))
			}
		}
		if got := fewestMoves(p, 0); got != int64(want) {
			t.Fatalf("%d must leave, want %d", got, want)
		}
	})
}

// The least loss in all is that of the best choice, within the budget, of who leaves what it holds.
func TestTotalLossAgainstAllSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problem.New(instancetest.Tiny(draws(t)))
		if p.Budget < 0 {
			t.Skip("found before")
		}
		minima := rapid.Bool().Draw(t, "minima")
		want, all := math.Inf(1), 0.0
		for set := range 1 << len(p.Apps) {
			var loss float64
			allowed := true
			for i := range p.Apps {
				a := &p.Apps[i]
				moved := set>>i&1 != 0
				allowed = allowed && (moved || a.Pinnable)
				if moved {
					loss += p.LeastLoss(int32(i), minima)
				} else {
					loss += a.HeldLoss
				}
			}
			moves := bits.OnesCount(uint(set)) - (len(p.Apps) - int(p.Pinnable))
			if allowed && int64(moves) <= p.Budget {
				want = math.Min(want, loss)
			}
		}
		for i := range p.Apps {
			all += p.LeastLoss(int32(i), minima)
		}
		if got := totalLoss(p, minima, true); math.Abs(got-want) > 1e-9 {
			t.Fatalf("total loss %g, want %g", got, want)
		}
		if got := totalLoss(p, minima, false); math.Abs(got-all) > 1e-9 {
			t.Fatalf("without adjustments %g, want %g", got, all)
		}
	})
}
