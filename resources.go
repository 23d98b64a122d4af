// This file holds the vocabulary of quantities: Kinds, Resources and their exact arithmetic.

package apportion

import (
	"math"
	"math/bits"
)

// Resources is a vector of quantities, one for each kind of a shared [Kinds], in the caller's own
// integral units (millicores, bytes, whole GPUs). Every quantity lies in [0, math.MaxInt64]; a
// negative one is refused wherever a Resources enters the library.
//
// All arithmetic is exact. Operations on two vectors need equal lengths; that is checked where
// input enters the library, so the methods here treat a mismatch as the caller's bug and panic as
// slice indexing does.
type Resources []int64

// Clone returns a copy of r.
func (r Resources) Clone() Resources {
	return append(make(Resources, 0, len(r)), r...)
}

// IsZero reports whether every quantity is 0.
func (r Resources) IsZero() bool {
	for _, q := range r {
		if q != 0 {
			return false
		}
	}
	return true
}

// Equal reports whether r and s have the same length and the same quantities.
func (r Resources) Equal(s Resources) bool {
	if len(r) != len(s) {
		return false
	}
	for k, q := range r {
		if q != s[k] {
			return false
		}
	}
	return true
}

// FitsIn reports whether every quantity of r is at most that of room.
func (r Resources) FitsIn(room Resources) bool {
	for k, q := range r {
		if q > room[k] {
			return false
		}
	}
	return true
}

// CountIn returns how many whole containers of demand r fit in room: the least floor(room[k]/r[k])
// over the kinds that r demands. A demand of zero in every kind fits without limit and gives
// math.MaxInt64; a kind that is demanded where room is zero or negative gives 0.
func (r Resources) CountIn(room Resources) int64 {
	count := int64(math.MaxInt64)
	for k, q := range r {
		if q > 0 {
			count = min(count, max(0, room[k])/q)
		}
	}
	return count
}

// AddTo sets dst = r + s and returns nil, or ErrOverflow with dst unchanged where a sum leaves
// int64. dst may be r or s.
func AddTo(dst, r, s Resources) error {
	for k, q := range r {
		if _, ok := Add64(q, s[k]); !ok {
			return ErrOverflow
		}
	}
	for k, q := range r {
		dst[k] = q + s[k]
	}
	return nil
}

// AddTimesTo sets dst = r + n*s and returns nil, or ErrOverflow with dst unchanged where a
// product or a sum leaves int64. n may be negative; dst may be r or s.
func AddTimesTo(dst, r Resources, n int64, s Resources) error {
	for k, q := range r {
		product, ok := Mul64(n, s[k])
		if !ok {
			return ErrOverflow
		}
		if _, ok := Add64(q, product); !ok {
			return ErrOverflow
		}
	}
	for k, q := range r {
		dst[k] = q + n*s[k]
	}
	return nil
}

// DominantShare returns the largest r[k]/total[k] and the kind where it is reached (the first
// one on a tie). Kinds with total 0 take no part. Where no kind takes part, or r is zero, the
// share is 0 and the kind is -1.
//
// Source: [Ghodsi11 §4.1]; [Dorm eq. (2)].
func (r Resources) DominantShare(total Resources) (share float64, kind int) {
	kind = -1
	for k, q := range r {
		if q > 0 && total[k] > 0 && (kind < 0 || Less128(r[kind], total[k], q, total[kind])) {
			kind = k
		}
	}
	if kind >= 0 {
		share = float64(r[kind]) / float64(total[kind])
	}
	return share, kind
}

// Less128 reports whether a*b < c*d, computed in 128 bits, for factors that are not negative. It
// compares two fractions a/d and c/b without rounding.
func Less128(a, b, c, d int64) bool {
	hi1, lo1 := bits.Mul64(uint64(a), uint64(b))
	hi2, lo2 := bits.Mul64(uint64(c), uint64(d))
	return hi1 < hi2 || hi1 == hi2 && lo1 < lo2
}

// Add64 returns a+b and whether the sum fits int64.
func Add64(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (a^sum)&(b^sum) >= 0
}

// Mul64 returns a*b and whether the product fits int64.
func Mul64(a, b int64) (product int64, ok bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	product = a * b
	if a == -1 && b == math.MinInt64 || b == -1 && a == math.MinInt64 {
		return 0, false
	}
	return product, product/b == a
}
