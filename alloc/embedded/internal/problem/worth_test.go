// This file tests what applications lose and are worth against trying every count.

package problem

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/internal/rapidtest"
)

// Wanted is the best of all counts at any price, and LeastLoss the least of them without one.
func TestWantedAgainstTrial(t *testing.T) {
	compared := 0
	rapidtest.Until(t, "nothing was compared", func() bool { return compared > 0 }, func(t *rapid.T) {
		p := New(instancetest.Tiny(draws(t)))
		price := rapid.Float64Range(-1, 1).Draw(t, "price")
		lambda := rapid.SampledFrom([]float64{0, 0.25, 1, 4}).Draw(t, "lambda")
		for i := range p.Apps {
			a := &p.Apps[i]
			if a.Min > a.Max {
				continue // Impossible says so before anything is wanted
			}
			best, least := math.Inf(-1), math.Inf(1)
			for n := a.Min; n <= a.Max; n++ {
				best = math.Max(best, price*float64(n)-lambda*p.Loss(int32(i), n))
				least = math.Min(least, p.Loss(int32(i), n))
			}
			n, worth := p.Wanted(int32(i), price, lambda)
			if n < a.Min || n > a.Max || math.Abs(worth-best) > 1e-9 || math.Abs(worth-(price*float64(n)-lambda*p.Loss(int32(i), n))) > 1e-9 {
				t.Fatalf("application %d of %d to %d: %d are worth %g, the best is %g", i, a.Min, a.Max, n, worth, best)
			}
			if got := p.LeastLoss(int32(i)); math.Abs(got-least) > 1e-9 {
				t.Fatalf("application %d: least loss %g, want %g", i, got, least)
			}
			compared++
		}
	})
}

// A unit of loss decides among equals only: it outweighs no container, and counts for something.
func TestTieLoss(t *testing.T) {
	p := New(instancetest.Worked(instancetest.LR(0.5), instancetest.MF(0.5), instancetest.NN(0.5)))
	for at := range p.Types {
		if v := p.Types[at].Value; p.TieLoss <= 0 || p.TieLoss*10 > v {
			t.Errorf("a unit of loss is worth %g, a container of type %d %g", p.TieLoss, at, v)
		}
	}
	worthless := instancetest.Worked(instancetest.LR(0.5))
	worthless.Apps[0].Value = 0
	if p := New(worthless); p.TieLoss != 1 {
		t.Errorf("a unit of loss is worth %g where nothing else is, want 1", p.TieLoss)
	}
}

// Kept worth is the value of what is held and of staying, less its loss at the price.
func TestKeepWorth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		p := New(inst)
		for i := range p.Apps {
			app, held := &inst.Apps[i], int64(0)
			if !app.Running {
				continue
			}
			for _, placed := range app.Previous {
				held += placed.Count
			}
			want := app.Value*float64(held) + app.Stay - 2*math.Abs(app.Delta*float64(held)-app.Share)
			if got := p.KeepWorth(int32(i), 2); math.Abs(got-want) > 1e-9 || p.Apps[i].Held != held {
				t.Fatalf("application %d is worth %g with %d, want %g with %d", i, got, p.Apps[i].Held, want, held)
			}
		}
	})
}
