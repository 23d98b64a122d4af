// This file implements integer arithmetic that says where it leaves int64, and the comparison of two
// fractions without rounding.

// Package exact is the integer arithmetic of the packages that compute: sums and products that tell
// whether they fit int64, alone and over vectors of quantities, and fractions that are compared in
// 128 bits.
//
// # Contract
//
// Vectors are []int64 of equal lengths, which the caller has checked; a mismatch panics as indexing a
// slice does. Every function is O(1), or O(length) over vectors, and allocates nothing.
package exact

import (
	"errors"
	"math"
	"math/bits"
)

// ErrOverflow says that a sum or a product leaves int64. The root package exports it under the same
// name.
var ErrOverflow = errors.New("overflows int64")

// Add returns a+b and whether the sum fits int64.
func Add(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (a^sum)&(b^sum) >= 0
}

// Mul returns a*b and whether the product fits int64.
func Mul(a, b int64) (product int64, ok bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	product = a * b
	if a == -1 && b == math.MinInt64 || b == -1 && a == math.MinInt64 {
		return 0, false
	}
	return product, product/b == a
}

// Less reports whether a*b < c*d, computed in 128 bits, for factors that are not negative. It compares
// the fractions a/d and c/b without rounding.
func Less(a, b, c, d int64) bool {
	hi1, lo1 := bits.Mul64(uint64(a), uint64(b))
	hi2, lo2 := bits.Mul64(uint64(c), uint64(d))
	return hi1 < hi2 || hi1 == hi2 && lo1 < lo2
}

// AddTo sets dst = r + s and returns nil, or [ErrOverflow] with dst unchanged where a sum leaves
// int64. dst may be r or s.
func AddTo(dst, r, s []int64) error {
	for k, q := range r {
		if _, ok := Add(q, s[k]); !ok {
			return ErrOverflow
		}
	}
	for k, q := range r {
		dst[k] = q + s[k]
	}
	return nil
}

// AddTimesTo sets dst = r + n*s and returns nil, or [ErrOverflow] with dst unchanged where a product
// or a sum leaves int64. n may be negative; dst may be r or s.
func AddTimesTo(dst, r []int64, n int64, s []int64) error {
	for k, q := range r {
		product, ok := Mul(n, s[k])
		if !ok {
			return ErrOverflow
		}
		if _, ok := Add(q, product); !ok {
			return ErrOverflow
		}
	}
	for k, q := range r {
		dst[k] = q + n*s[k]
	}
	return nil
}
