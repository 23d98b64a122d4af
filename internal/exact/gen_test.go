// This file holds the generators of the property tests.

package exact_test

import "pgregory.net/rapid"

// edges are the numbers near which integer arithmetic goes wrong.
var edges = []int64{0, 1, 2, exactFloat - 1, exactFloat, exactFloat + 1, 1 << 62, maxInt / 2, maxInt - 1, maxInt}

// quantity draws from [0, MaxInt64], often at an edge and often small.
func quantity() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.SampledFrom(edges), rapid.Int64Range(0, 9), rapid.Int64Range(0, maxInt))
}

// number draws any int64, often at an edge.
func number() *rapid.Generator[int64] {
	return rapid.OneOf(quantity(), rapid.Map(quantity(), func(q int64) int64 { return -q }), rapid.Int64(), rapid.Just(int64(minInt)))
}

// pair draws two vectors of the same length, up to eight quantities that are not negative.
func pair(t *rapid.T) (r, s []int64) {
	length := rapid.IntRange(0, 8).Draw(t, "length")
	vector := rapid.SliceOfN(quantity(), length, length)
	return vector.Draw(t, "r"), vector.Draw(t, "s")
}
