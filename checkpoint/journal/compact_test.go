// This file tests compaction on a disk that fails at its end, or that has all the room it needs.

package journal

import (
	"errors"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/vfstest"
)

// watchedFS says which files are created, and fails each Close once told to.
type watchedFS struct {
	vfs.FS
	created []string
	closing error
}

func (w *watchedFS) Create(name string) (vfs.File, error) {
	w.created = append(w.created, name)
	file, err := w.FS.Create(name)
	return watchedFile{file, w}, err
}

type watchedFile struct {
	vfs.File
	fs *watchedFS
}

func (f watchedFile) Close() error { return errors.Join(f.File.Close(), f.fs.closing) }

// TestOldFileDoesNotClose: a journal whose file cannot be closed is not replaced, says which it is, and leaves no file that was
// claimed in vain.
func TestOldFileDoesNotClose(t *testing.T) {
	disk := &watchedFS{FS: vfstest.NewMem()}
	m, j := mustOpen(t, disk)
	broken := errors.New("the disk is gone")
	disk.closing = broken
	err := j.Compact(m.Snapshot())
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "journal 1: ") {
		t.Errorf("%v, want the error of journal 1", err)
	}
	disk.closing = nil
	if again := j.Append(m.Snapshot()); !errors.Is(again, broken) {
		t.Errorf("it takes records after that: %v", again)
	}
	files, err := list(disk)
	if err != nil || files.highest != 1 || files.newest != 1 {
		t.Errorf("%v, %v: want the first journal alone", files.names, err)
	}
	// The number that was claimed is free again.
	m, j = mustOpen(t, disk)
	if j.number != 2 || m == nil {
		t.Errorf("the next journal is number %d", j.number)
	}
}

// TestSpareOfTheRightLength: room that is there is not made again, to the byte.
func TestSpareOfTheRightLength(t *testing.T) {
	disk := &watchedFS{FS: vfstest.NewMem()}
	_, j := mustOpen(t, disk)
	for _, c := range []struct {
		bytes int64
		made  bool
	}{
		{leastSpare / 2, false}, // exactly what is there
		{0, false},
		{leastSpare/2 + 1, true},
		{leastSpare, false}, // twice as much: what the row before has made
	} {
		disk.created, j.bytes = nil, c.bytes
		if j.reserve(); !j.Spare() || (len(disk.created) > 0) != c.made {
			t.Errorf("%d bytes: created %v, spare %v", c.bytes, disk.created, j.Spare())
		}
	}
}
