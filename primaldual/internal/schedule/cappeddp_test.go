// This file tests the plain dynamic programs against enumeration.

package schedule

import (
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
