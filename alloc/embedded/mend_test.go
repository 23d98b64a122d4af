package embedded

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/alloctest"
)

// Mending repacks but changes nothing about who is free, makes nothing worse, and is undone with its move.
func TestMend(t *testing.T) {
	mended := false
	rapid.Check(t, func(t *rapid.T) {
		a := warm(t, true)
		s := a.s
		if s.p.budget <= 0 {
			t.Skip("nothing may move")
		}
		s.begin()
		before, free := a.energy(), slices.Clone(s.free)
		a.filled, a.slack = 0, math.Inf(1)
		if !a.exchange() || len(s.active) == 0 {
			return
		}
		a.recreate()
		exchanged, freed := a.energy(), slices.Clone(s.free)
		a.mend(math.Inf(1))
		mended = mended || a.energy() > exchanged
		if a.energy() < exchanged-1e-9 || !slices.Equal(s.free, freed) {
			t.Fatalf("energy %g after %g, free %v after %v", a.energy(), exchanged, s.free, freed)
		}
		s.check(t)
		s.undo()
		if math.Abs(a.energy()-before) > 1e-9 || !slices.Equal(s.free, free) {
			t.Fatalf("undone: energy %g, was %g; free %v, was %v", a.energy(), before, s.free, free)
		}
		s.check(t)
	})
	if !mended {
		t.Error("mending never helped")
	}
}

// An exchange that is further behind than the slack is left at once.
func TestMendGivesUp(t *testing.T) {
	a := newAnnealer(newState(newProblem(alloctest.Mixed(1, 8, 12, true))), 1)
	a.construct()
	a.s.begin()
	a.s.touch(0)
	moves := a.moves
	a.mend(a.energy() + 1)
	if a.moves != moves {
		t.Errorf("%d moves without slack", a.moves-moves)
	}
	a.s.touch(0)
	a.slack = 2
	a.mend(a.energy() + 1)
	if n := a.moves - moves; n == 0 || n > 3*mendings/4 {
		t.Errorf("%d moves, want about half of %d", n, mendings)
	}
}

// counter counts the moves between looks at it.
type counter struct {
	context.Context
	a          *annealer
	last, most int64
}

func (c *counter) Err() error {
	c.most, c.last = max(c.most, c.a.moves-c.last), c.a.moves
	return nil
}

// However many moves are mended, the context is looked at every few dozens.
func TestMendingHeedsContext(t *testing.T) {
	a := newAnnealer(newState(newProblem(alloctest.Mixed(3, 20, 30, true))), 1)
	a.construct()
	a.hope = hope
	ctx := &counter{Context: t.Context(), a: a}
	const moves = 1000
	a.run(ctx, moves, hot*a.unit(), math.Inf(1))
	if a.moves < 10*moves {
		t.Fatalf("%d moves: hardly any was mended", a.moves)
	}
	if ctx.most > checkEvery+mendings {
		t.Errorf("%d moves between two looks", ctx.most)
	}
}

// Where starts agree on the best utilization the others are saved.
func TestStartsAgree(t *testing.T) {
	r := newRun(newProblem(alloctest.Mixed(3, 6, 10, true)), &Options{Effort: mostMoves})
	r.a.construct()
	r.root = newRoot(t.Context(), r.p, 0, 1)
	starts := r.newStarts()
	for starts.next(t.Context()) {
	}
	if r.a.best.objective >= r.goal() {
		t.Fatal("the bound is attained: nothing about starts is tested")
	}
	t.Logf("%d of %d starts of %d moves", starts.n, starts.count, starts.moves)
	if starts.n > starts.count/2 {
		t.Errorf("%d of %d starts made", starts.n, starts.count)
	}
	if r.a.restart(); r.a.reached >= r.a.best.objective {
		t.Error("a start has reached what the one before did")
	}
}
