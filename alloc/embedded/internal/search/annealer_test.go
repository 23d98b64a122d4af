// This file tests the energy, its weights and the incumbent by hand, and moves on instances of every kind.

package search

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

// anyKind draws a small instance: the paper's, or one with steps, lists, limits, worths, losses, what servers cost or ceilings.
func anyKind(t *rapid.T) *problem.Problem {
	draw := rapid.SampledFrom([]func(uint64) *solver.Instance{solvertest.Small, solvertest.General, solvertest.Worth, solvertest.Loss, solvertest.Spread}).Draw(t, "kind")
	seed := rapid.Uint64Range(0, 5000).Draw(t, "seed")
	inst := draw(seed)
	inst.Choices = nil
	if rapid.Bool().Draw(t, "grouped") {
		inst = solvertest.Grouped(inst, seed)
	}
	return problem.New(inst)
}

// Whatever a move does on whatever instance, all sums stay those of the state, nothing is where it must not be, and undoing the
// move leaves no trace.
func TestMovesOfEveryKind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyKind(t)
		if p.Impossible() {
			t.Skip("there is no solution")
		}
		a := New(NewState(p), rapid.Uint64().Draw(t, "seed of moves"), tuning.Standard())
		if len(a.S.active) == 0 && p.Budget <= 0 {
			t.Skip("there is nothing to move")
		}
		for range 12 {
			before, energy := a.S.picture(), a.energy()
			m, _ := a.propose(energy, 0)
			a.S.check(t)
			checkPlaces(t, a.S)
			if rapid.Bool().Draw(t, "undo") {
				m.undo()
				if diff := cmp.Diff(before, a.S.picture()); diff != "" {
					t.Fatalf("undo leaves a trace (-before +after):\n%s", diff)
				}
				if math.Abs(a.energy()-energy) > 1e-9 {
					t.Fatalf("energy %g after undo, %g before", a.energy(), energy)
				}
			}
			if a.Feasible() {
				a.record()
			}
		}
		if a.Best.Found {
			if counts := p.Decode(&a.Best); within(p, counts) && p.Inst.Check(counts) != nil {
				t.Fatalf("%v is recorded as a solution: %v", counts, p.Inst.Check(counts))
			}
		}
	})
}

// within reports whether all have a number and places that they may have: which member of a type has how many the search does
// not know.
func within(p *problem.Problem, counts solver.Counts) bool {
	for i := range counts {
		if p.Inst.CheckApp(i, counts[i]) != nil {
			return false
		}
	}
	return true
}

// checkPlaces fails where free containers are on a server that is closed to them, more than may be there, on more servers than
// they may be, or where a server is overfull.
func checkPlaces(t *rapid.T, s *State) {
	for k, left := range s.left {
		if left < 0 {
			t.Fatalf("server %d lacks %d", k/s.p.Kinds, -left)
		}
	}
	on := make([][]int32, len(s.p.Types))
	for j, slots := range s.on {
		for _, slot := range slots {
			on[slot.Type] = append(on[slot.Type], int32(j))
			if own := s.p.Types[slot.Type].Own; own != nil && own.PerServer > 0 && slot.Count > own.PerServer && !own.Running {
				t.Fatalf("%d containers of type %d on server %d, %d may be there", slot.Count, slot.Type, j, own.PerServer)
			}
			if slot.Count <= 0 {
				t.Fatalf("a slot of %d containers", slot.Count)
			}
		}
	}
	for typ, servers := range on {
		if !slices.Equal(servers, slices.Sorted(slices.Values(s.hosts[typ]))) {
			t.Fatalf("type %d is on servers %v, %v are listed", typ, servers, s.hosts[typ])
		}
	}
}

// limited returns a state of one application of up to nine containers, two on a server and on three servers at most, on four
// servers of four units, the last of which is closed to it.
func limited(t *testing.T) *State {
	inst := instancetest.Crowd(4, 1, 4, 1, 0)
	inst.Class = []int{0, 0, 0, 1}
	app := &inst.Apps[0]
	app.Min, app.Max, app.PerServer, app.MaxServers, app.Classes = 0, 9, 2, 2, []int{0}
	p := problem.New(instancetest.Finish(inst))
	if p.Plain {
		t.Fatal("limits are none of the paper's")
	}
	return NewState(p)
}

