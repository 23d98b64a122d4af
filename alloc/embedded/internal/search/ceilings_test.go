// This file tests what moves do about ceilings.

package search

import (
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// below returns a search on three servers of 4 for two applications of one unit a container and one of two, all
// elective, of which the first and the last may have 5 units together.
func below(t *testing.T) *Annealer {
	inst := instancetest.Crowd(3, 3, 4, 1, 0)
	for i := range inst.Apps {
		inst.Apps[i].Max, inst.Apps[i].Elective = 6, true
	}
	inst.Apps[2].Demand = apportion.Resources{2}
	inst.Groups = []solver.Group{{Apps: []int{0, 2}, Ceiling: apportion.Resources{5}}}
	p := problem.New(instancetest.Finish(inst))
	if len(p.Types) != 3 || len(p.Ceilings) != 1 {
		t.Fatalf("%d types, %d ceilings", len(p.Types), len(p.Ceilings))
	}
	return New(NewState(p), 1, tuning.Standard())
}

// What is above a ceiling goes, no more of it than must, and nothing that the ceiling is not for.
func TestRelieve(t *testing.T) {
	for seed := range 20 {
		a := below(t)
		for range seed {
			a.rng.Float()
		}
		m := a.move.begin(a.S)
		m.place(0, 0, 3)
		m.place(1, 1, 4)
		m.place(2, 2, 2)
		if a.S.exceeded != 1 || a.Feasible() {
			t.Fatalf("%d ceilings exceeded, feasible %v", a.S.exceeded, a.Feasible())
		}
		high := a.energy()
		a.relieve(m)
		// Of 7 units 2 are too much: two containers of one unit, or one of two.
		if left := a.S.below[0]; left != 0 || a.S.pools[1].N != 4 || a.S.exceeded != 0 {
			t.Errorf("%d left, %d containers of another", left, a.S.pools[1].N)
		}
		if a.energy() <= high {
			t.Errorf("energy %g above the ceiling, %g below it", high, a.energy())
		}
		a.S.check(t)
	}
}

// A container below a full ceiling is made room for by others below it.
func TestGiveWay(t *testing.T) {
	a := below(t)
	m := a.move.begin(a.S)
	m.place(0, 0, 4)
	m.place(1, 1, 4)
	// One unit is left of five, and a container of the last takes two.
	if a.S.p.Below(2, a.S.below) != 0 || a.S.mayHold(2, 2) != true || a.S.fitsOne(2, 2) {
		t.Fatal("the ceiling is not full")
	}
	if !a.giveWay(m, 2) || a.S.pools[0].N != 3 || a.S.pools[1].N != 4 {
		t.Errorf("%d and %d containers are left", a.S.pools[0].N, a.S.pools[1].N)
	}
	// Nobody else is there to go for a third container of its own.
	m.place(0, 0, -3)
	m.place(2, 2, 2)
	if a.giveWay(m, 2) {
		t.Error("room without anybody to go")
	}
}

// A type pays its ceilings wherever it is filled.
func TestFillPaysCeilings(t *testing.T) {
	a := below(t)
	c := &candidate{margin: a.margin(0)}
	free := a.worth(0, c, taste{charge: .5})
	a.surcharge[0] = .1
	if got := a.worth(0, c, taste{charge: .5}); got >= free {
		t.Errorf("worth %g with a surcharge, %g without", got, free)
	}
}

// A solution that is loaded is the state from then on, and the incumbent if it is better.
func TestLoad(t *testing.T) {
	a := below(t)
	a.Load(solver.Counts{{{Server: 0, Count: 3}}, {{Server: 1, Count: 2}}, {{Server: 2, Count: 1}}})
	if a.S.below[0] != 0 || !a.Best.Found || a.S.pools[1].N != 2 || a.Best.Objective != a.S.worth() {
		t.Errorf("%d left, found %v, %d containers, objective %g of %g", a.S.below[0], a.Best.Found, a.S.pools[1].N, a.Best.Objective, a.S.worth())
	}
	best := a.Best.Objective
	a.Load(solver.Counts{{{Server: 0, Count: 1}}, nil, nil})
	if a.S.pools[0].N != 1 || a.Best.Objective != best {
		t.Errorf("%d containers, objective %g, want %g", a.S.pools[0].N, a.Best.Objective, best)
	}
	a.Load(solver.Counts{{{Server: 0, Count: 4}}, nil, {{Server: 2, Count: 1}}})
	if a.S.exceeded != 1 || a.Best.Objective != best {
		t.Errorf("%d ceilings exceeded, objective %g, want %g", a.S.exceeded, a.Best.Objective, best)
	}
}

// Whoever may stay and is as it was is kept, the others are free.
func TestLoadKeeps(t *testing.T) {
	inst := instancetest.Crowd(3, 3, 4, 1, 0)
	for i := range inst.Apps {
		inst.Apps[i].Running, inst.Apps[i].Cost, inst.Apps[i].Previous = true, 1, []apportion.Placement{{Server: 0, Count: 1}}
	}
	inst.AdjustBudget = 1
	a := New(NewState(problem.New(instancetest.Finish(inst))), 1, tuning.Standard())
	counts := make(solver.Counts, len(inst.Apps))
	for i := range counts {
		counts[i] = inst.Apps[i].Previous
	}
	counts[1] = []apportion.Placement{{Server: 1, Count: 2}}
	a.Load(counts)
	for i, free := range a.S.free {
		if free != (i == 1) {
			t.Errorf("application %d free: %v", i, free)
		}
	}
	if a.S.Freed != 1 {
		t.Errorf("%d freed", a.S.Freed)
	}
}
