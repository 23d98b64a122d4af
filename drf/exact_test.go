// This file checks the two pieces of exact arithmetic against math/big.

package drf

import (
	"math"
	"math/big"
	"testing"

	"github.com/apportion/apportion/internal/must"
	"pgregory.net/rapid"
)

// genRate draws a float as Fill adds them: any magnitude in [2^-263, 2^263], often all ones.
func genRate(t *rapid.T) float64 {
	fraction := rapid.OneOf(rapid.Float64Range(1, 2), rapid.Just(math.Nextafter(2, 0)), rapid.Just(1.0)).Draw(t, "fraction")
	return math.Ldexp(fraction, rapid.IntRange(-263, 262).Draw(t, "exponent"))
}

// What is added and subtracted in any order leaves exactly the rest.
func TestPropExactSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sum exactSum
		want := new(big.Float).SetPrec(2000)
		var terms []float64
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(terms) > 0 && rapid.Bool().Draw(t, "subtract") {
				last := len(terms) - 1
				i := rapid.IntRange(0, last).Draw(t, "term")
				sum.sub(terms[i])
				want.Sub(want, big.NewFloat(terms[i]))
				terms[i] = terms[last]
				terms = terms[:last]
				continue
			}
			terms = append(terms, genRate(t))
			sum.add(terms[len(terms)-1])
			want.Add(want, big.NewFloat(terms[len(terms)-1]))
		}
		if exact, _ := want.Float64(); math.Abs(sum.value()-exact) > 0x1p-51*exact {
			t.Fatalf("sum %g, want %g", sum.value(), exact)
		}
		for _, term := range terms {
			sum.sub(term)
		}
		must.Equal(t, sum, (exactSum{}), "is left of nothing")
	})
}

// Ones all the way up: a carry runs through every word, and a borrow back.
func TestExactSumCarries(t *testing.T) {
	var sum exactSum
	for e := -263; e < 262; e++ {
		sum.add(math.Ldexp(1, e))
	}
	sum.add(math.Ldexp(1, -263))
	if got, want := sum.value(), math.Ldexp(1, 262); got != want {
		t.Errorf("sum %g, want %g", got, want)
	}
	sum.sub(math.Ldexp(1, -263))
	for e := -263; e < 262; e++ {
		sum.sub(math.Ldexp(1, e))
	}
	must.Equal(t, sum, (exactSum{}), "is left of nothing")
}

func TestPropCompareLevels(t *testing.T) {
	amount := rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(1<<53-3, 1<<53+3), rapid.Int64Range(math.MaxInt64-9, math.MaxInt64), rapid.Int64Min(0))
	weight := rapid.OneOf(rapid.SampledFrom([]float64{1, 2, 3, 5, 7, .1, .3, 1e12, 1e-12, MinWeight, MaxWeight}), rapid.Float64Range(.001, 1000))
	rapid.Check(t, func(t *rapid.T) {
		draw := func() (level, *big.Rat) {
			l, w := level{amount: amount.Draw(t, "amount"), total: amount.Draw(t, "total")}, weight.Draw(t, "weight")
			l.total = max(1, l.total)
			l.weight = newRatio(w)
			return l, new(big.Rat).Quo(big.NewRat(l.amount, l.total), new(big.Rat).SetFloat64(w))
		}
		a, exactA := draw()
		b, exactB := draw()
		if rapid.Bool().Draw(t, "tie") && a.amount < 1<<31 && a.total < 1<<31 { // the same, at weight 3 and 3 times the amount
			b = level{amount: a.amount * 3, total: a.total, weight: ratio{a.weight.mantissa * 3, a.weight.exponent}}
			exactB = exactA
		}
		if got, want := compareLevels(&a, &b), exactA.Cmp(exactB); got != want {
			t.Fatalf("compare %v and %v: %d, want %d", a, b, got, want)
		}
		if got, want := compareLevels(&b, &a), exactB.Cmp(exactA); got != want {
			t.Fatalf("compare %v and %v: %d, want %d", b, a, got, want)
		}
	})
}