// How many more containers may be on a server depends on who is there, on how many others there are, and on what is open.
func TestRoomWithinLimits(t *testing.T) {
	s := limited(t)
	for _, c := range []struct {
		server, placed int
		room           [4]int64
	}{{0, 0, [4]int64{2, 2, 2, 0}}, {0, 1, [4]int64{1, 2, 2, 0}}, {1, 1, [4]int64{1, 1, 0, 0}}, {1, 1, [4]int64{1, 0, 0, 0}}, {0, 1, [4]int64{0, 0, 0, 0}}} {
		if c.placed > 0 {
			s.put(c.server, 0, int64(c.placed))
		}
		for j, want := range c.room {
			if got := s.room(j, 0); got != want {
				t.Errorf("with %v: room for %d on server %d, want %d", s.on, got, j, want)
			}
			if s.fitsOne(j, 0) != (want > 0) || s.mayHold(j, 0) != (want > 0) {
				t.Errorf("with %v: server %d fits one: %v, may hold it: %v, want %v", s.on, j, s.fitsOne(j, 0), s.mayHold(j, 0), want > 0)
			}
		}
	}
	// One server less, and another may take its place.
	s.put(1, 0, -2)
	if s.room(2, 0) != 2 || len(s.hosts[0]) != 1 {
		t.Errorf("room for %d on the third server, on %d servers", s.room(2, 0), len(s.hosts[0]))
	}
	// Where others use all there is a server may hold it once they go, and does not fit it now.
	s.take(2, 0, 4)
	if s.fitsOne(2, 0) || s.room(2, 0) != 0 || !s.mayHold(2, 0) {
		t.Error("a full server has room, or may never have any")
	}
}

// priced returns a search on two servers of four units for an application of at least two containers and one that runs.
func priced() *Annealer {
	inst := instancetest.Crowd(2, 2, 4, 1, 0)
	inst.Apps[0].Min, inst.Apps[0].Max = 2, 4
	inst.Apps[1].Demand, inst.Apps[1].Max, inst.Apps[1].Running, inst.Apps[1].Cost = apportion.Resources{2}, 2, true, 1
	inst.Apps[1].Previous = []apportion.Placement{{Server: 1, Count: 1}}
	inst.LossBudget, inst.AdjustBudget = 0.25, 0
	return New(NewState(problem.New(instancetest.Finish(inst))), 1, tuning.Standard())
}

// The energy is the utilization where a state is a solution, but for what decides among equals; a container that is missing, a
// loss above the budget and an adjustment too many each cost their weight.
func TestEnergy(t *testing.T) {
	a := priced()
	s := a.S
	// A container of a type brings 1/8 and 2/8; one that is missing costs half a kind.
	if a.missingWeight != 0.5 || a.lossWeight != 1 || s.missing != 2 {
		t.Fatalf("weights %g and %g, %d missing", a.missingWeight, a.lossWeight, s.missing)
	}
	tie := func() float64 { return s.p.TieLoss * (s.loss + tieFreed*float64(s.Freed)) }
	if got, want := a.energy(), 0.25-1.0-(s.loss-a.lossLimit)-tie(); math.Abs(got-want) > 1e-12 {
		t.Errorf("two missing: energy %g, want %g", got, want)
	}
	if a.Feasible() {
		t.Error("a minimum is missing, and it is a solution")
	}
	s.put(0, 0, 2)
	// Shares of 0: it loses what it has, 2/8 + 2/8 of which a quarter is allowed.
	if got, want := a.energy(), 0.5-(s.loss-a.lossLimit)-tie(); math.Abs(got-want) > 1e-12 || s.loss != 0.5 {
		t.Errorf("a loss of %g: energy %g, want %g", s.loss, got, want)
	}
	if a.Feasible() {
		t.Error("the loss is too large, and it is a solution")
	}
	a.lossLimit = 0.5
	if got, want := a.energy(), 0.5-tie(); math.Abs(got-want) > 1e-12 || !a.Feasible() {
		t.Errorf("a solution: %v, energy %g, want %g", a.Feasible(), got, want)
	}
	s.unpin(1)
	if got, want := a.energy(), 0.5-1-tie(); math.Abs(got-want) > 1e-12 || a.Feasible() {
		t.Errorf("one adjusted of none: solution %v, energy %g, want %g", a.Feasible(), got, want)
	}
	a.Insist()
	if heavier := a.tune.Heavier; a.missingWeight != 0.5*heavier || a.lossWeight != heavier {
		t.Errorf("weights %g and %g after all was made dearer by %g", a.missingWeight, a.lossWeight, heavier)
	}
	// The unit of temperature is the mean of what their containers bring.
	if got := a.Unit(); got != (1./8+2./8)/2 {
		t.Errorf("a unit of %g", got)
	}
	if got := New(NewState(problem.New(instancetest.Finish(&solver.Instance{Capacity: []apportion.Resources{{1}}}))), 1, tuning.Standard()).Unit(); got != 0 {
		t.Errorf("without applications a unit of %g", got)
	}
}

