package embedded

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
)

// warm returns an annealer some moves into a random instance.
func warm(t *rapid.T, previous bool) *annealer {
	seed := rapid.Uint64Range(0, 1000).Draw(t, "seed")
	generate := rapid.SampledFrom([]func(uint64, int, int, bool) *solver.Instance{alloctest.Table2, alloctest.Mixed}).Draw(t, "mix")
	p := newProblem(generate(seed, 8, 12, previous))
	a := newAnnealer(newState(p), seed)
	a.construct()
	a.run(context.Background(), 50, 0.1, 10)
	a.s.begin()
	a.fresh = a.fresh[:0]
	return a
}

// makeRoom makes room by evicting no more than others' free containers, or says that it cannot.
func TestMakeRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := warm(t, rapid.Bool().Draw(t, "previous"))
		s := a.s
		if len(s.active) == 0 {
			t.Skip("nobody is free")
		}
		j := rapid.IntRange(0, s.p.servers-1).Draw(t, "server")
		typ := s.active[rapid.IntRange(0, len(s.active)-1).Draw(t, "type")]
		own := s.countOn(j, typ)
		made := a.makeRoom(j, typ, 1)
		if made != s.fitsOne(j, typ) {
			t.Fatalf("makeRoom %v, but fits %v", made, s.fitsOne(j, typ))
		}
		if s.countOn(j, typ) != own {
			t.Fatalf("it evicted its own type")
		}
		blocked := made
		for k, q := range s.p.demandOf(typ) {
			blocked = blocked || s.left[j*s.p.kinds+k] < q && a.victim(j, typ, k) < 0
		}
		if !blocked {
			t.Fatal("it gave up although more could be evicted")
		}
		s.check(t)
	})
}

// keepApp puts an application exactly where it was, and the pool keeps no more than it may have.
func TestKeepApp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := warm(t, true)
		s := a.s
		for _, i := range a.keepables {
			if !s.free[i] {
				continue
			}
			freed := s.freed
			if !a.keepApp(i) {
				s.undo()
				continue
			}
			q := &s.pools[s.p.apps[i].typ]
			if s.free[i] || s.freed != freed-1 || q.n > q.max {
				t.Fatalf("application %d: free %v, %d freed, pool %d of %d", i, s.free[i], s.freed, q.n, q.max)
			}
			s.check(t)
			s.undo()
			if !s.free[i] || s.freed != freed {
				t.Fatal("undo left it kept")
			}
			s.check(t)
		}
	})
}

// No move frees more than the budget allows, once that holds, and none keeps what it has just freed.
func TestExchangeRespectsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := warm(t, true)
		s := a.s
		if s.p.budget <= 0 {
			t.Skip("nothing may move")
		}
		for range 40 {
			s.begin()
			a.filled, a.fresh = 0, a.fresh[:0]
			moved := false
			if rapid.Bool().Draw(t, "displace") {
				moved = a.displace()
			} else {
				moved = a.exchange()
			}
			if !moved {
				s.undo()
				continue
			}
			if s.freed > s.p.budget {
				t.Fatalf("%d freed, budget %d", s.freed, s.p.budget)
			}
			for _, i := range a.fresh {
				if !s.free[i] {
					t.Fatalf("application %d was freed and kept at once", i)
				}
			}
		}
		s.check(t)
	})
}

// A fill leaves no room: after it no type that is welcome fits the server.
func TestFillIsMaximal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := warm(t, false)
		s := a.s
		if len(s.active) > mostCandidates {
			t.Skip("a fill looks at a part only")
		}
		j := rapid.IntRange(0, s.p.servers-1).Draw(t, "server")
		a.clear(j, false)
		if len(s.on[j]) > 0 {
			t.Fatalf("cleared, but %v is there", s.on[j])
		}
		a.fill(j)
		for _, typ := range s.active {
			if s.fitsOne(j, typ) && s.pools[typ].n < s.pools[typ].max && a.welcome(typ) {
				t.Fatalf("type %d still fits", typ)
			}
		}
		s.check(t)
	})
}

// With minima missing, recreate places them where they fit.
func TestRecreateMinimaFirst(t *testing.T) {
	inst := alloctest.Table2(4, 20, 30, false)
	a := newAnnealer(newState(newProblem(inst)), 1)
	if a.s.missing != 30 {
		t.Fatalf("%d missing at first, want 30", a.s.missing)
	}
	a.construct()
	// GPU applications can outnumber the five GPUs, nothing else can be missing.
	gpus := int64(0)
	for i := range inst.Apps {
		gpus += inst.Apps[i].Demand[1]
	}
	if a.s.missing > max(0, gpus-5) {
		t.Errorf("%d missing, %d applications want one of 5 GPUs", a.s.missing, gpus)
	}
}

// Annealing never loses the incumbent, and it improves on the greedy start.
func TestAnnealImproves(t *testing.T) {
	improved := 0
	for seed := range uint64(10) {
		a := newAnnealer(newState(newProblem(alloctest.Table2(seed, 12, 20, true))), seed)
		a.construct()
		before := a.best
		a.run(context.Background(), 2000, hot*a.unit(), 10)
		if before.found && (!a.best.found || a.best.objective < before.objective-solver.ObjectiveTolerance) {
			t.Errorf("seed %d: from %g to %g", seed, before.objective, a.best.objective)
		}
		if a.best.found && (!before.found || a.best.objective > before.objective+solver.ObjectiveTolerance) {
			improved++
		}
	}
	if improved < 5 {
		t.Errorf("%d of 10 improved", improved)
	}
}

// The goal ends the run at once.
func TestAnnealStopsAtGoal(t *testing.T) {
	a := newAnnealer(newState(newProblem(alloctest.Table2(1, 12, 20, false))), 1)
	a.construct()
	a.run(context.Background(), 2000, hot*a.unit(), 10)
	moves := a.moves
	a.run(context.Background(), 2000, hot*a.unit(), a.best.objective)
	if a.moves != moves {
		t.Errorf("%d more moves", a.moves-moves)
	}
}
