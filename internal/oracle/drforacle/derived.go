// This file implements fillings with derived kinds, which are added up from their parts.

package drforacle

import "math/big"

// FillDerived is FillTree where some kinds count as derived ones: factors has a vector over the kinds for each of these. Capacity
// and demands have the kinds alone, vectors of queues the derived ones behind them.
func FillDerived(capacity []int64, factors [][]int64, queues []Queue, members []Member) []*big.Rat {
	return derivedHierarchy(capacity, factors, queues, members).fill()
}

// WholeDerived is WholeTree with derived kinds.
func WholeDerived(capacity []int64, factors [][]int64, queues []Queue, members []Member) []int64 {
	return derivedHierarchy(capacity, factors, queues, members).handOut(false)
}

// derivedHierarchy returns the state in which every claim has its minimum.
func derivedHierarchy(capacity []int64, factors [][]int64, queues []Queue, members []Member) *hierarchy {
	extended := make([]Member, len(members))
	for i, m := range members {
		m.Demand = extend(m.Demand, factors)
		extended[i] = m
	}
	h := newHierarchy(extend(capacity, factors), queues, extended)
	h.shared = append([]int64(nil), h.capacity...)
	for _, factor := range factors {
		for k, f := range factor {
			if f > 0 {
				h.shared[k] = 0
			}
		}
	}
	return h
}

// extend returns a vector with the derived kinds behind the others. Sums of tests are small.
func extend(r []int64, factors [][]int64) []int64 {
	extended := append([]int64(nil), r...)
	for _, factor := range factors {
		sum := int64(0)
		for k, f := range factor {
			sum += f * r[k]
		}
		extended = append(extended, sum)
	}
	return extended
}
