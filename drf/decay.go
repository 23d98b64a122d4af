// This file implements exponential decay in whole numbers: the factor of an interval, and the mean that it keeps.

package drf

import "math/bits"

// A mean has meanBits bits behind its point, a factor factorBits.
const (
	meanBits   = 40
	factorBits = 62
	whole62    = 1 << factorBits // a factor of 1
)

// fixed is a number of 128 bits.
type fixed struct{ hi, lo uint64 }

// ln2 is the natural logarithm of 2 with 128 bits behind its point.
var ln2 = fixed{0xb17217f7d1cf79ab, 0xc9e3b39803f2f6af}

// times returns the upper half of the product.
func (a fixed) times(b fixed) fixed {
	low, _ := bits.Mul64(a.lo, b.lo)
	high1, low1 := bits.Mul64(a.hi, b.lo)
	high2, low2 := bits.Mul64(a.lo, b.hi)
	high, middle := bits.Mul64(a.hi, b.hi)
	low, carry := bits.Add64(low, low1, 0)
	middle, carry1 := bits.Add64(middle, high1, carry)
	_, carry = bits.Add64(low, low2, 0)
	middle, carry2 := bits.Add64(middle, high2, carry)
	return fixed{high + carry1 + carry2, middle}
}

// over returns a/d rounded down.
func (a fixed) over(d uint64) fixed {
	low, _ := bits.Div64(a.hi%d, a.lo, d)
	return fixed{a.hi / d, low}
}

// keeps returns 2^(-interval/halfLife), the part of a mean that is left after an interval, times 2^62 and rounded to nearest.
// It is computed with 118 bits. halfLife must be positive, interval not negative.
func keeps(interval, halfLife int64) uint64 {
	halvings, rest := interval/halfLife, uint64(interval%halfLife)
	if halvings > factorBits+1 {
		return 0
	}
	// The fraction of a half-life has 128 bits behind its point; a 16th of its logarithm needs few terms of the series.
	var x fixed
	x.hi, rest = bits.Div64(rest, 0, uint64(halfLife))
	x.lo, _ = bits.Div64(rest, 0, uint64(halfLife))
	const squarings, terms = 4, 16 // (ln 2 / 16)^16 / 16! is below 2^-116
	y := x.times(ln2)
	y = fixed{y.hi >> squarings, y.lo>>squarings | y.hi<<(64-squarings)}
	// exp(-y) = 1 - y/1 (1 - y/2 (1 - y/3 ...)), with 127 bits behind the point.
	power := fixed{1 << 63, 0}
	for n := uint64(terms); n > 0; n-- {
		term := y.times(power).over(n)
		low, borrow := bits.Sub64(0, term.lo, 0)
		power = fixed{1<<63 - term.hi - borrow, low}
	}
	for range squarings {
		power = power.times(power)
		power = fixed{power.hi<<1 | power.lo>>63, power.lo << 1}
	}
	// What is below the upper word decides no rounding: half of the last bit is a whole number of these.
	return (power.hi>>halvings + 1) >> 1
}

// mean is an amount that is averaged over time, with meanBits bits behind the point.
type mean = fixed

// blend returns what is left of a mean after an interval and an amount that was used in it: mean*keep + used*(1-keep), rounded to
// the nearest last bit. It lies between the two.
func blend(m mean, used int64, keep uint64) mean {
	u := mean{uint64(used) >> (64 - meanBits), uint64(used) << meanBits}
	take := whole62 - keep
	// Products of 128 and 62 bits: three words, the first 0 in each sum but for a carry.
	words := [3]uint64{1 << (factorBits - 1), 0, 0}
	for _, part := range [...]struct {
		amount mean
		factor uint64
	}{{m, keep}, {u, take}} {
		high, low := bits.Mul64(part.amount.lo, part.factor)
		top, middle := bits.Mul64(part.amount.hi, part.factor)
		var carry uint64
		words[0], carry = bits.Add64(words[0], low, 0)
		words[1], carry = bits.Add64(words[1], high, carry)
		words[2] += carry
		words[1], carry = bits.Add64(words[1], middle, 0)
		words[2] += top + carry
	}
	const up = 64 - factorBits
	return mean{words[1]>>factorBits | words[2]<<up, words[0]>>factorBits | words[1]<<up}
}

// fade returns a mean of which nothing was used in an interval, rounded down: it comes to 0 in the end.
func fade(m mean, keep uint64) mean {
	high, low := bits.Mul64(m.lo, keep)
	top, middle := bits.Mul64(m.hi, keep)
	middle, carry := bits.Add64(middle, high, 0)
	const up = 64 - factorBits
	return mean{middle>>factorBits | (top+carry)<<up, low>>factorBits | middle<<up}
}
