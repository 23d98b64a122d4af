package ortools

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/rapidtest"
)

func TestScaleForm(t *testing.T) {
	for name, test := range map[string]struct {
		coefs, reach []float64
		scale        float64 // 0: refused
		want         []int64
	}{
		"empty":               {nil, nil, 1, []int64{}},
		"whole":               {[]float64{3, -7}, []float64{10, 10}, 1, []int64{3, -7}},
		"tenths":              {[]float64{0.1, 0.2, -1.5}, []float64{1, 1, 1}, 10, []int64{1, 2, -15}},
		"bytes":               {[]float64{4e9, 8e9}, []float64{100, 100}, 1, []int64{4e9, 8e9}},
		"thirds":              {[]float64{1. / 3}, []float64{1}, 1e9, []int64{333333333}},
		"far apart":           {[]float64{1e-3, 1e12}, []float64{1, 1}, 1e3, []int64{1, 1e15}},
		"loose":               {[]float64{1. / 3, 1e11}, []float64{1, 1}, 1e7, []int64{3333333, 1e18}},
		"neither fits":        {[]float64{1. / 3, 1e12}, []float64{1, 1}, 0, nil},
		"too large":           {[]float64{1e10}, []float64{1e9}, 0, nil},
		"tiny, but it counts": {[]float64{1e-19}, []float64{1e13}, 0, nil},
	} {
		form, ok := scaleForm(test.coefs, test.reach, 1e-9, 2.5e-7)
		if ok != (test.scale > 0) || form.scale != test.scale {
			t.Errorf("%s: %+v, %v, want scale %v", name, form, ok, test.scale)
			continue
		}
		for k, want := range test.want {
			if form.coefs[k] != want {
				t.Errorf("%s: coefficients %v, want %v", name, form.coefs, test.want)
			}
		}
	}
}

// TestScaledRowKeepsItsPoints compares a scaled row with the true one in exact rationals: a point
// that keeps the true row keeps the scaled one, and a point that keeps the scaled one misses the
// true one by less than the tolerance.
func TestScaledRowKeepsItsPoints(t *testing.T) {
	kept, lost := 0, 0
	rapidtest.Until(t, "all points were kept, or none", func() bool { return kept > 0 && lost > 0 }, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "terms")
		coef := rapid.OneOf(rapid.Float64Range(-10, 10), rapid.SampledFrom([]float64{0.1, 0.2, 0.3, 1. / 3, 1e-3, 4, 1e6}))
		coefs := rapid.SliceOfN(coef, n, n).Draw(t, "coefs")
		x := rapid.SliceOfN(rapid.Int64Range(-20, 20), n, n).Draw(t, "point")
		reach := make([]float64, n)
		activity := 0.0
		for k := range reach {
			reach[k] = 20
			activity += coefs[k] * float64(x[k])
		}
		off := rapid.SampledFrom([]float64{0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-7, -1e-7, 1e-6, -1e-6, 0.5, -0.5}).Draw(t, "off")
		bound := activity + off
		const tolerance = 1e-6
		form, ok := scaleForm(coefs, reach, tightShare*tolerance, looseShare*tolerance)
		if !ok {
			return
		}
		var scaled int64
		for k, a := range form.coefs {
			scaled += a * x[k]
		}
		miss := exactMiss(coefs, x, bound)
		accepts := scaled <= form.atMost(bound, tightShare*tolerance)
		if miss <= 0 && !accepts {
			t.Fatalf("%v at %v <= %v is lost: %+v", coefs, x, bound, form)
		}
		if accepts && miss >= tolerance {
			t.Fatalf("%v at %v <= %v is missed by %g: %+v", coefs, x, bound, miss, form)
		}
		if accepts {
			kept++
		} else {
			lost++
		}
	})
}

// exactMiss returns by how much the point exceeds the bound.
func exactMiss(coefs []float64, x []int64, bound float64) float64 {
	sum := new(big.Rat)
	for k, a := range coefs {
		term := new(big.Rat).SetFloat64(a)
		sum.Add(sum, term.Mul(term, new(big.Rat).SetInt64(x[k])))
	}
	miss, _ := sum.Sub(sum, new(big.Rat).SetFloat64(bound)).Float64()
	return miss
}

func TestBoundsThatSayNothing(t *testing.T) {
	form, ok := scaleForm([]float64{2, 3}, []float64{10, 10}, 1e-9, 1e-7)
	if !ok {
		t.Fatal("refused")
	}
	for bound, want := range map[float64]int64{
		math.Inf(1): math.MaxInt64, 1e19: math.MaxInt64, 50: 50, 7.5: 7, -7.5: -8, -1e19: math.MinInt64,
	} {
		if got := form.atMost(bound, 1e-9); got != want {
			t.Errorf("at most %v: %d, want %d", bound, got, want)
		}
	}
	for bound, want := range map[float64]int64{
		math.Inf(-1): math.MinInt64, -1e19: math.MinInt64, 7.5: 8, -7.5: -7, 1e19: math.MaxInt64,
	} {
		if got := form.atLeast(bound, 1e-9); got != want {
			t.Errorf("at least %v: %d, want %d", bound, got, want)
		}
	}
}
