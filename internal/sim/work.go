// This file implements exact arithmetic on work: speed times time in 128 bits.

package sim

import (
	"math"
	"math/bits"
	"time"
)

// rateScale is how many units of rate one container of a linear application has. Speeds are
// rounded to such a unit once; from there on work is counted in integers, so that what was asked
// for and what was done can be compared exactly.
const rateScale = 1_000_000

// maxSpeed bounds a speed so that its rate fits int64 with room to spare.
const maxSpeed = 1e12

// work is a product of a rate and a number of nanoseconds.
type work struct{ hi, lo uint64 }

// product returns the work done at a rate, not negative, in a time that is not negative.
func product(rate int64, d time.Duration) work {
	hi, lo := bits.Mul64(uint64(rate), uint64(d))
	return work{hi, lo}
}

// minus returns w - v, or zero where v is larger.
func (w work) minus(v work) work {
	lo, borrow := bits.Sub64(w.lo, v.lo, 0)
	hi, borrow := bits.Sub64(w.hi, v.hi, borrow)
	if borrow != 0 {
		return work{}
	}
	return work{hi, lo}
}

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

// rateOf rounds a speed, in containers, to a rate of at least one unit; ok is false for a speed
// that is not positive, not finite or above maxSpeed.
func rateOf(speed float64) (rate int64, ok bool) {
	if !(speed > 0 && speed <= maxSpeed) {
		return 0, false
	}
	return max(1, int64(math.Round(speed*rateScale))), true
}
