// This file tests writers that may take files over, see store.Taker.

package storetest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

// takenBytes is the length of the files that are taken: longer than what any store keeps with a manifest.
const takenBytes = 3<<20 + 5

// testTake has a store take files, given away and not, and takes away or writes over what their owner has left. A store whose
// writers are no Takers passes. One that says that a file must be copied must be as if it had not been asked.
func testTake(t *testing.T, s store.Store) {
	for i, given := range []bool{false, true} {
		number := int64(i + 1)
		name := filepath.Join(t.TempDir(), "weights")
		content := strings.Repeat("taken as it is.\n", takenBytes/16) + "12345"
		opened := openFile(t, name, content)
		w, err := s.Begin(t.Context(), "job", number)
		if err != nil {
			t.Fatal(err)
		}
		taker, ok := w.(store.Taker)
		if !ok {
			return
		}
		_, err = taker.Take("a/../b", opened, given)
		wantError(t, "Take under a name that leads elsewhere", err, store.ErrName)
		if err := writePart(w, file{"before", "first"}); err != nil {
			t.Fatal(err)
		}
		moved := mustTake(t, taker, "weights", opened, given)
		if moved && !given {
			t.Fatal("a file was taken away that was not given")
		}
		_, err = taker.Take("weights", opened, given)
		wantError(t, "Take under a name that is taken", err, store.ErrName)
		if err := writePart(w, file{"behind", "last"}); err != nil {
			t.Fatal(err)
		}
		wantAbsent(t, s, "job", number)
		m, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		want := []file{file{"before", "first"}, file{"weights", content}, file{"behind", "last"}}
		if expected := manifestOf("job", number, want); !sameManifest(m, expected) {
			t.Fatalf("Commit returned parts of %d and %d and %d bytes, or other sums", m.Parts[0].Bytes, m.Parts[1].Bytes, m.Parts[2].Bytes)
		}
		wantContent(t, name, content)
		// Its owner goes on: with another file where it has given this one away.
		if moved {
			err = os.Remove(name)
		}
		if err := errors.Join(err, opened.Close(), os.WriteFile(name, bytes.Repeat([]byte{'x'}, takenBytes), 0o600)); err != nil {
			t.Fatal(err)
		}
		wantFiles(t, s, "job", number, want)
	}
	testTakeAborted(t, s)
}

// testTakeAborted: a file whose checkpoint was given up is its owner's again.
func testTakeAborted(t *testing.T, s store.Store) {
	name := filepath.Join(t.TempDir(), "weights")
	content := strings.Repeat("x", takenBytes)
	file := openFile(t, name, content)
	w, err := s.Begin(t.Context(), "job", 3)
	if err != nil {
		t.Fatal(err)
	}
	mustTake(t, w.(store.Taker), "weights", file, true)
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	_, err = w.(store.Taker).Take("more", file, true)
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		t.Fatalf("Take after Abort: %v", err)
	}
	wantAbsent(t, s, "job", 3)
	wantContent(t, name, content)
	if err := errors.Join(file.Close(), os.WriteFile(name, []byte("another"), 0o600)); err != nil {
		t.Fatal(err)
	}
	wantContent(t, name, "another")
}

// mustTake makes a part of a file, by copying it where the store cannot take it.
func mustTake(t *testing.T, w store.Taker, name string, file *os.File, given bool) (moved bool) {
	t.Helper()
	// "at its beginning or not"
	if _, err := file.Seek(7, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	moved, err := w.Take(name, file, given)
	if !errors.Is(err, errors.ErrUnsupported) {
		if err != nil {
			t.Fatal(err)
		}
		return moved
	}
	if moved {
		t.Fatalf("a file was taken away, and must be copied: %v", err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	part, err := w.Part(name)
	if err == nil {
		_, err = io.Copy(part, file)
		err = errors.Join(err, part.Close())
	}
	if err != nil {
		t.Fatalf("after a file that must be copied: %v", err)
	}
	return false
}

// openFile writes a file and opens it for reading.
func openFile(t *testing.T, name, content string) *os.File {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// wantContent fails unless a file holds what it should.
func wantContent(t *testing.T, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		t.Fatalf("the file holds %d bytes, want %d, or others: %v", len(got), len(want), err)
	}
}
