// This file tests the arithmetic of work.

package sim

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func (w work) big() *big.Int {
	hi := new(big.Int).Lsh(new(big.Int).SetUint64(w.hi), 64)
	return hi.Add(hi, new(big.Int).SetUint64(w.lo))
}

// Work is exact: compared with big integers up to the largest quantities.
func TestWork(t *testing.T) {
	quantity := rapid.OneOf(rapid.Int64Range(0, 100), rapid.Int64Range(0, math.MaxInt64))
	rapid.Check(t, func(rt *rapid.T) {
		rate, d := quantity.Draw(rt, "rate"), time.Duration(quantity.Draw(rt, "time"))
		w := product(rate, d)
		want := new(big.Int).Mul(big.NewInt(rate), big.NewInt(int64(d)))
		if w.big().Cmp(want) != 0 {
			rt.Fatalf("%d times %d is %v, want %v", rate, d, w.big(), want)
		}
		if got, exact := w.float(), new(big.Float).SetInt(want); exact.Sub(exact, big.NewFloat(got)).Cmp(big.NewFloat(got*1e-15)) > 0 {
			rt.Fatalf("%v as a float is %v", want, got)
		}
		v := product(quantity.Draw(rt, "rate2"), time.Duration(quantity.Draw(rt, "time2")))
		left := new(big.Int).Sub(want, v.big())
		if left.Sign() < 0 {
			left.SetInt64(0)
		}
		if got := w.minus(v).big(); got.Cmp(left) != 0 {
			rt.Fatalf("left %v, want %v", got, left)
		}
		checkTimeAt(rt, w, max(1, quantity.Draw(rt, "speed")))
	})
}

func checkTimeAt(rt *rapid.T, w work, speed int64) {
	by := big.NewInt(speed)
	ceiling := new(big.Int).Div(new(big.Int).Add(w.big(), new(big.Int).Sub(by, big.NewInt(1))), by)
	d, ok := w.timeAt(speed)
	if ok != ceiling.IsInt64() || ok && ceiling.Int64() != int64(d) {
		rt.Fatalf("%v at %d takes %d, %t, want %v", w.big(), speed, d, ok, ceiling)
	}
}

func TestRateOf(t *testing.T) {
	for _, test := range []struct {
		speed float64
		rate  int64
		ok    bool
	}{
		{1, Whole, true}, {2.5, 2_500_000, true}, {1e-9, 1, true}, {1e12, 1_000_000_000_000_000_000, true},
		{0, 0, false}, {-1, 0, false}, {math.NaN(), 0, false}, {math.Inf(1), 0, false}, {2e12, 0, false},
	} {
		if rate, ok := rateOf(test.speed); rate != test.rate || ok != test.ok {
			t.Errorf("speed %v: rate %d, %t, want %d, %t", test.speed, rate, ok, test.rate, test.ok)
		}
	}
}
