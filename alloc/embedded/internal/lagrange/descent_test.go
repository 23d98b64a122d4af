// This file tests the descent on functions whose minimum is known.

package lagrange

import (
	"context"
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// distance is the sum of |x_c - at_c|: convex, with a kink in each component; NaN while broken.
type distance struct {
	at, slope []float64
	broken    bool
	calls     int
}

func (f *distance) Evaluate(x []float64) float64 {
	f.calls++
	var sum float64
	for c := range x {
		sum += math.Abs(x[c] - f.at[c])
		f.slope[c] = 1
		if x[c] < f.at[c] {
			f.slope[c] = -1
		}
	}
	if f.broken {
		return math.NaN()
	}
	return sum
}

func (f *distance) gradient() []float64 { return f.slope }

// descentTo returns a descent, not started, with the minimum at at and scales of 1.
func descentTo(free, last int, at ...float64) (*distance, *Descent) {
	f := &distance{at: at, slope: make([]float64, len(at))}
	d := newDescent(f, len(at), free, 8)
	d.last = last
	for c := range d.Scale {
		d.Scale[c] = 1
	}
	return f, d
}

// Components before free and from last on may be negative, those between stay at 0, and one of scale 0 does
// not move.
func TestDescentStaysWithin(t *testing.T) {
	f, d := descentTo(1, 3, -2, -2, 3, -2, 5)
	d.Scale[4] = 0
	d.Start()
	d.Run(t.Context(), 200, 7, 0)
	want := []float64{-2, 0, 3, -2, 0}
	for c := range want {
		if math.Abs(d.Best[c]-want[c]) > 1e-6 {
			t.Errorf("component %d at %g, want %g", c, d.Best[c], want[c])
		}
	}
	if got := f.Evaluate(d.Best); got != d.Bound {
		t.Errorf("Bound %g, at the best point it is %g", d.Bound, got)
	}
}

// Start, and every run, keeps Bound the least value met, and Back returns to its point.
func TestDescentKeepsTheBest(t *testing.T) {
	_, d := descentTo(0, 2, 1, 4)
	if d.Start(); d.Bound != 5 {
		t.Fatalf("at the origin %g, want 5", d.Bound)
	}
	last := d.Bound
	for range 20 {
		d.Run(t.Context(), 3, 0, 0)
		if d.Bound > last {
			t.Fatalf("from %g up to %g", last, d.Bound)
		}
		last = d.Bound
		if got := d.Back(); got != d.Bound {
			t.Fatalf("Back finds %g, the bound is %g", got, d.Bound)
		}
	}
	if last == 5 {
		t.Error("nothing has improved")
	}
}

// A run ends at its rounds, at stop, at the end of the context, and once steps are tiny.
func TestDescentEnds(t *testing.T) {
	_, d := descentTo(0, 2, 1, 4)
	d.Start()
	if d.Run(t.Context(), 7, 0, 0); d.Rounds != 7 {
		t.Errorf("%d rounds, want 7", d.Rounds)
	}
	if d.Run(t.Context(), 100, 0, d.Bound); d.Rounds != 7 {
		t.Errorf("%d rounds, but the bound was at stop", d.Rounds)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if d.Run(ended, 100, 0, 0); d.Rounds != 7 {
		t.Errorf("%d rounds, but the context had ended", d.Rounds)
	}
	// It is over once the cuts promise nothing more.
	fuse := instancetest.NewFuse(1 << 20)
	if d.Run(fuse, 1<<20, -1, -1); d.still <= quiet || fuse.Left <= 0 || d.Bound > 1e-6 {
		t.Errorf("bound %g after %d rounds, the last %d without promise", d.Bound, d.Rounds, d.still)
	}
}

// Where numbers leave the range there is no bound, and nothing else changes.
func TestDescentWithoutNumbers(t *testing.T) {
	f, d := descentTo(0, 1, 2)
	f.broken = true
	if d.Start(); !math.IsInf(d.Bound, 1) {
		t.Errorf("bound %g, want +Inf", d.Bound)
	}
	f.broken = false
	if d.Start(); d.Bound != 2 {
		t.Errorf("bound %g, want 2", d.Bound)
	}
}

// No round makes the bound worse, whatever it promises.
func TestDescentNeverRises(t *testing.T) {
	p := problem.New(alloctest.Mixed(3, 15, 20, true))
	d := NewPriceDescent(NewDual(p, false))
	for last, round := d.Bound, 0; round < 200; round++ {
		if d.Run(t.Context(), 1, 0.5*d.Bound, 0); d.Bound > last {
			t.Fatalf("round %d: from %.12g up to %.12g", round, last, d.Bound)
		}
		last = d.Bound
	}
}

// Finer prices start as the coarser ones of the same servers, and prove as much.
func TestRefine(t *testing.T) {
	p := problem.New(alloctest.Mixed(3, 15, 20, true))
	coarse, fine := NewDual(p, true), NewDual(p, false)
	from, x := make([]float64, coarse.Dim()), make([]float64, fine.Dim())
	for c := range from {
		from[c] = float64(c+1) / 1e4
	}
	fine.Refine(x, coarse, from)
	if fine.Lambda(x) != coarse.Lambda(from) {
		t.Errorf("lambda %g, was %g", fine.Lambda(x), coarse.Lambda(from))
	}
	for j, g := range fine.ClassOf {
		if got, want := x[int(g)*p.Kinds+1], from[int(coarse.ClassOf[j])*p.Kinds+1]; got != want {
			t.Errorf("server %d: price %g, was %g", j, got, want)
		}
	}
	if got, want := fine.Evaluate(x), coarse.Evaluate(from); got > want+1e-9 {
		t.Errorf("bound %g, was %g", got, want)
	}
}
