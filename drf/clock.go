// This file holds clock, a level with twice the digits of a float: a queue's level may stand nearly still while claims below
// it rise, and their rise must not drown in the rounding of the level.

package drf

import "math"

// never is a clock that is never reached.
var never = clock{hi: math.Inf(1)}

// clock is the number hi + lo, with hi the nearest float.
//
// Source: T. J. Dekker. A floating-point technique for extending the available precision. 1971.
type clock struct{ hi, lo float64 }

// plus returns c + x, never for +Inf.
func (c clock) plus(x float64) clock {
	sum := c.hi + x
	if math.IsInf(sum, 1) {
		return never
	}
	part := sum - c.hi
	rest := (c.hi - (sum - part)) + (x - part) + c.lo
	hi := sum + rest
	return clock{hi, rest - (hi - sum)}
}

func (c clock) since(d clock) float64 { return (c.hi - d.hi) + (c.lo - d.lo) }

// compare returns a negative number if c is before d, 0 if they are equal.
func (c clock) compare(d clock) int {
	switch {
	case c.hi < d.hi, c.hi == d.hi && c.lo < d.lo:
		return -1
	case c.hi > d.hi, c.lo > d.lo:
		return 1
	}
	return 0
}
