// This file tests the arithmetic against math/big, and the text form against itself, on random
// vectors.

package apportion_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
)

func bigInt(x int64) *big.Int { return big.NewInt(x) }

func TestPropArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := number().Draw(t, "a"), number().Draw(t, "b")
		check := func(name string, got int64, ok bool, want *big.Int) {
			if ok != want.IsInt64() || ok && got != want.Int64() {
				t.Fatalf("%s(%d, %d) = %d, %v, want %v", name, a, b, got, ok, want)
			}
		}
		sum, ok := apportion.Add64(a, b)
		check("Add64", sum, ok, new(big.Int).Add(bigInt(a), bigInt(b)))
		product, ok := apportion.Mul64(a, b)
		check("Mul64", product, ok, new(big.Int).Mul(bigInt(a), bigInt(b)))
	})
}

func TestPropLess128(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.SliceOfN(quantity(), 4, 4).Draw(t, "factors")
		left := new(big.Int).Mul(bigInt(q[0]), bigInt(q[1]))
		right := new(big.Int).Mul(bigInt(q[2]), bigInt(q[3]))
		if got, want := apportion.Less128(q[0], q[1], q[2], q[3]), left.Cmp(right) < 0; got != want {
			t.Fatalf("Less128%v = %v, want %v", q, got, want)
		}
	})
}

// Count is the largest number of copies that FitsIn: one more does not fit, or does not exist.
func TestPropCountIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		demand, room := pair(t)
		n := demand.CountIn(room)
		if demand.IsZero() {
			if n != maxInt {
				t.Fatalf("%v.CountIn(%v) = %d", demand, room, n)
			}
			return
		}
		if n < 0 || !timesFits(n, demand, room) || timesFits(n+1, demand, room) {
			t.Fatalf("%v.CountIn(%v) = %d is not the most", demand, room, n)
		}
		if (n >= 1) != demand.FitsIn(room) {
			t.Fatalf("%v.CountIn(%v) = %d, FitsIn %v", demand, room, n, demand.FitsIn(room))
		}
	})
}

// timesFits computes in big integers; n may be MaxInt64+1 written as MinInt64.
func timesFits(n int64, demand, room apportion.Resources) bool {
	times := new(big.Int).SetUint64(uint64(n))
	for k := range demand {
		if new(big.Int).Mul(times, bigInt(demand[k])).Cmp(bigInt(room[k])) > 0 {
			return false
		}
	}
	return true
}

// AddTimesTo says ErrOverflow exactly where r + n*s or n*s leaves int64, and taking back what was
// added restores r where -n*s is an int64.
func TestPropAddTimesTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, s := pair(t)
		n := number().Draw(t, "n")
		fits, back := true, n != minInt
		want := make(apportion.Resources, len(r))
		for k := range r {
			product := new(big.Int).Mul(bigInt(n), bigInt(s[k]))
			sum := new(big.Int).Add(bigInt(r[k]), product)
			fits = fits && product.IsInt64() && sum.IsInt64()
			back = back && new(big.Int).Neg(product).IsInt64()
			want[k] = sum.Int64()
		}
		got := make(apportion.Resources, len(r))
		err := apportion.AddTimesTo(got, r, n, s)
		if (err == nil) != fits || fits && !got.Equal(want) {
			t.Fatalf("%v + %d*%v = %v, %v, want %v, fits %v", r, n, s, got, err, want, fits)
		}
		if fits && back {
			if err := apportion.AddTimesTo(got, got, -n, s); err != nil || !got.Equal(r) {
				t.Fatalf("taking back %d*%v gives %v, %v, want %v", n, s, got, err, r)
			}
		}
	})
}

// AddTo is AddTimesTo with n = 1, in either order.
func TestPropAddTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, s := pair(t)
		var sums [3]apportion.Resources
		var errs [3]error
		for i := range sums {
			sums[i] = make(apportion.Resources, len(r))
		}
		errs[0] = apportion.AddTo(sums[0], r, s)
		errs[1] = apportion.AddTo(sums[1], s, r)
		errs[2] = apportion.AddTimesTo(sums[2], r, 1, s)
		if errs[0] != errs[1] || errs[0] != errs[2] || !sums[0].Equal(sums[1]) || !sums[0].Equal(sums[2]) {
			t.Fatalf("%v + %v = %v, %v", r, s, sums, errs)
		}
	})
}

// DominantShare names the first kind whose fraction no other exceeds, compared as fractions.
func TestPropDominantShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, total := pair(t)
		var most *big.Rat
		want := -1
		for k := range r {
			if r[k] == 0 || total[k] == 0 {
				continue
			}
			if f := big.NewRat(r[k], total[k]); most == nil || f.Cmp(most) > 0 {
				most, want = f, k
			}
		}
		share, kind := r.DominantShare(total)
		if kind != want {
			t.Fatalf("%v of %v: kind %d, want %d", r, total, kind, want)
		}
		wantShare := 0.0
		if want >= 0 {
			wantShare = float64(r[want]) / float64(total[want])
		}
		if share != wantShare {
			t.Fatalf("%v of %v: share %g, want %g", r, total, share, wantShare)
		}
	})
}

// What Format writes, Parse reads back.
func TestPropTextForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := apportion.Kinds(rapid.SliceOfNDistinct(rapid.String(), 1, 6, rapid.ID[string]).Draw(t, "kinds"))
		if kinds.Validate() != nil {
			t.Skip("names that Validate refuses")
		}
		r := resources(len(kinds)).Draw(t, "r")
		got, err := kinds.Parse(kinds.Format(r))
		if err != nil || !got.Equal(r) {
			t.Fatalf("Parse(%q) = %v, %v, want %v", kinds.Format(r), got, err, r)
		}
	})
}
