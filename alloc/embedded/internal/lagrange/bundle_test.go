// This file tests bundles of cuts: proposals against every nearby point, and what merging keeps.

package lagrange

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/rapidtest"
)

// drawBundle draws up to eight cuts with room for five, some components of which may go down a little only, and
// one proposal after another.
func drawBundle(t *rapid.T) *bundle {
	dim := rapid.IntRange(1, 5).Draw(t, "components")
	b := newBundle(dim, 5)
	b.t = rapid.SampledFrom([]float64{0.1, 1, 20}).Draw(t, "t")
	scale, slope := make([]float64, dim), make([]float64, dim)
	for c := range b.least {
		scale[c] = 0.5
		b.least[c] = rapid.SampledFrom([]float64{0, -0.5, -2, math.Inf(-1)}).Draw(t, "least")
	}
	for range rapid.IntRange(1, 8).Draw(t, "cuts") {
		for c := range slope {
			slope[c] = float64(rapid.IntRange(-3, 3).Draw(t, "slope"))
		}
		b.add(-float64(rapid.IntRange(0, 6).Draw(t, "value"))/2, scale, slope)
		b.propose(0, 1e-12)
	}
	return &b
}

// near returns what a proposal minimizes, at move.
func (b *bundle) near(move []float64) float64 {
	model := math.Inf(-1)
	for i, slope := range b.slopes[:len(b.values)] {
		model = math.Max(model, b.values[i]+dot(slope, move))
	}
	return model + dot(move, move)/(2*b.t)
}

// checkGram tests that gram is that of the slopes without the components that are held.
func (b *bundle) checkGram(t *rapid.T) {
	for i := range b.values {
		for j := range b.values {
			var want float64
			for c, held := range b.held {
				if !held {
					want += b.slopes[i][c] * b.slopes[j][c]
				}
			}
			if math.Abs(b.gram[i][j]-want) > 1e-9 {
				t.Fatalf("gram[%d][%d] = %g, the slopes give %g", i, j, b.gram[i][j], want)
			}
		}
	}
}

// Proposals are within their bounds, exact where that is asked for, and no point around is better.
func TestProposals(t *testing.T) {
	heldOnce := false
	rapidtest.Until(t, "no component was ever held", func() bool { return heldOnce }, func(t *rapid.T) {
		b := drawBundle(t)
		model, lower := b.propose(math.Inf(-1), 1e-12)
		b.checkGram(t)
		at := b.near(b.move)
		if model-lower > 1e-5 {
			t.Fatalf("a proposal of %g, which may be as low as %g", model, lower)
		}
		other := make([]float64, len(b.move))
		for range 100 {
			for c, step := range b.move {
				if step < b.least[c] {
					t.Fatalf("component %d goes by %g, at least %g is allowed", c, step, b.least[c])
				}
				heldOnce = heldOnce || b.held[c]
				other[c] = math.Max(b.least[c], step+rapid.Float64Range(-1, 1).Draw(t, "way"))
			}
			if got := b.near(other); got < at-1e-5 {
				t.Fatalf("%v has %.9g, %v has %.9g", b.move, at, other, got)
			}
		}
	})
}

// A full bundle forgets a cut without weight, or merges two: what the weighted cuts say together stays.
func TestMerge(t *testing.T) {
	merged := 0
	rapidtest.Until(t, "no cuts were merged", func() bool { return merged > 0 }, func(t *rapid.T) {
		b := drawBundle(t)
		if len(b.values) < b.most {
			t.Skip("there is room")
		}
		var sum float64
		for i := range b.w {
			b.w[i] = float64(rapid.IntRange(0, 4).Draw(t, "weight"))
			sum += b.w[i]
		}
		if sum == 0 {
			t.Skip("no cut has weight")
		}
		say := func() (value float64) {
			for i, w := range b.w {
				value += w * b.values[i]
			}
			b.average()
			return value
		}
		value := say()
		mean := append([]float64(nil), b.mean...)
		at := b.merge()
		if b.w[at] > 0 {
			merged++
		}
		b.w[at], b.values[at] = 0, 0
		clear(b.slopes[at])
		if got := say(); math.Abs(got-value) > 1e-9 {
			t.Fatalf("the cuts had %g together, have %g", value, got)
		}
		for c := range mean {
			if math.Abs(b.mean[c]-mean[c]) > 1e-9 {
				t.Fatalf("component %d: slope %g together, now %g", c, mean[c], b.mean[c])
			}
		}
		for i := range b.values {
			b.gram[at][i], b.gram[i][at] = 0, 0
		}
		b.checkGram(t)
	})
}

// Moving the center changes the values of cuts by what they say about the way, and clear leaves nothing.
func TestShiftAndClear(t *testing.T) {
	b := newBundle(2, 3)
	b.add(1, []float64{1, 2}, []float64{3, 4})
	b.move = []float64{-1, 0.5}
	if b.shift(); b.values[0] != 1-3+4 || b.slopes[0][1] != 8 || b.gram[0][0] != 9+64 || b.size != 73 || b.w[0] != 1 {
		t.Errorf("%+v", b)
	}
	b.held[1] = true
	b.clear()
	if len(b.values) != 0 || len(b.w) != 0 || b.size != 0 || b.held[1] {
		t.Errorf("something stays: %+v", b)
	}
}
