// This file tests that all pieces of a checkpoint are verified, wherever one is damaged.

package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/filestore"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/store/medium"
)

// Pieces are all of a checkpoint, each byte once.
func TestPieces(t *testing.T) {
	sums := func(bytes int64) store.Sums {
		return store.Sums(strings.Repeat("0", int((bytes+store.ChunkBytes-1)/store.ChunkBytes)*8))
	}
	m := store.Manifest{Parts: []store.Part{
		{Name: "empty"}, {Name: "short", Bytes: 5, CRC32C: sums(5)}, {Name: "one", Bytes: pieceBytes, CRC32C: sums(pieceBytes)},
		{Name: "more", Bytes: 2*pieceBytes + 1, CRC32C: sums(2*pieceBytes + 1)}, {Name: "old", Bytes: 3 * pieceBytes, SHA256: store.Digest{1}},
		{Name: "digest", Bytes: 2 * pieceBytes, CRC32C: sums(2 * pieceBytes), SHA256: store.Digest{1}},
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

// One flipped bit anywhere is found, in a piece that is read as a range as well.
func TestVerifyEveryPiece(t *testing.T) {
	dir, from := t.TempDir(), t.TempDir()
	s, err := filestore.Open(dir, &filestore.Options{Form: medium.Form{InlineBytes: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const length = pieceBytes + 3*store.ChunkBytes/2
	if err := os.WriteFile(filepath.Join(from, "model"), bytes.Repeat([]byte("weights "), length/8), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Save(t.Context(), s, "lr", 1, runner.Saved{Dir: from, Files: []string{"model"}}); err != nil {
		t.Fatal(err)
	}
	if m, err := Verify(t.Context(), s, "lr", 1); err != nil || len(m.Parts) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "lr", "1", "0"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, at := range []int64{0, pieceBytes - 1, pieceBytes, length - 1} {
		var b [1]byte
		for range 2 { // there and back
			if _, err := Verify(t.Context(), s, "lr", 1); err != nil {
				t.Fatalf("intact: %v", err)
			}
			if _, err := file.ReadAt(b[:], at); err != nil {
				t.Fatal(err)
			}
			b[0] ^= 4
			if _, err := file.WriteAt(b[:], at); err != nil {
				t.Fatal(err)
			}
			if _, err := Verify(t.Context(), s, "lr", 1); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "model") {
				t.Errorf("damage at %d: %v", at, err)
			}
			b[0] ^= 4
			if _, err := file.WriteAt(b[:], at); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Verify(ctx, s, "lr", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
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

// Shares are all of a checkpoint: a flipped bit is found by the one share that has its piece, whichever that is.
func TestVerifyShare(t *testing.T) {
	dir, from := t.TempDir(), t.TempDir()
	s, err := filestore.Open(dir, &filestore.Options{Form: medium.Form{InlineBytes: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var files []string
	for i := range 7 {
		files = append(files, fmt.Sprint("shard-", i))
		if err := os.WriteFile(filepath.Join(from, files[i]), []byte(fmt.Sprint("content ", i)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Save(t.Context(), s, "lr", 1, runner.Saved{Dir: from, Files: files}); err != nil {
		t.Fatal(err)
	}
	for damaged := range files {
		name := filepath.Join(dir, "lr", "1", fmt.Sprint(damaged))
		right, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, bytes.ToUpper(right), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		const shares = 3
		for share := range shares {
			m, err := VerifyShare(t.Context(), s, "lr", 1, store.Share{Index: share, Of: shares})
			if found := errors.Is(err, store.ErrCorrupt); found != (damaged%shares == share) || !found && (err != nil || len(m.Parts) != 7) {
				t.Errorf("part %d is damaged, share %d of %d: %v", damaged, share, shares, err)
			}
		}
		if err := os.WriteFile(name, right, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, share := range []int{-1, 3} {
		if _, err := VerifyShare(t.Context(), s, "lr", 1, store.Share{Index: share, Of: 3}); !errors.Is(err, apportion.ErrRange) {
			t.Errorf("share %d of 3: %v", share, err)
		}
	}
}
