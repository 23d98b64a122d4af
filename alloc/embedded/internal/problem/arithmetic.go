// This file holds arithmetic that stops at the largest number instead of overflowing, and keys of vectors.

package problem

import (
	"encoding/binary"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Key appends the quantities of r to key: equal vectors have equal keys.
func Key(key []byte, r apportion.Resources) []byte {
	for _, q := range r {
		key = binary.LittleEndian.AppendUint64(key, uint64(q))
	}
	return key
}

// AddSaturated returns a + b, or the largest number where that is less.
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
