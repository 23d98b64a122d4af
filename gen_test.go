// This file holds the generators of the property tests.

package apportion_test

import (
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
)

// edges are the numbers near which integer arithmetic goes wrong.
var edges = []int64{0, 1, 2, exactFloat - 1, exactFloat, exactFloat + 1, 1 << 62, maxInt / 2, maxInt - 1, maxInt}

// quantity draws from [0, MaxInt64], often at an edge and often small.
func quantity() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.SampledFrom(edges), rapid.Int64Range(0, 9), rapid.Int64Range(0, maxInt))
}

func resources(kinds int) *rapid.Generator[apportion.Resources] {
	return rapid.Map(rapid.SliceOfN(quantity(), kinds, kinds), func(q []int64) apportion.Resources { return q })
}

// pair draws two vectors of the same length.
func pair(t *rapid.T) (r, s apportion.Resources) {
	kinds := rapid.IntRange(0, 8).Draw(t, "kinds")
	return resources(kinds).Draw(t, "r"), resources(kinds).Draw(t, "s")
}