// A missing container costs more than any brings, with its slope and what it saves in loss, and so does a unit above a ceiling.
func TestWeights(t *testing.T) {
	inst := instancetest.Crowd(2, 2, 4, 1, 0)
	inst.Apps[0].Max, inst.Apps[0].Worth = 3, []float64{1, 9, 10}
	inst.Apps[0].Min, inst.Apps[1].Max = 0, 3
	inst.Groups = []solver.Group{{Apps: []int{0}, Ceiling: apportion.Resources{2}}, {Apps: []int{0, 1}, Ceiling: apportion.Resources{4}}}
	inst.LossPrice = 4
	p := problem.New(instancetest.Finish(inst))
	a := New(NewState(p), 1, tuning.Standard())
	// 1/8 by itself, a rise of 8 from one to two, and 4 times 1/8 of loss.
	first, second := 1./8+8+0.5, 1./8+0.5
	if a.most(0) != first || a.most(1) != second {
		t.Errorf("containers bring %g and %g at most, want %g and %g", a.most(0), a.most(1), first, second)
	}
	if a.missingWeight < 2*first {
		t.Errorf("a missing container costs %g, and brings %g", a.missingWeight, first)
	}
	for c, row := range p.Ceilings {
		if want := 2 * first; a.ceilingWeight[c] != want {
			t.Errorf("a unit above the ceiling of group %d costs %g, want %g", row.Group, a.ceilingWeight[c], want)
		}
	}
}

// The guide has the prices of each server's class, what types pay to ceilings, and how often the prices freed an application;
// losses weigh at least three times their price.
func TestGuide(t *testing.T) {
	inst := instancetest.Crowd(3, 3, 4, 1, 0)
	inst.Capacity[2] = apportion.Resources{5}
	for i := range inst.Apps {
		inst.Apps[i].Max, inst.Apps[i].Running, inst.Apps[i].Cost, inst.Apps[i].Previous = 4, true, 1, []apportion.Placement{{Server: i, Count: 1}}
	}
	inst.Groups = []solver.Group{{Apps: []int{0, 1, 2}, Ceiling: apportion.Resources{7}}}
	inst.AdjustBudget = 1
	p := problem.New(instancetest.Finish(inst))
	a := New(NewState(p), 1, tuning.Standard())
	d := lagrange.NewDual(p, true)
	x := make([]float64, d.Dim())
	for c := range x {
		x[c] = float64(c+1) / 8
	}
	for range 3 {
		d.Evaluate(x)
	}
	a.Guide(d, x)
	for j, g := range d.ClassOf {
		if a.price[j] != x[g] {
			t.Errorf("server %d has a price of %g, its class %g", j, a.price[j], x[g])
		}
	}
	if a.lambda != x[len(x)-1] || a.lossWeight != math.Max(1, 3*a.lambda) || a.surcharge[0] != x[len(x)-2] {
		t.Errorf("a loss costs %g and weighs %g, a container pays %g to the ceiling", a.lambda, a.lossWeight, a.surcharge[0])
	}
	for i, often := range d.Often {
		if a.score[i] != float64(often) {
			t.Errorf("application %d was freed %d times, and has a score of %g", i, often, a.score[i])
		}
	}
}

// Only solutions become the incumbent, only better ones replace it, and it does not change with the state.
func TestRecord(t *testing.T) {
	a := priced()
	a.lossLimit = 9
	if a.record(); a.Best.Found || !math.IsInf(a.Reached, -1) {
		t.Fatal("a state without its minima is recorded")
	}
	a.S.put(0, 0, 2)
	a.record()
	if !a.Best.Found || a.Best.Objective != 0.5 || a.Reached != 0.5 {
		t.Fatalf("found %v with %g, reached %g", a.Best.Found, a.Best.Objective, a.Reached)
	}
	a.S.put(0, 0, 1)
	if n := a.Best.On[0][0].Count; n != 2 {
		t.Errorf("the incumbent has %d containers after one more in the state", n)
	}
	a.record()
	a.S.put(0, 0, -1)
	a.record()
	if a.Best.Objective != 0.625 || a.Best.On[0][0].Count != 3 || a.Reached != 0.625 {
		t.Errorf("the incumbent has %g with %d containers, reached %g", a.Best.Objective, a.Best.On[0][0].Count, a.Reached)
	}
	worse := problem.Incumbent{Found: true, Objective: 0.5}
	if a.Adopt(&worse); a.Best.On == nil || a.Best.Objective != 0.625 {
		t.Error("a worse one is adopted")
	}
	better := problem.Incumbent{Found: true, Objective: 0.75, Free: []bool{true, false}}
	if a.Adopt(&better); a.Best.Objective != 0.75 || !a.Best.Free[0] {
		t.Error("a better one is not adopted")
	}
}
