// This file tests curves against their numbers.

package problem

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/solver"
)

// A curve passes through its numbers and is straight between them; the rises come to a concave function above it that
// touches it at both ends and at the best number.
func TestCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		app := &solver.App{Min: rapid.Int64Range(0, 3).Draw(t, "min"), Step: rapid.Int64Range(0, 3).Draw(t, "step"), Idle: 1}
		app.Max = app.Min + rapid.Int64Range(3, 12).Draw(t, "more")
		numbers := 0
		for n := int64(1); n <= app.Max; n++ {
			if app.Allows(n) {
				numbers++
			}
		}
		app.Worth = rapid.SliceOfN(rapid.Float64Range(-3, 3), numbers, numbers).Draw(t, "worth")
		most := rapid.Int64Range(1, app.Max).Draw(t, "most")
		c := newCurve(app, most, 2)
		if len(c.At) == 0 {
			t.Skip("no number")
		}
		first, last := c.At[0], c.At[len(c.At)-1]
		above, rise, touched := c.Of(first), math.Inf(1), false
		for n := first; n <= last; n++ {
			if app.Allows(n) && (c.Of(n) != app.Extra(n) || n > most) {
				t.Fatalf("%d are worth %g, want %g", n, c.Of(n), app.Extra(n))
			}
			if !app.Allows(n) && math.Abs(2*c.Of(n)-c.Of(n-1)-c.Of(n+1)) > 1e-9 {
				t.Fatalf("there is a bend at %d", n)
			}
			if c.Of(n) > above+1e-9 {
				t.Fatalf("%d are worth %g, and the envelope is at %g", n, c.Of(n), above)
			}
			touched = touched || c.Of(n) == slices.Max(c.Extra) && c.Of(n) > above-1e-9
			if n < last {
				r := c.Rise(n)
				if r > rise+1e-9 {
					t.Fatalf("the rise from %d on is %g, and before %g", n, r, rise)
				}
				above, rise = above+r, r
			}
		}
		if math.Abs(above-c.Of(last)) > 1e-9 || !touched {
			t.Fatalf("the envelope ends at %g, the curve at %g; it touches the best: %v", above, c.Of(last), touched)
		}
		if c.Rise(last) != 0 || c.Of(last+5) != c.Of(last) || c.Of(first-1) != c.Of(first) {
			t.Fatal("there is more beyond the ends")
		}
	})
}
