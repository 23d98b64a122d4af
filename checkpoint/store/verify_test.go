// This file tests that all pieces of a checkpoint are verified, wherever one is damaged.

package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/store/files"
	"github.com/apportion/apportion/internal/must"
)

// One flipped bit anywhere is found, in a piece that is read as a range as well.
func TestVerifyEveryPiece(t *testing.T) {
	dir, from := t.TempDir(), t.TempDir()
	s := must.Have(files.Open(dir, &files.Options{Form: store.Form{InlineBytes: -1}}))(t)
	defer s.Close()
	const length = (64 * store.ChunkBytes) + 3*store.ChunkBytes/2
	must.Do(t, os.WriteFile(filepath.Join(from, "model"), bytes.Repeat([]byte("weights "), length/8), 0o600))
	must.Have(store.Save(t.Context(), s, "lr", 1, store.Files{Dir: from, Names: []string{"model"}}))(t)
	if m, err := store.Verify(t.Context(), s, "lr", 1); err != nil || len(m.Parts) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	file := must.Have(os.OpenFile(filepath.Join(dir, "lr", "1", "0"), os.O_RDWR, 0))(t)
	defer file.Close()
	for _, at := range []int64{0, (64 * store.ChunkBytes) - 1, (64 * store.ChunkBytes), length - 1} {
		var b [1]byte
		for range 2 { // there and back
			must.Have(store.Verify(t.Context(), s, "lr", 1))(t)
			must.Have(file.ReadAt(b[:], at))(t)
			b[0] ^= 4
			must.Have(file.WriteAt(b[:], at))(t)
			if _, err := store.Verify(t.Context(), s, "lr", 1); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "model") {
				t.Errorf("damage at %d: %v", at, err)
			}
			b[0] ^= 4
			must.Have(file.WriteAt(b[:], at))(t)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(store.Verify(ctx, s, "lr", 1))(t, context.Canceled, "cancelled")
}

// Shares are all of a checkpoint: a flipped bit is found by the one share that has its piece, whichever that is.
func TestVerifyShare(t *testing.T) {
	dir, from := t.TempDir(), t.TempDir()
	s := must.Have(files.Open(dir, &files.Options{Form: store.Form{InlineBytes: -1}}))(t)
	defer s.Close()
	var files []string
	for i := range 7 {
		files = append(files, fmt.Sprint("shard-", i))
		must.Do(t, os.WriteFile(filepath.Join(from, files[i]), []byte(fmt.Sprint("content ", i)), 0o600))
	}
	must.Have(store.Save(t.Context(), s, "lr", 1, store.Files{Dir: from, Names: files}))(t)
	for damaged := range files {
		name := filepath.Join(dir, "lr", "1", fmt.Sprint(damaged))
		right, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, bytes.ToUpper(right), 0o600)
		}
		must.Do(t, err)
		const shares = 3
		for share := range shares {
			m, err := store.VerifyShare(t.Context(), s, "lr", 1, store.Share{Index: share, Of: shares})
			if found := errors.Is(err, store.ErrCorrupt); found != (damaged%shares == share) || !found && (err != nil || len(m.Parts) != 7) {
				t.Errorf("part %d is damaged, share %d of %d: %v", damaged, share, shares, err)
			}
		}
		must.Do(t, os.WriteFile(name, right, 0o600))
	}
	for _, share := range []int{-1, 3} {
		must.Fail(store.VerifyShare(t.Context(), s, "lr", 1, store.Share{Index: share, Of: 3}))(t, apportion.ErrRange, "share", share, "of 3")
	}
}