// checkMultiply holds the three words of a product against the exact one.
func checkMultiply(t interface{ Fatalf(string, ...any) }, x, y int64, weight float64) {
	w := newRatio(weight)
	p, got := multiply(x, y, w), new(big.Int)
	for _, word := range []uint64{p.hi, p.mid, p.lo} {
		got.Lsh(got, 64).Or(got, new(big.Int).SetUint64(word))
	}
	want := new(big.Int).Mul(big.NewInt(x), big.NewInt(y))
	want.Mul(want, new(big.Int).SetUint64(w.mantissa))
	if want.Lsh(want, uint(w.exponent-p.exponent)).Cmp(got) != 0 {
		t.Fatalf("%d * %d * %d: got %v, want %v", x, y, w.mantissa, got, want)
	}
}

func TestPropMultiply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positive := rapid.Int64Range(1, math.MaxInt64)
		checkMultiply(t, positive.Draw(t, "x"), positive.Draw(t, "y"), rapid.Float64Range(1, 2).Draw(t, "weight"))
	})
}

// The middle word overflows once in thousands of random products, and in this one.
func TestMultiplyCarries(t *testing.T) {
	checkMultiply(t, 1<<62, 1<<13+1, math.Nextafter(2, 0))
}

// The number of containers below a level, against rational arithmetic.
func TestPropCountBelow(t *testing.T) {
	positive := rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1<<53-3, 1<<53+3), rapid.Int64Range(math.MaxInt64-9, math.MaxInt64), rapid.Int64Range(1, math.MaxInt64))
	weight := rapid.OneOf(rapid.SampledFrom([]float64{1, 3, .1, 1e12, MinWeight, MaxWeight}), rapid.Float64Range(.001, 1000))
	rapid.Check(t, func(t *rapid.T) {
		amount, total, w := positive.Draw(t, "amount"), positive.Draw(t, "total"), weight.Draw(t, "weight")
		u := newUnit(amount, total, w)
		share := big.NewRat(amount, total) // of one container, weighted
		share.Quo(share, new(big.Rat).SetFloat64(w))
		bound := genRate(t)
		if rapid.Bool().Draw(t, "tie") { // the level after some containers, rounded, and its neighbours
			bound, _ = new(big.Rat).Mul(share, big.NewRat(positive.Draw(t, "count"), 1)).Float64()
			bound = math.Nextafter(bound, rapid.SampledFrom([]float64{0, bound, math.Inf(1)}).Draw(t, "side"))
		}
		exact := new(big.Rat).Quo(new(big.Rat).SetFloat64(bound), share)
		want := new(big.Int).Add(exact.Num(), new(big.Int).Sub(exact.Denom(), big.NewInt(1)))
		want.Quo(want, exact.Denom())
		if most := big.NewInt(math.MaxInt64); want.Cmp(most) > 0 {
			want = most
		}
		must.Equal(t, countBelow(bound, &u), want.Int64(), "containers of", u, "below", bound, want)
	})
}

func TestCountBelowEdges(t *testing.T) {
	for _, test := range []struct {
		bound float64
		unit  unit
		want  int64
	}{
		{0, newUnit(1, 1, 1), 0},
		{0x1p-260, newUnit(math.MaxInt64, 1, 1), 1},
		{3, newUnit(1, 1, 1), 3},
		{2.5, newUnit(1, 1, 1), 3},
		{1 + 0x1p-52, newUnit(1, 3, 1), 4},                              // rounds to 3
		{1 + 0x1p-52, newUnit(1, math.MaxInt64-2047, 1), math.MaxInt64}, // 2^-41 less than 2^63
		{1, newUnit(1, math.MaxInt64, 1), math.MaxInt64},
		{0x1p200, newUnit(1, 1, 1), math.MaxInt64},
	} {
		must.Equal(t, countBelow(test.bound, &test.unit), test.want, "containers of", test.unit, "below", test.bound)
	}
}

// What lies in the lowest word alone counts as a fraction, wherever the integral part ends.
func TestCeilOverLowestWord(t *testing.T) {
	for size := 1; size <= 62; size++ {
		p := product{exponent: size - 192, hi: 1 << 63, lo: 1}
		if got, want := p.ceilOver(1), int64(1)<<(size-1)+1; got != want {
			t.Errorf("2^%d and a little: %d, want %d", size-1, got, want)
		}
	}
	p := product{exponent: 120 - 192, hi: 1 << 63, lo: 1}
	if got, want := p.ceilOver(1<<60), int64(1)<<59+1; got != want {
		t.Errorf("2^119 and a little over 2^60: %d, want %d", got, want)
	}
}
