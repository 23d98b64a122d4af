// This file holds arithmetic that stops at the largest number instead of overflowing, and keys of vectors.

package problem

import (
	"encoding/binary"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

// gcd returns the greatest common divisor of a, b >= 0 by Euclid's algorithm, O(log min(a, b)). gcd(0, b) = b,
// so that 0 begins a fold over any list, and a list of zeros gives 0.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Key appends the quantities of r to key: equal vectors have equal keys.
func Key(key []byte, r apportion.Resources) []byte {
	// Each quantity takes the same 8 bytes: without a separator no two vectors of one length share a key.
	for _, q := range r {
		key = binary.LittleEndian.AppendUint64(key, uint64(q))
	}
	return key
}

// AddSaturated returns a + b, or the largest number where that is less.
// A saturated maximum is still a valid upper bound on a count, which is what the searches use it for; a
// wrapped one would be negative, and rule out solutions.
func AddSaturated(a, b int64) int64 {
	if sum, ok := exact.Add(a, b); ok {
		return sum
	}
	return math.MaxInt64
}

// MulSaturated returns a b, or the largest number where that is less.
func MulSaturated(a, b int64) int64 {
	if product, ok := exact.Mul(a, b); ok {
		return product
	}
	return math.MaxInt64
}
