// This file holds exactSum, a sum of floats without rounding.

package drf

import (
	"math"
	"math/bits"
)

// A sum keeps the bits from 2^-sumBase up, in words of 64. The rates that Fill adds lie in
// [2^-263, 2^263]: weights in [2^-200, 2^200] times quotients of quantities below 2^63. With 53
// bits of precision below and 2^31 terms above, 12 words hold every sum exactly.
const (
	sumWords = 12
	sumBase  = 384
)

// exactSum is a sum of float64s held as one long integer. Because nothing is ever rounded, the
// order of the terms does not matter and what was added can be subtracted without a trace; a sum
// of floats has neither property, and with weights that differ by 1e12 the trace would be larger
// than the small terms.
//
// Source: the long accumulator of U. Kulisch.
type exactSum [sumWords]uint64

// split returns the mantissa of x >= 0 as two words and the place of the lower one.
// x is normal and at least 2^-263, so that word is not negative and its bits lie above 2^-sumBase.
func split(x float64) (lo, hi uint64, word int) {
	// An IEEE 754 double has 52 bits of fraction, with a leading 1 that is not written.
	const fraction = 1<<52 - 1
	raw := math.Float64bits(x)
	// 1075 is the bias 1023 and the 52 bits of the fraction, so that position counts from the lowest bit
	// of the mantissa.
	position := int(raw>>52) - 1075 + sumBase
	mantissa := raw&fraction | 1<<52
	// A shift by 64 gives 0 in Go, which is right where the mantissa ends with its word.
	return mantissa << (position & 63), mantissa >> (64 - position&63), position >> 6
}

// add adds x, a normal positive number or zero.
// The carry stays within the highest word as long as there are fewer than 2^31 terms.
func (s *exactSum) add(x float64) {
	if x == 0 {
		return
	}
	// The mantissa covers two words. A carry out of them runs upward as far as there are ones.
	lo, hi, i := split(x)
	var carry uint64
	s[i], carry = bits.Add64(s[i], lo, 0)
	s[i+1], carry = bits.Add64(s[i+1], hi, carry)
	for i += 2; carry != 0; i++ {
		s[i], carry = bits.Add64(s[i], 0, carry)
	}
}

// sub takes x away, which must have been added before.
func (s *exactSum) sub(x float64) {
	if x == 0 {
		return
	}
	// A borrow runs upward as far as there are zeros; it ends, as x was added before.
	lo, hi, i := split(x)
	var borrow uint64
	s[i], borrow = bits.Sub64(s[i], lo, 0)
	s[i+1], borrow = bits.Sub64(s[i+1], hi, borrow)
	for i += 2; borrow != 0; i++ {
		s[i], borrow = bits.Sub64(s[i], 0, borrow)
	}
}

// addWhole adds x >= 0.
func (s *exactSum) addWhole(x int64) {
	carry := uint64(x)
	for i := sumBase / 64; carry != 0; i++ {
		s[i], carry = bits.Add64(s[i], carry, 0)
	}
}

// subWhole takes x away, which must have been added before.
func (s *exactSum) subWhole(x int64) {
	borrow := uint64(x)
	for i := sumBase / 64; borrow != 0; i++ {
		s[i], borrow = bits.Sub64(s[i], borrow, 0)
	}
}

// below returns limit less the sum, rounded once, 0 where the sum is more.
func (s *exactSum) below(limit int64) float64 {
	var left exactSum
	left.addWhole(limit)
	var borrow uint64
	for i := range left {
		left[i], borrow = bits.Sub64(left[i], s[i], borrow)
	}
	if borrow != 0 {
		return 0
	}
	return left.value()
}

// value returns the sum rounded to a float64, within two units of the last place.
func (s *exactSum) value() float64 {
	// Only the two highest words that hold something count: what lies below is less than 2^-64 of them.
	i := sumWords - 1
	for i > 0 && s[i] == 0 {
		i--
	}
	// The conversion rounds once, the sum below once more: two units in the last place at most.
	sum := float64(s[i])
	if i == 0 {
		return sum * pow2(-sumBase)
	}
	sum = float64(sum*0x1p64) + float64(s[i-1])
	return sum * pow2(64*(i-1)-sumBase)
}

// pow2 returns 2^e for e in the range of normal numbers.
func pow2(e int) float64 { return math.Float64frombits(uint64(1023+e) << 52) }
