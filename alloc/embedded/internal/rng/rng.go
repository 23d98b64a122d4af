// This file holds the solver's own random numbers: splitmix64, so that a seed means the same
// everywhere and for ever.

package rng

import (
	"math/bits"
)

// Source is a splitmix64 generator; any value is a valid state.
type Source uint64

// The constants are those of splitmix64: the golden ratio as the step, then a mix whose every output bit
// depends on every state bit. The period is 2^64.
func (r *Source) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Below returns a number in [0, n), n > 0.
func (r *Source) Below(n int) int {
	// The upper half of next n is as uniform as n/2^64 allows, without the division that a modulus takes.
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// Float returns a number in [0, 1).
// 53 bits fill the mantissa, so that 1 is never reached by rounding.
func (r *Source) Float() float64 { return float64(r.next()>>11) * 0x1p-53 }
