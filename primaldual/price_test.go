// This file tests the price function, eq. (22).

package primaldual

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The price is L on an empty server, U on a full one, and rises by the same factor with every unit.
func TestPriceProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lower := math.Ldexp(rapid.Float64Range(1, 2).Draw(t, "L"), rapid.IntRange(-300, 300).Draw(t, "exponent"))
		upper := lower * rapid.Float64Range(1.01, 1e9).Draw(t, "U/L")
		capacity := rapid.Int64Range(1, 1000).Draw(t, "capacity")
		c := newCurve(upper, lower)
		for used, p := range []float64{c.at(0, capacity), c.at(capacity, capacity)} {
			if want := []float64{lower, upper}[used]; math.Abs(p-want) > 1e-9*want {
				t.Fatalf("price %g, want %g", p, want)
			}
		}
		factor := math.Pow(upper/lower, 1/float64(capacity))
		for used := int64(1); used <= min(capacity, 20); used++ {
			before, after := c.at(used-1, capacity), c.at(used, capacity)
			if math.Abs(after-factor*before) > 1e-9*after {
				t.Fatalf("unit %d of %d: price %g after %g, want a factor of %g", used, capacity, after, before, factor)
			}
		}
	})
}
