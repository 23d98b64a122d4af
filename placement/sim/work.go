// This file implements exact arithmetic on work: a rate times a time in 128 bits.

package sim

import (
	"math"
	"math/bits"
	"time"
)

// Whole is the rate of speed 1, so a rate counts millionths of it. A speed is rounded to a rate once;
// from there on work is counted in integers, so that what was asked for and what was done can be
// compared exactly. On a Shared worker, Whole is also the share of a whole worker.
const Whole int64 = 1_000_000

// maxSpeed bounds a speed so that its rate fits int64 with room to spare.
const maxSpeed = 1e12

// work is a rate times a number of nanoseconds, as an unsigned integer of 128 bits: at the largest rate an
// int64 would overflow after some nanoseconds.
type work struct{ hi, lo uint64 }

// product returns the work that is done at a rate in a time; both must not be negative. It cannot
// overflow.
func product(rate int64, d time.Duration) work {
	hi, lo := bits.Mul64(uint64(rate), uint64(d))
	return work{hi, lo}
}

// minus returns w - v, or zero where v is larger: the last nanosecond of a job may do more than is left.
func (w work) minus(v work) work {
	lo, borrow := bits.Sub64(w.lo, v.lo, 0)
	hi, borrow := bits.Sub64(w.hi, v.hi, borrow)
	if borrow != 0 {
		return work{}
	}
	return work{hi, lo}
}

// float returns the nearest float64 of the number of units.
func (w work) float() float64 { return float64(float64(w.hi)*(1<<64)) + float64(w.lo) }

// isZero reports whether there is nothing to do.
func (w work) isZero() bool { return w == work{} }

// timeAt returns the least whole number of nanoseconds in which a positive rate does the work; ok
// is false if that exceeds time.Duration.
func (w work) timeAt(rate int64) (d time.Duration, ok bool) {
	if w.hi >= uint64(rate) {
		return 0, false
	}
	quotient, rest := bits.Div64(w.hi, w.lo, uint64(rate))
	if rest > 0 {
		quotient++ // cannot wrap: the check below refuses anything near
	}
	if quotient > math.MaxInt64 {
		return 0, false
	}
	return time.Duration(quotient), true
}

// rateOf rounds a speed to a rate of at least one unit; ok is false for a speed that is not positive,
// not finite or above maxSpeed.
func rateOf(speed float64) (rate int64, ok bool) {
	if !(speed > 0 && speed <= maxSpeed) {
		return 0, false
	}
	return max(1, int64(math.Round(speed*float64(Whole)))), true
}
