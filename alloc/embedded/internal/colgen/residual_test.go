// This file tests the residual problem: its bound against one that is counted out by hand, and the narrowing of counts.

package colgen

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/cellstest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// drawResidual draws a residual problem with a set of free applications, and returns what each server has beside the others.
func drawResidual(t *rapid.T) (*Residual, [][]int64) {
	inst, s := cellstest.Draw(t, func(least, most int64, name string) int64 { return rapid.Int64Range(least, most).Draw(t, name) })
	// Budgets of the loss that bind are what makes counts fractional and the loss dear; drawn at large they seldom do.
	if tight := rapid.SampledFrom([]float64{0, 0.1, 0.2, 0.4, 0.7}).Draw(t, "tight"); tight > 0 {
		s.Problem.Inst.LossBudget = tight
	}
	r := NewResidual(s)
	wished := make([]bool, len(s.Problem.Apps))
	for i := range wished {
		wished[i] = rapid.Bool().Draw(t, "free")
	}
	fits := r.Fix(func(i int32) bool { return wished[i] })
	left := make([][]int64, len(inst.Capacity))
	held := true
	for j := range left {
		left[j] = append(left[j], inst.Capacity[j]...)
		for i := range inst.Apps {
			if r.Free[i] != (wished[i] || !s.Problem.Apps[i].Pinnable) {
				t.Fatalf("application %d is free: %v", i, r.Free[i])
			}
			for _, place := range inst.Apps[i].Previous {
				for k := range left[j] {
					if place.Server == j && !r.Free[i] {
						left[j][k] -= place.Count * inst.Apps[i].Demand[k]
						held = held && left[j][k] >= 0
					}
				}
			}
		}
	}
	if !fits {
		// More are freed on one server than the budget allows, or what stays does not fit there.
		if held && inst.AdjustBudget >= int64(len(inst.Apps)) {
			t.Fatalf("no class for what is kept on %v, which leaves %v", inst.Capacity, left)
		}
		t.Skip("what is kept does not fit")
	}
	return r, left
}

// richest is the most that containers from type t on are worth in what is left of a server, by trying all numbers.
func richest(p *problem.Problem, worth []float64, left []int64, t int32) float64 {
	if int(t) == len(p.Types) {
		return 0
	}
	best := richest(p, worth, left, t+1)
	rest := append([]int64(nil), left...)
	for k, q := range p.DemandOf(t) {
		if rest[k] -= q; rest[k] < 0 {
			return best
		}
	}
	// One container of t, and perhaps more: t itself comes again.
	return max(best, worth[t]+richest(p, worth, rest, t))
}

// The bound is the one that weak duality gives at the prices beside it, with the best use of every server and every type
// looked for one number at a time; the program reaches it, so no other prices prove less.
func TestBoundByHand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, left := drawResidual(t)
		p := r.S.Problem
		r.Solve(math.Inf(-1))
		want := r.Lambda * (p.Inst.LossBudget + solver.LossTolerance)
		for i := range p.Apps {
			if a := &p.Apps[i]; !r.Free[i] {
				want += p.Types[a.Type].Value*float64(a.Held) + p.Inst.Apps[i].Stay - r.Lambda*a.HeldLoss
			}
		}
		worth := make([]float64, len(p.Types))
		for _, typ := range r.Types {
			if worth[typ] = r.Pi[typ]; worth[typ] < 0 {
				t.Fatalf("a container of type %d has the price %g", typ, worth[typ])
			}
		}
		for j := range left {
			want += richest(p, worth, left[j], 0)
		}
		for _, typ := range r.Types {
			q, best := &r.Pools[typ], math.Inf(-1)
			for n := q.Min; n <= q.Max; n++ {
				best = max(best, (p.Types[typ].Value-worth[typ])*float64(n)-r.Lambda*q.At(p.Types[typ].Delta, n))
			}
			want += best
		}
		if math.Abs(r.Bound-want) > 1e-7*(1+math.Abs(want)) {
			t.Fatalf("bound %.12g, by hand %.12g", r.Bound, want)
		}
		if reached := r.Fixed + r.Lp.objective(); math.Abs(r.Bound-reached) > 1e-6*(1+math.Abs(reached)) {
			t.Fatalf("bound %.12g, the program reaches %.12g", r.Bound, reached)
		}
	})
}

// A count that is not whole lies within its bounds, and neither side of it has a higher bound than both together.
func TestFractional(t *testing.T) {
	branched := 0
	rapid.Check(t, func(t *rapid.T) {
		r, _ := drawResidual(t)
		r.Solve(math.Inf(-1))
		typ, count := r.Fractional()
		if typ < 0 {
			return
		}
		branched++
		whole, lo, hi := r.Bound, r.Lo[typ], r.Hi[typ]
		if count <= float64(lo) || count >= float64(hi) || count == math.Trunc(count) {
			t.Fatalf("type %d has %g containers, of %d to %d", typ, count, lo, hi)
		}
		for _, side := range [][2]int64{{lo, int64(count)}, {int64(count) + 1, hi}} {
			r.Lo[typ], r.Hi[typ] = side[0], side[1]
			r.Solve(math.Inf(-1))
			if r.Bound > whole+1e-6*(1+math.Abs(whole)) {
				t.Fatalf("type %d, %d to %d: bound %.12g, above %.12g of %d to %d", typ, side[0], side[1], r.Bound, whole, lo, hi)
			}
			if t2, n := r.Fractional(); t2 >= 0 && (n <= float64(r.Lo[t2]) || n >= float64(r.Hi[t2])) {
				t.Fatalf("type %d, %d to %d: type %d has %g containers, of %d to %d", typ, side[0], side[1], t2, n, r.Lo[t2], r.Hi[t2])
			}
			if n := r.Wanted(typ, 1e3, 0); n != side[1] {
				t.Fatalf("type %d, %d to %d: %d are wanted where they cost nothing", typ, side[0], side[1], n)
			}
		}
		// Fix sets the bounds back.
		r.Fix(func(i int32) bool { return r.Free[i] })
		if r.Lo[typ] != lo || r.Hi[typ] != hi {
			t.Fatalf("type %d: %d to %d after Fix, want %d to %d", typ, r.Lo[typ], r.Hi[typ], lo, hi)
		}
	})
	t.Logf("%d counts were not whole", branched)
}

// A search that knows what it must beat stops as soon as the bound does not: after fewer rounds, with a bound that is valid.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, _ := drawResidual(t)
		r.Solve(math.Inf(-1))
		best, pivots := r.Bound, r.Lp.pivots
		r.Solve(math.Inf(1))
		if r.Bound < best-1e-7*(1+math.Abs(best)) || r.Lp.pivots > pivots {
			t.Fatalf("bound %.12g after %d pivots; in full %.12g after %d", r.Bound, r.Lp.pivots, best, pivots)
		}
	})
}
