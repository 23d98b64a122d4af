package search

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// warm returns an annealer some moves into a random instance.
func warm(t *rapid.T, previous bool) *Annealer {
	seed := rapid.Uint64Range(0, 1000).Draw(t, "seed")
	generate := rapid.SampledFrom([]func(uint64, int, int, bool) *solver.Instance{alloctest.Table2, alloctest.Mixed}).Draw(t, "mix")
	p := problem.New(generate(seed, 8, 12, previous))
	a := New(NewState(p), seed, tuning.Standard())
	a.Construct(context.Background())
	a.Run(context.Background(), 500, 0.1, 10)
	return a
}

// makeRoom makes room by evicting no more than others' free containers, or says that it cannot.
func TestMakeRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := warm(t, rapid.Bool().Draw(t, "previous"))
		s := a.S
		if len(s.active) == 0 {
			t.Skip("nobody is free")
		}
		j := rapid.IntRange(0, s.p.Servers-1).Draw(t, "server")
		typ := s.active[rapid.IntRange(0, len(s.active)-1).Draw(t, "type")]
		own := s.countOn(j, typ)
		made := a.makeRoom(a.move.begin(s), j, typ, 1)
		if made != s.fitsOne(j, typ) {
			t.Fatalf("makeRoom %v, but fits %v", made, s.fitsOne(j, typ))
		}
		if s.countOn(j, typ) != own {
			t.Fatalf("it evicted its own type")
		}
		blocked := made
		for k, q := range s.p.DemandOf(typ) {
			blocked = blocked || s.left[j*s.p.Kinds+k] < q && a.victim(j, typ, k) < 0
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
		s := a.S
		for _, i := range a.pinnables {
			if !s.free[i] {
				continue
			}
			freed := s.Freed
			m := a.move.begin(s)
			if !a.keepApp(m, i) {
				m.undo()
				continue
			}
			q := &s.pools[s.p.Apps[i].Type]
			if s.free[i] || s.Freed != freed-1 || q.N > q.Max {
				t.Fatalf("application %d: free %v, %d freed, pool %d of %d", i, s.free[i], s.Freed, q.N, q.Max)
			}
			s.check(t)
			m.undo()
			if !s.free[i] || s.Freed != freed {
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
		s := a.S
		if s.p.Budget <= 0 {
			t.Skip("nothing may move")
		}
		for range 40 {
			m, moved := a.move.begin(s), false
			if rapid.Bool().Draw(t, "displace") {
				moved = a.displace(m)
			} else {
				moved = a.exchange(m)
			}
			if !moved {
				m.undo()
				continue
			}
			if s.Freed > s.p.Budget {
				t.Fatalf("%d freed, budget %d", s.Freed, s.p.Budget)
			}
			for _, i := range m.freed {
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
		s := a.S
		if len(s.active) > a.tune.MostCandidates {
			t.Skip("a fill looks at a part only")
		}
		j := rapid.IntRange(0, s.p.Servers-1).Draw(t, "server")
		m := a.move.begin(s)
		for len(s.on[j]) > 0 {
			a.clear(m, j)
		}
		a.fill(m, j, taste{charge: 0.5, noise: 1})
		for _, typ := range s.active {
			if s.fitsOne(j, typ) && s.pools[typ].N < s.pools[typ].Max && welcome(a, typ) {
				t.Fatalf("type %d still fits", typ)
			}
		}
		s.check(t)
	})
}

// welcome reports whether one more container of a type raises the energy.
func welcome(a *Annealer, typ int32) bool {
	m := a.margin(typ)
	return a.welcome(&m)
}

// With minima missing, recreate places them where they fit.
func TestRecreateMinimaFirst(t *testing.T) {
	inst := alloctest.Table2(4, 20, 30, false)
	a := New(NewState(problem.New(inst)), 1, tuning.Standard())
	if a.S.missing != 30 {
		t.Fatalf("%d missing at first, want 30", a.S.missing)
	}
	a.Construct(context.Background())
	// GPU applications can outnumber the five GPUs, nothing else can be missing.
	gpus := int64(0)
	for i := range inst.Apps {
		gpus += inst.Apps[i].Demand[1]
	}
	if a.S.missing > max(0, gpus-5) {
		t.Errorf("%d missing, %d applications want one of 5 GPUs", a.S.missing, gpus)
	}
}

// Annealing never loses the incumbent, and it improves on the greedy start.
func TestAnnealImproves(t *testing.T) {
	improved := 0
	for seed := range uint64(10) {
		a := New(NewState(problem.New(alloctest.Table2(seed, 12, 20, true))), seed, tuning.Standard())
		a.Construct(context.Background())
		before := a.Best
		a.Run(context.Background(), 40_000, a.tune.Hot*a.Unit(), 10)
		if before.Found && (!a.Best.Found || a.Best.Objective < before.Objective-solver.ObjectiveTolerance) {
			t.Errorf("seed %d: from %g to %g", seed, before.Objective, a.Best.Objective)
		}
		if a.Best.Found && (!before.Found || a.Best.Objective > before.Objective+solver.ObjectiveTolerance) {
			improved++
		}
	}
	if improved < 5 {
		t.Errorf("%d of 10 improved", improved)
	}
}

// The goal ends the run at once.
func TestAnnealStopsAtGoal(t *testing.T) {
	a := New(NewState(problem.New(alloctest.Table2(1, 12, 20, false))), 1, tuning.Standard())
	a.Construct(context.Background())
	a.Run(context.Background(), 20_000, a.tune.Hot*a.Unit(), 10)
	work := a.Work
	a.Run(context.Background(), 20_000, a.tune.Hot*a.Unit(), a.Best.Objective)
	if a.Work != work {
		t.Errorf("%d more work", a.Work-work)
	}
}

// A polish starts at the incumbent, and its state never gets worse: no threshold is random then.
func TestPolish(t *testing.T) {
	for seed := range uint64(5) {
		a := New(NewState(problem.New(alloctest.Mixed(seed, 12, 20, true))), seed, tuning.Standard())
		a.Construct(context.Background())
		a.Run(context.Background(), 5000, a.tune.Hot*a.Unit(), 10)
		if !a.Best.Found {
			continue
		}
		a.Restore()
		best, last := a.Best.Objective, a.energy()
		a.Run(context.Background(), 2000, a.tune.Hot*a.Unit(), 10)
		if a.Polish(context.Background(), 0); a.S.objective != a.Best.Objective || a.S.Freed != a.Best.Freed {
			t.Fatalf("seed %d: starts at %g with %d freed, the incumbent is %g with %d", seed, a.S.objective, a.S.Freed, a.Best.Objective, a.Best.Freed)
		}
		for range 20 {
			a.Polish(context.Background(), 200)
			if e := a.energy(); e < last-1e-12 {
				t.Fatalf("seed %d: energy %.12g after %.12g", seed, e, last)
			}
			last = a.energy()
		}
		if a.Best.Objective < best || a.S.objective < best-1e-12 {
			t.Errorf("seed %d: %g in the end, %g before", seed, a.S.objective, best)
		}
	}
}

// A first state for which there is no time has its minima, as far as they are found soon, and little else.
func TestConstructEnds(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for seed := range uint64(5) {
		p := problem.New(alloctest.Mixed(seed, 20, 25, false))
		whole, cut := New(NewState(p), 1, tuning.Standard()), New(NewState(p), 1, tuning.Standard())
		whole.Construct(context.Background())
		if cut.Construct(ended); cut.S.missing != whole.S.missing || cut.S.worth() > 0.8*whole.S.worth() {
			t.Errorf("seed %d: %d minima missing at %g, with time %d at %g", seed, cut.S.missing, cut.S.worth(), whole.S.missing, whole.S.worth())
		}
	}
	// With so many types and servers, no two of them alike, minima take too long as well.
	p := problem.New(alloctest.Nodes(1, 4000, 4000, false))
	a := New(NewState(p), 1, tuning.Standard())
	if a.Construct(ended); a.S.missing == 0 {
		t.Error("all minima of a large cluster are placed after the end")
	}
}
