package problem

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Numbers come in the order of first appearance, one for each vector, also where hashes agree.
func TestIndexAgainstSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x Index
		// Few hashes make vectors meet that differ.
		hashes := rapid.Uint64Range(1, 40).Draw(t, "hashes")
		var rows [][]int64
		for range rapid.IntRange(0, 60).Draw(t, "vectors") {
			row := rapid.SliceOfN(rapid.Int64Range(-2, 2), 2, 2).Draw(t, "row")
			want := slices.IndexFunc(rows, func(r []int64) bool { return slices.Equal(r, row) })
			got, known := x.Of(Hash(row)%hashes, func(n int32) bool { return slices.Equal(rows[n], row) })
			if known != (want >= 0) || known && int(got) != want || !known && int(got) != len(rows) {
				t.Fatalf("%v of %v: number %d, known %v", row, rows, got, known)
			}
			if !known {
				rows = append(rows, row)
			}
		}
		if x.Len() != len(rows) {
			t.Fatalf("%d numbers, want %d", x.Len(), len(rows))
		}
	})
}

// The hash of a vector depends on each of its numbers, their order and how many there are.
func TestHash(t *testing.T) {
	seen := make(map[uint64][]int64)
	for _, vector := range [][]int64{{}, {0}, {0, 0}, {1}, {1, 2}, {2, 1}, {1 << 40}, {-1}, {1, 2, 3}, {1, 2, 3 << 32}} {
		if other, known := seen[Hash(vector)]; known {
			t.Errorf("%v and %v have one hash", vector, other)
		}
		seen[Hash(vector)] = vector
	}
}
