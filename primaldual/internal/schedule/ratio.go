// This file rounds ratios up exactly, for constraint (6) of [OASiS].

package schedule

import "math/bits"

// CeilMulDiv returns ceil(a b/c) for a, b >= 0 and c >= b, c > 0, exactly.
func CeilMulDiv(a, b, c int64) int64 {
	// The product has up to 126 bits. The quotient fits 64, since c >= b makes it at most a.
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	quotient, rest := bits.Div64(hi, lo, uint64(c))
	if rest > 0 {
		quotient++
	}
	return int64(quotient)
}
