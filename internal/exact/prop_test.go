// This file tests the arithmetic against math/big on random vectors.

package exact_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/exact"
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
		sum, ok := exact.Add(a, b)
		check("Add", sum, ok, new(big.Int).Add(bigInt(a), bigInt(b)))
		product, ok := exact.Mul(a, b)
		check("Mul", product, ok, new(big.Int).Mul(bigInt(a), bigInt(b)))
	})
}

func TestPropLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.SliceOfN(quantity(), 4, 4).Draw(t, "factors")
		left := new(big.Int).Mul(bigInt(q[0]), bigInt(q[1]))
		right := new(big.Int).Mul(bigInt(q[2]), bigInt(q[3]))
		if got, want := exact.Less(q[0], q[1], q[2], q[3]), left.Cmp(right) < 0; got != want {
			t.Fatalf("Less%v = %v, want %v", q, got, want)
		}
	})
}

// AddTimesTo says ErrOverflow exactly where r + n*s or n*s leaves int64, and taking back what was
// added restores r where -n*s is an int64.
func TestPropAddTimesTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, s := pair(t)
		n := number().Draw(t, "n")
		fits, back := true, n != minInt
		want := make([]int64, len(r))
		for k := range r {
			product := new(big.Int).Mul(bigInt(n), bigInt(s[k]))
			sum := new(big.Int).Add(bigInt(r[k]), product)
			fits = fits && product.IsInt64() && sum.IsInt64()
			back = back && new(big.Int).Neg(product).IsInt64()
			want[k] = sum.Int64()
		}
		got := make([]int64, len(r))
		err := exact.AddTimesTo(got, r, n, s)
		if (err == nil) != fits || fits && !slices.Equal(got, want) {
			t.Fatalf("%v + %d*%v = %v, %v, want %v, fits %v", r, n, s, got, err, want, fits)
		}
		if fits && back {
			if err := exact.AddTimesTo(got, got, -n, s); err != nil || !slices.Equal(got, r) {
				t.Fatalf("taking back %d*%v gives %v, %v, want %v", n, s, got, err, r)
			}
		}
	})
}

// AddTo is AddTimesTo with n = 1, in either order.
func TestPropAddTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, s := pair(t)
		var sums [3][]int64
		var errs [3]error
		for i := range sums {
			sums[i] = make([]int64, len(r))
		}
		errs[0] = exact.AddTo(sums[0], r, s)
		errs[1] = exact.AddTo(sums[1], s, r)
		errs[2] = exact.AddTimesTo(sums[2], r, 1, s)
		if errs[0] != errs[1] || errs[0] != errs[2] || !slices.Equal(sums[0], sums[1]) || !slices.Equal(sums[0], sums[2]) {
			t.Fatalf("%v + %v = %v, %v", r, s, sums, errs)
		}
	})
}
