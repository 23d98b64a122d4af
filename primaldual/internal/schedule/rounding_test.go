// This file tests rounding: whatever the tables, it does exactly the work, and says what that costs.

package schedule

import (
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion/internal/must"
	"pgregory.net/rapid"
)

// drawPrefix draws slots with tables of their own, bounds them, and returns the problem of doing the
// work in all of them together with its multiplier and lower bound.
func drawPrefix(t *rapid.T, job ratio) (b *Search, p *prefix, lambda, lower float64) {
	slots := rapid.IntRange(1, 4).Draw(t, "slots")
	tables, of, room := make([][]float64, slots), make([]int, slots), 0
	for s := range slots {
		tables[s], of[s] = drawTable(t, 6), s
		room += len(tables[s]) - 1
	}
	work := rapid.IntRange(1, max(1, room)).Draw(t, "work")
	b = bareSearch(tables, of, job, work)
	p = b.prefix(problem(job, work), slots-1)
	return b, p, b.bounds[slots-1].lambda, b.bounds[slots-1].lower
}

// enumerate returns the least cost of the work over all choices of workers, inf where there is none.
func enumerate(p *prefix) float64 {
	var walk func(s, left int) float64
	walk = func(s, left int) float64 {
		if s > p.last {
			if left == 0 {
				return 0
			}
			return inf
		}
		least := inf
		for y, cost := range p.tables.Of(s) {
			if y <= left {
				least = min(least, cost+walk(s+1, left-y))
			}
		}
		return least
	}
	return walk(0, p.work)
}

func TestRoundProperty(t *testing.T) {
	job := ratio{2, 5}
	rapid.Check(t, func(t *rapid.T) {
		b, p, lambda, lower := drawPrefix(t, job)
		want := enumerate(p)
		if want == inf {
			return // the slots hold less than the work
		}
		cost := b.trial.round(p, &b.hulls, lambda)
		if cost == inf {
			return // rounding may fail; the dynamic program does not
		}
		done, sum := int64(0), 0.0
		for s, y := range b.trial.workers {
			done += y
			sum += p.tables.Of(s)[y]
		}
		must.Equal(t, done, int64(p.work), b.trial.workers, "do", "of", p.work, "worker-slots")
		if math.Abs(sum-cost) > 1e-9 || cost < want-1e-9 || lower > want+1e-9 {
			t.Fatalf("%v cost %g, said %g; the least is %g, the bound %g", b.trial.workers, sum, cost, want, lower)
		}
	})
}

// Of two ties the second is too wide for what is left: one worker of it costs as much as three, so all
// three are taken, and two are taken from the first.
func TestRoundTrims(t *testing.T) {
	job := ratio{1, 1}
	b := bareSearch([][]float64{{0, 1, 2, 3}, {0, 3, 3, 3}}, []int{0, 1}, job, 4)
	p := b.prefix(problem(job, 4), 1)
	if cost := b.trial.round(p, &b.hulls, b.bounds[1].lambda); cost != 4 || !slices.Equal(b.trial.workers, []int64{1, 3}) {
		t.Errorf("%v cost %g, want 1 and 3 for 4", b.trial.workers, cost)
	}
}
