// This file holds Resources, the exact vector of quantities, and what can be asked of it.

package apportion

import (
	"math"

	"github.com/apportion/apportion/internal/exact"
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

// DominantShare returns the largest r[k]/total[k] and the kind where it is reached (the first
// one on a tie). Kinds with total 0 take no part. Where no kind takes part, or r is zero, the
// share is 0 and the kind is -1.
//
// Source: [Ghodsi11 §4.1]; [Dorm eq. (2)].
func (r Resources) DominantShare(total Resources) (share float64, kind int) {
	kind = -1
	for k, q := range r {
		if q > 0 && total[k] > 0 && (kind < 0 || exact.Less(r[kind], total[k], q, total[kind])) {
			kind = k
		}
	}
	if kind >= 0 {
		share = float64(r[kind]) / float64(total[kind])
	}
	return share, kind
}
