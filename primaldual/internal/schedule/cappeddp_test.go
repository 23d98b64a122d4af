// This file tests the plain dynamic programs against enumeration.

package schedule

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/must"
)

// The least cost of every completion is that of enumeration, and the choices traced back have it.
func TestCappedDPProperty(t *testing.T) {
	job := ratio{1, 1}
	rapid.Check(t, func(t *rapid.T) {
		b, p, _, _ := drawPrefix(t, job)
		must.Do(t, b.dp.run(p))
		for last, least := range b.dp.least {
			head := b.prefix(problem(job, p.work), last)
			if want := enumerate(head); least != want && math.Abs(least-want) > 1e-9 {
				t.Fatalf("completion %d costs %g, want %g", last, least, want)
			}
			if least == inf {
				continue
			}
			units := make([]int64, last+1)
			b.dp.trace(units, last)
			done, sum := int64(0), 0.0
			for s, y := range units {
				done += y
				sum += head.tables.Of(s)[y]
			}
			if done != int64(p.work) || math.Abs(sum-least) > 1e-9 {
				t.Fatalf("completion %d: %v do %d of %d for %g, want %g", last, units, done, p.work, sum, least)
			}
		}
	})
}

// A pass whose choices would not fit into the limit is refused before anything is computed.
func TestCappedDPLimit(t *testing.T) {
	job := ratio{1, 1}
	b := bareSearch([][]float64{{0, 1}, {0, 1}}, []int{0, 1}, job, 2)
	p := b.prefix(problem(job, 2), 1)
	for _, limit := range []int64{2*3 - 1, 2 * 3} { // slots x (work + 1)
		p.limit = limit
		if err := b.dp.run(p); errors.Is(err, ErrTooLarge) != (limit < 6) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}
