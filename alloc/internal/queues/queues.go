// Package queues says which of several queues is asked next, [Program §7]: for a whole decision and for an event by itself.
package queues

import "github.com/apportion/apportion"

// Beyond is above the part that a queue uses of a guarantee while it stays within it.
const Beyond = 2

// Part returns how much of its guarantee a queue uses, of the kind of which the part is largest, at most Beyond.
func Part(used, guarantee apportion.Resources) float64 {
	part := 0.0
	for k, g := range guarantee {
		if g > 0 {
			part = max(part, min(Beyond, float64(used[k])/float64(g)))
		}
	}
	return part
}

// Least returns which application the child of the least rank sends, of the children that send any; ties go to the lowest position. -1:
// none sends any.
func Least(children []int, sends func(q int) int, rank func(q int) float64) int {
	first, least := -1, 0.0
	for _, c := range children {
		i := sends(c)
		if i < 0 {
			continue
		}
		if x := rank(c); first < 0 || x < least || x == least && i < first {
			first, least = i, x
		}
	}
	return first
}
