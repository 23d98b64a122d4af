// This file checks writers that may take files over, see store.Taker.

package storetest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/apportion/apportion/checkpoint/store"
)

// taken is longer than what any store keeps with a manifest, and ends off every edge of a block or a chunk.
var taken = strings.Repeat("taken as it is.\n", 3<<16) + "12345"

// testTake has a store take files, given away and not, and takes away or writes over what their owner has left: a file that
// the job still writes to must be no part of a checkpoint, and one that it wants to keep must not be taken. A store whose
// writers are no Takers passes. One that says that a file must be copied must be as if it had not been asked.
func testTake(c check) {
	for i, given := range []bool{false, true} {
		number := int64(i + 1)
		w, ok := c.write("job", number).(store.Taker)
		if !ok {
			return
		}
		name, opened := c.file()
		_, err := w.Take("a/../b", opened, given)
		c.is("Take under a name that leads elsewhere", err, store.ErrName)
		c.ok(writePart(w, file{"before", "first"}))
		moved := c.take(w, opened, given)
		if moved && !given {
			c.Fatal("a file was taken away that was not given")
		}
		_, err = w.Take("weights", opened, given)
		c.is("Take under a name that is taken", err, store.ErrName)
		c.ok(writePart(w, file{"behind", "last"}))
		c.absent("job", number)
		want := []file{{"before", "first"}, {"weights", taken}, {"behind", "last"}}
		c.commits(w, "job", number, want...)
		c.contains(name, taken)
		// A file that was moved is the part itself: its owner makes another one under the name.
		if moved {
			c.ok(os.Remove(name))
		}
		c.ok(opened.Close())
		c.ok(os.WriteFile(name, bytes.Repeat([]byte{'x'}, len(taken)), 0o600))
		c.holds("job", number, want...)
	}
	// A file whose checkpoint was given up is its owner's again.
	name, opened := c.file()
	w, _ := c.write("job", 3).(store.Taker)
	c.take(w, opened, true)
	c.ok(w.Abort())
	if _, err := w.Take("more", opened, true); err == nil || errors.Is(err, errors.ErrUnsupported) {
		c.Fatalf("Take after Abort: %v", err)
	}
	c.absent("job", 3)
	c.contains(name, taken)
	c.ok(opened.Close())
	c.ok(os.WriteFile(name, []byte("another"), 0o600))
}

// take makes the part "weights" of a file, by copying it where the store cannot take it, and reports whether the file itself
// has become the part. The file is not at its beginning.
func (c check) take(w store.Taker, from *os.File, given bool) bool {
	c.Helper()
	_, err := from.Seek(7, io.SeekStart)
	c.ok(err)
	moved, err := w.Take("weights", from, given)
	if !errors.Is(err, errors.ErrUnsupported) {
		c.ok(err)
		return moved
	}
	if moved {
		c.Fatalf("a file was taken away, and must be copied: %v", err)
	}
	c.ok(writePart(w, file{"weights", taken}))
	return false
}

// file makes a file of the job, which is open for reading.
func (c check) file() (string, *os.File) {
	c.Helper()
	name := filepath.Join(c.TempDir(), "weights")
	c.ok(os.WriteFile(name, []byte(taken), 0o600))
	opened, err := os.Open(name)
	c.ok(err)
	c.Cleanup(func() { _ = opened.Close() })
	return name, opened
}

func (c check) contains(name, want string) {
	c.Helper()
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		c.Fatalf("the file holds %d bytes, want %d, or others: %v", len(got), len(want), err)
	}
}
