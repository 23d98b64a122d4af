// This file tests files that a store takes as they are where the kernel tells who opens them.

package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// TestAdopted: on a real disk without reflinks a file that was given becomes the part itself, and whoever opens it for writing
// before the commit is seen, not saved.
func TestAdopted(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, &Options{})
	content := strings.Repeat("adopted ", defaultInlineBytes/4)
	file := outside(t, content)
	w := taker(t, s, 1)
	moved, err := w.Take("part", file, true)
	if err != nil || !moved {
		t.Skip("files are not adopted here:", moved, err)
	}
	must.Have(w.Commit())(t)
	must.Do(t, errors.Join(os.Remove(file.Name()), file.Close()))
	if data, err := storetest.Read(t.Context(), s, "job", 1); err != nil || data != content {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	file = outside(t, content)
	defer file.Close()
	disk := must.Have(vfs.NewOS(dir))(t)
	defer disk.Close()
	// Somebody opens it when its bytes are read.
	touched := must.Have(New(vfstest.Hooked(disk, func(op vfstest.Op, name string) error {
		if op == vfstest.Open && filepath.Base(name) == "0" {
			_, err := os.OpenFile(file.Name(), os.O_WRONLY|syscall.O_NONBLOCK, 0)
			must.Err(t, err, syscall.EWOULDBLOCK, "it is opened for writing")
		}
		return nil
	}), nil))(t)
	w = taker(t, touched, 2)
	_, err = w.Take("part", file, true)
	if _, commit := w.Commit(); !errors.Is(err, vfs.ErrTouched) || !errors.Is(commit, vfs.ErrTouched) {
		t.Errorf("it was touched: %v, Commit: %v", err, commit)
	}
	must.Do(t, w.Abort())
	if got := numbersOf(t, s, "job"); len(got) != 1 {
		t.Errorf("visible are %d", got)
	}
}
