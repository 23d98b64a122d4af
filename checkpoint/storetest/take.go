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
// What is at stake: a file that the job still writes to must not be a part of a committed checkpoint, since the part would
// change with it; and a file that the job wants to keep must not be taken from it.
func testTake(t *testing.T, s store.Store) {
	// First the file stays its owner's, then it is given away: in the first case only a copy or shared bytes will do.
	for i, given := range []bool{false, true} {
		number := int64(i + 1)
		name := filepath.Join(t.TempDir(), "weights")
		// The content ends off every edge of a block or a chunk, and repeats a line, so that shifted bytes would show in the sums.
		content := strings.Repeat("taken as it is.\n", takenBytes/16) + "12345"
		opened := openFile(t, name, content)
		w, err := s.Begin(t.Context(), "job", number)
		if err != nil {
			t.Fatal(err)
		}
		// What a writer is decides the whole store, and it does so before anything was written.
		taker, ok := w.(store.Taker)
		if !ok {
			return
		}
		// The refused name comes first, and the writer must go on as if it had not been asked.
		_, err = taker.Take("a/../b", opened, given)
		wantError(t, "Take under a name that leads elsewhere", err, store.ErrName)
		// A part that is written goes before the file and one behind it: each must keep its place in the manifest.
		if err := writePart(w, file{"before", "first"}); err != nil {
			t.Fatal(err)
		}
		moved := mustTake(t, taker, "weights", opened, given)
		// To move it would be to steal it: its owner goes on to write under that name.
		if moved && !given {
			t.Fatal("a file was taken away that was not given")
		}
		// The name counts as taken whichever way the part came, by sharing, by moving or by copying.
		_, err = taker.Take("weights", opened, given)
		wantError(t, "Take under a name that is taken", err, store.ErrName)
		if err := writePart(w, file{"behind", "last"}); err != nil {
			t.Fatal(err)
		}
		// Bytes that were shared are on the medium already, and still not visible before Commit.
		wantAbsent(t, s, "job", number)
		m, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		// Sums and lengths must be those of a part that came through Part: who reads cannot know how it got there.
		want := []file{file{"before", "first"}, file{"weights", content}, file{"behind", "last"}}
		if expected := manifestOf("job", number, want); !sameManifest(m, expected) {
			t.Fatalf("Commit returned parts of %d and %d and %d bytes, or other sums", m.Parts[0].Bytes, m.Parts[1].Bytes, m.Parts[2].Bytes)
		}
		// The owner's file reads as before, moved or not: to take its name away is the caller's part.
		wantContent(t, name, content)
		// Its owner goes on: with another file where it has given this one away.
		// A file that was moved is the part itself. Its owner removes the name and makes a new file; to write over the old one would
		// be to write into the checkpoint.
		if moved {
			err = os.Remove(name)
		}
		// Every byte of the owner's file is another one now, at the same length: bytes that are still shared would show below.
		if err := errors.Join(err, opened.Close(), os.WriteFile(name, bytes.Repeat([]byte{'x'}, takenBytes), 0o600)); err != nil {
			t.Fatal(err)
		}
		wantFiles(t, s, "job", number, want)
	}
	testTakeAborted(t, s)
}

// testTakeAborted: a file whose checkpoint was given up is its owner's again.
// A save that is given up must give back what it was given: the job goes on to train and may save into the same file.
func testTakeAborted(t *testing.T, s store.Store) {
	name := filepath.Join(t.TempDir(), "weights")
	content := strings.Repeat("x", takenBytes)
	file := openFile(t, name, content)
	w, err := s.Begin(t.Context(), "job", 3)
	if err != nil {
		t.Fatal(err)
	}
	// The type is asserted without a check, since the caller has seen that writers of this store are Takers.
	mustTake(t, w.(store.Taker), "weights", file, true)
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	// The answer must not be "copy it": a caller would go on to do that with a writer that is dead.
	_, err = w.(store.Taker).Take("more", file, true)
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		t.Fatalf("Take after Abort: %v", err)
	}
	wantAbsent(t, s, "job", 3)
	wantContent(t, name, content)
	// Its owner may open and write it again, which a lease or a mode that was left behind would refuse.
	if err := errors.Join(file.Close(), os.WriteFile(name, []byte("another"), 0o600)); err != nil {
		t.Fatal(err)
	}
	wantContent(t, name, "another")
}

// mustTake makes a part of a file, by copying it where the store cannot take it.
// It reports whether the file itself has become the part. The copy is what store.Save does with the same answer, so that
// the test goes on alike whatever the store can do.
func mustTake(t *testing.T, w store.Taker, name string, file *os.File, given bool) (moved bool) {
	t.Helper()
	// A store that forgets to begin at the beginning takes the file from byte 7 on.
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
	// Both answers together would have the owner give up a file of which the store has nothing.
	if moved {
		t.Fatalf("a file was taken away, and must be copied: %v", err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	// The name must be free: an answer of ErrUnsupported promises that nothing has happened.
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
// It is closed at the end of the test, at the latest: to close it twice is harmless.
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
