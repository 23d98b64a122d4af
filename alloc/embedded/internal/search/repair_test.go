package search

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
)

// A repair repacks but changes nothing about who is free, makes nothing worse, and is undone with its move.
func TestRepair(t *testing.T) {
	repaired := false
	rapid.Check(t, func(t *rapid.T) {
		a := warm(t, true)
		s := a.S
		if s.p.Budget <= 0 {
			t.Skip("nothing may move")
		}
		m := a.move.begin(s)
		before, free := a.energy(), slices.Clone(s.free)
		if !a.exchange(m) || len(s.active) == 0 {
			return
		}
		a.recreate(context.Background(), m)
		exchanged, freed := a.energy(), slices.Clone(s.free)
		a.repair(m, math.Inf(1), math.Inf(1))
		repaired = repaired || a.energy() > exchanged
		if a.energy() < exchanged-1e-9 || !slices.Equal(s.free, freed) {
			t.Fatalf("energy %g after %g, free %v after %v", a.energy(), exchanged, s.free, freed)
		}
		s.check(t)
		m.undo()
		if math.Abs(a.energy()-before) > 1e-9 || !slices.Equal(s.free, free) {
			t.Fatalf("undone: energy %g, was %g; free %v, was %v", a.energy(), before, s.free, free)
		}
		s.check(t)
	})
	if !repaired {
		t.Error("repairing never helped")
	}
}

// An exchange that is further behind than hope says is left at once.
func TestRepairGivesUp(t *testing.T) {
	a := New(NewState(problem.New(alloctest.Mixed(1, 8, 12, true))), 1, tuning.Standard())
	a.Construct(context.Background())
	m := a.move.begin(a.S)
	m.touch(0)
	moves := a.Moves
	a.repair(m, a.energy()+1, 0)
	if a.Moves != moves {
		t.Errorf("%d moves without hope", a.Moves-moves)
	}
	a.repair(m, a.energy()+1, 2)
	if n := a.Moves - moves; n == 0 || n > 3*int64(a.tune.RepairMoves)/4 {
		t.Errorf("%d moves, want about half of %d", n, a.tune.RepairMoves)
	}
}

// counter counts the moves between looks at it.
type counter struct {
	context.Context
	a          *Annealer
	last, most int64
}

func (c *counter) Err() error {
	c.most, c.last = max(c.most, c.a.Moves-c.last), c.a.Moves
	return nil
}

// However many moves are repaired, the context is looked at every few dozens.
func TestRepairRespectsContext(t *testing.T) {
	a := New(NewState(problem.New(alloctest.Mixed(3, 20, 30, true))), 1, tuning.Standard())
	a.Construct(context.Background())
	a.Hope = a.tune.Hope
	ctx := &counter{Context: t.Context(), a: a}
	const moves = 1000
	a.Run(ctx, moves, a.tune.Hot*a.Unit(), math.Inf(1))
	if a.Moves < 10*moves {
		t.Fatalf("%d moves: hardly any was repaired", a.Moves)
	}
	if ctx.most > checkEvery+int64(a.tune.RepairMoves) {
		t.Errorf("%d moves between two looks", ctx.most)
	}
}

// On a large cluster, where a move may take as long as thousands on a small one, the context is looked at after
// every few of them.
func TestLargeClusterRespectsContext(t *testing.T) {
	a := New(NewState(problem.New(alloctest.Mixed(1, 8000, 1000, false))), 1, tuning.Standard())
	ctx := &counter{Context: t.Context(), a: a}
	a.Run(ctx, 200, 0, math.Inf(1))
	if ctx.most == 0 || ctx.most > 8 {
		t.Errorf("%d moves between two looks", ctx.most)
	}
}
