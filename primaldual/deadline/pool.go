// This file reduces several kinds to one by the dominant share, [Ghodsi11] §4.1.

package deadline

import (
	"fmt"
	"math"

	"github.com/apportion/apportion"
)

// mostShare is the unit of shares where the least common multiple of the capacities is greater.
const mostShare = 1 << 30

// pool is a cluster as a capacity of one kind.
type pool struct {
	capacity int64
	of       apportion.Resources
}

// newPool returns the pool of a total capacity. One kind is its own unit.
func newPool(total apportion.Resources) pool {
	if len(total) == 1 {
		return pool{capacity: total[0], of: total}
	}
	units := int64(1)
	for _, c := range total {
		if c > 0 {
			units = units / gcd(units, c) * min(c, mostShare)
		}
		if units > mostShare {
			units = mostShare
			break
		}
	}
	return pool{capacity: units, of: total}
}

// unit returns what one worker takes of the pool, and more than its capacity where none fits.
func (p pool) unit(worker apportion.Resources) int64 {
	most := int64(0)
	for r, need := range worker {
		switch have := p.of[r]; {
		case need > have:
			return p.capacity + 1
		case need > 0:
			most = max(most, p.share(need, have))
		}
	}
	return most
}

// share returns need of have in units, rounded up; 0 < need <= have.
func (p pool) share(need, have int64) int64 {
	if p.capacity == have {
		return need
	}
	// Exact where have divides capacity x need, and where both are small enough for it.
	if need <= math.MaxInt64/p.capacity {
		return (need*p.capacity + have - 1) / have
	}
	return min(p.capacity, int64(math.Ceil(float64(need)/float64(have)*float64(p.capacity)))+1)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// checkCapacity refuses capacities that are negative, of other kinds, or too large to be added up over the horizon.
func checkCapacity(kinds apportion.Kinds, total apportion.Resources) error {
	item := apportion.Item{ID: "cluster"}
	if len(total) != len(kinds) {
		return &apportion.FieldError{Item: item, Field: "Capacity", Err: apportion.ErrLength, Detail: fmt.Sprint(len(total))}
	}
	for r, c := range total {
		switch {
		case c < 0:
			return &apportion.FieldError{Item: item, Field: "Capacity[" + kinds[r] + "]", Err: apportion.ErrNegative, Detail: fmt.Sprint(c)}
		case c > math.MaxInt64/mostHorizon:
			return &apportion.FieldError{Item: item, Field: "Capacity[" + kinds[r] + "]", Err: apportion.ErrOverflow, Detail: fmt.Sprint(c)}
		}
	}
	return nil
}
