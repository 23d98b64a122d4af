// This file tests the sums of parts, and when two lists of parts are one content.

package store_test

import (
	"math"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
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
		if got := c.sums.Of(c.bytes); got != c.of {
			t.Errorf("%q of %d bytes: %v", c.sums, c.bytes, got)
		}
	}
	sums := store.Sums("01234567" + "89abcdef")
	if sums.At(0) != 0x01234567 || sums.At(1) != 0x89abcdef {
		t.Errorf("%x, %x", sums.At(0), sums.At(1))
	}
}

func TestSameParts(t *testing.T) {
	old := store.Part{Name: "a", Bytes: 5, SHA256: store.Digest{1}}
	crc := store.Part{Name: "a", Bytes: 5, CRC32C: "01234567"}
	both := store.Part{Name: "a", Bytes: 5, CRC32C: "01234567", SHA256: store.Digest{1}}
	for _, c := range []struct {
		what string
		a, b store.Part
		same bool
	}{
		{"equal", both, both, true}, {"digests in common", old, both, true}, {"sums in common", crc, both, true},
		{"nothing in common", old, crc, false}, {"empty parts", store.Part{Name: "a"}, store.Part{Name: "a", SHA256: store.Digest{2}}, true},
		{"another sum", crc, store.Part{Name: "a", Bytes: 5, CRC32C: "01234568", SHA256: store.Digest{1}}, false},
		{"another sum, the same digest", both, store.Part{Name: "a", Bytes: 5, CRC32C: "01234568", SHA256: store.Digest{1}}, false},
		{"another digest, the same sum", both, store.Part{Name: "a", Bytes: 5, CRC32C: "01234567", SHA256: store.Digest{2}}, false},
		{"another name", crc, store.Part{Name: "b", Bytes: 5, CRC32C: "01234567"}, false},
		{"another length", crc, store.Part{Name: "a", Bytes: 6, CRC32C: "01234567"}, false},
	} {
		for _, got := range []bool{store.SameParts([]store.Part{c.a}, []store.Part{c.b}), store.SameParts([]store.Part{c.b}, []store.Part{c.a})} {
			if got != c.same {
				t.Errorf("%s: %v", c.what, got)
			}
		}
	}
	if store.SameParts([]store.Part{crc}, nil) || !store.SameParts(nil, []store.Part{}) {
		t.Error("lists of other lengths")
	}
}
