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
	"github.com/apportion/apportion/internal/rapidtest"
)

// A repair repacks but changes nothing about who is free, makes nothing worse, and is undone with its move.
func TestRepair(t *testing.T) {
	repaired := false
	rapidtest.Until(t, "repairing never helped", func() bool { return repaired }, func(t *rapid.T) {
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
}

// An exchange that is further behind than hope says is left at once.
func TestRepairGivesUp(t *testing.T) {
	a := New(NewState(problem.New(alloctest.Mixed(1, 8, 12, true))), 1, tuning.Standard())
	a.Construct(context.Background())
	m := a.move.begin(a.S)
	m.touch(0)
	work := a.Work
	a.repair(m, a.energy()+1, 0)
	if a.Work != work {
		t.Errorf("%d of work without hope", a.Work-work)
	}
	a.repair(m, a.energy()+1, 2)
	half := a.Work - work
	if a.repair(m, a.energy()+1, math.Inf(1)); half == 0 || 4*half > 3*(a.Work-work-half) {
		t.Errorf("%d of work, want about half of %d", half, a.Work-work-half)
	}
}

// counter counts the looks at it, and the work between them.
type counter struct {
	context.Context
	a                 *Annealer
	looks, last, most int64
}

func (c *counter) Err() error {
	c.looks++
	c.most, c.last = max(c.most, c.a.Work-c.last), c.a.Work
	return nil
}

// However many moves are repaired, the context is looked at after each that is.
func TestRepairRespectsContext(t *testing.T) {
	a := New(NewState(problem.New(alloctest.Mixed(3, 20, 30, true))), 1, tuning.Standard())
	a.Construct(context.Background())
	a.Hope = a.tune.Hope
	ctx := &counter{Context: t.Context(), a: a}
	const work, each = 100_000, 30
	ctx.last = a.Work
	a.Run(ctx, work, a.tune.Hot*a.Unit(), math.Inf(1))
	if ctx.looks*each > work {
		t.Fatalf("%d moves: hardly any was repaired", ctx.looks)
	}
	if ctx.most > int64(each*a.tune.RepairMoves) {
		t.Errorf("%d of work between two looks", ctx.most)
	}
}

// On a large cluster minima take work in proportion to the servers that are looked at for them.
func TestLookingIsWork(t *testing.T) {
	p := problem.New(alloctest.Mixed(1, 8000, 1000, false))
	a := New(NewState(p), 1, tuning.Standard())
	ctx := &counter{Context: t.Context(), a: a}
	a.Run(ctx, 1, 0, math.Inf(1))
	if least := int64(len(p.Types) * p.Servers / a.tune.MostCandidates); a.Work < least {
		t.Errorf("%d of work, want %d at least", a.Work, least)
	}
}
