package sets

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
)

// The local search over sets keeps its bookkeeping: what a toggle changes of U is what U computed afresh
// says.
func TestSetsChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problem.New(alloctest.Table2(rapid.Uint64Range(0, 50).Draw(t, "seed"), 8, 12, true))
		s := pattern.New(p, pattern.MostPatterns)
		x := make([]float64, lagrange.Dim(s))
		for c := range p.Types {
			x[c] = rapid.Float64Range(-1, 2).Draw(t, "price")
		}
		x[len(p.Types)] = rapid.Float64Range(0, 2).Draw(t, "lambda")
		q := New(leaf.NewLeaves(s), x, 1, tuning.Standard())
		u := func() float64 {
			var sum float64
			for i := range p.Apps {
				if q.free[i] {
					sum += q.root.gain[i]
				}
			}
			for c := range s.Cells {
				sum += s.Cells[c].Size * q.root.best[s.ClassOfMask[s.Cells[c].Table+q.mask[c]]]
			}
			return sum
		}
		for range 10 {
			i := int32(rapid.IntRange(0, len(p.Apps)-1).Draw(t, "application"))
			if !p.Apps[i].Pinnable || !q.free[i] && int64(len(q.members)) >= p.Budget {
				continue
			}
			before, change := u(), q.change(&q.root, i)
			q.toggle(i)
			if after := u(); math.Abs(before+change-after) > 1e-9 {
				t.Fatalf("U goes from %g to %g, the change is %g", before, after, change)
			}
		}
	})
}
