// This file tests the sums of parts, and when two lists of parts are one content.

package store_test

import (
	"math"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/must"
)

func TestSums(t *testing.T) {
	for _, c := range []struct {
		sums  store.Sums
		bytes int64
		of    bool
	}{
		{"", 0, true}, {"", 1, false}, {"01234567", 0, false}, {"01234567", 1, true}, {"01234567", store.ChunkBytes, true},
		{"01234567", store.ChunkBytes + 1, false}, {"0123456789abcdef", store.ChunkBytes + 1, true}, {"0123456", 1, false},
		{"012345678", 1, false}, {"0123456G", 1, false}, {"0123456A", 1, false}, {"01234567", math.MaxInt64, false},
	} {
		must.Equal(t, c.sums.Of(c.bytes), c.of, c.sums, "of", c.bytes, "bytes")
	}
	sums := store.Sums("01234567" + "89abcdef")
	if sums.At(0) != 0x01234567 || sums.At(1) != 0x89abcdef {
		t.Errorf("%x, %x", sums.At(0), sums.At(1))
	}
}
