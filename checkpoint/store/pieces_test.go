// This file tests how a checkpoint is cut into pieces and how these are read beside each other.

package store

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// Pieces are all of a checkpoint, each byte once.
func TestPieces(t *testing.T) {
	sums := func(bytes int64) Sums {
		return Sums(strings.Repeat("0", int((bytes+ChunkBytes-1)/ChunkBytes)*8))
	}
	m := Manifest{Parts: []Part{
		{Name: "empty"}, {Name: "short", Bytes: 5, CRC32C: sums(5)}, {Name: "one", Bytes: pieceBytes, CRC32C: sums(pieceBytes)},
		{Name: "more", Bytes: 2*pieceBytes + 1, CRC32C: sums(2*pieceBytes + 1)}, {Name: "old", Bytes: 3 * pieceBytes, SHA256: Digest{1}},
		{Name: "digest", Bytes: 2 * pieceBytes, CRC32C: sums(2 * pieceBytes), SHA256: Digest{1}},
	}}
	var got strings.Builder
	for _, p := range piecesOf(m) {
		fmt.Fprintf(&got, "%s %d+%d, ", p.part.Name, p.offset/pieceBytes, p.bytes)
	}
	const want = "empty 0+0, short 0+5, one 0+67108864, more 0+67108864, more 1+67108864, more 2+1, old 0+201326592, digest 0+134217728, "
	if got.String() != want {
		t.Errorf("%s, want\n%s", got.String(), want)
	}
}

// The first fault is told, whichever was found first, and no piece is begun long after it.
func TestInParallel(t *testing.T) {
	pieces := make([]piece, 1000)
	for i := range pieces {
		pieces[i].offset = int64(i)
	}
	var done atomic.Int64
	if err := inParallel(pieces, func(piece) error { done.Add(1); return nil }); err != nil || done.Load() != 1000 {
		t.Fatalf("%d of 1000 were done, %v", done.Load(), err)
	}
	done.Store(0)
	err := inParallel(pieces, func(p piece) error {
		if done.Add(1); p.offset%7 == 3 {
			return fmt.Errorf("fault of %d", p.offset)
		}
		return nil
	})
	if err == nil || err.Error() != "fault of 3" || done.Load() > 3+2*maxReaders {
		t.Errorf("%v, after %d pieces", err, done.Load())
	}
	if err := inParallel(nil, nil); err != nil {
		t.Error(err)
	}
}
