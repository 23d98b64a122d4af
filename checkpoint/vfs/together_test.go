// This file tests that what is synced together is durable, and that each fault of it is told.

package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// create makes a file with a text.
func create(t *testing.T, fsys vfs.FS, name, text string) vfs.File {
	t.Helper()
	file, err := fsys.Create(name)
	if err == nil {
		_, err = file.Write([]byte(text))
	}
	must.Do(t, err)
	return file
}

// After SyncAll the worst crash leaves all of it, and before nothing.
func TestSyncAllIsDurable(t *testing.T) {
	mem := vfstest.NewMem()
	must.Do(t, mem.Mkdir("d"))
	one, two := create(t, mem, "d/one", "1"), create(t, mem, "two", "2")
	must.Equal(t, vfstest.Tree(mem.Crash(nil), "."), "", "before, a crash leaves")
	must.Do(t, vfs.SyncAll(mem, []string{"d", "."}, one, two))
	if got, want := vfstest.Tree(mem.Crash(nil), "."), vfstest.Tree(mem, "."); got != want || got == "" {
		t.Errorf("a crash leaves %s of %s", got, want)
	}
	must.Do(t, vfs.SyncAll(mem, nil), "nothing to sync")
}

// One after the other: the files in their order, then the directories, and nothing behind the first that fails.
func TestSyncAllInTurn(t *testing.T) {
	for k := 0; k <= 4; k++ {
		var log []string
		mem := vfstest.NewMem()
		fail := vfstest.FailAt(k, vfstest.ErrInjected)
		fsys := vfstest.Hooked(mem, func(op vfstest.Op, name string) error {
			if op != vfstest.Sync && op != vfstest.SyncDir {
				return nil
			}
			log = append(log, string(op)+" "+name)
			return fail(op, name)
		})
		must.Do(t, fsys.Mkdir("d"))
		err := vfs.SyncAll(fsys, []string{"d", "."}, create(t, fsys, "d/one", "1"), create(t, fsys, "two", "2"))
		want := []string{"sync d/one", "sync two", "syncdir d", "syncdir ."}
		if k > 0 {
			want = want[:k]
		}
		if (err != nil) != (k > 0) || err != nil && !errors.Is(err, vfstest.ErrInjected) || !slices.Equal(log, want) {
			t.Errorf("operation %d fails: %v after %q, want %q", k, err, log, want)
		}
	}
}

// At the same time: the errors of all are told, those of files and those of directories, and the others are synced.
func TestSyncTogether(t *testing.T) {
	fsys := must.Have(vfs.NewOS(t.TempDir()))(t)
	defer fsys.Close()
	good, closed := create(t, fsys, "good", "1"), create(t, fsys, "closed", "2")
	must.Do(t, closed.Close())
	defer good.Close()
	for _, c := range []struct {
		dirs  []string
		files []vfs.File
		want  []error
	}{
		{nil, nil, nil},
		{[]string{"."}, []vfs.File{good}, nil},
		{[]string{"."}, []vfs.File{good, closed}, []error{os.ErrClosed}},
		{[]string{"absent", "."}, []vfs.File{good}, []error{fs.ErrNotExist}},
		{[]string{".", "absent"}, []vfs.File{closed, good}, []error{os.ErrClosed, fs.ErrNotExist}},
	} {
		err := vfs.SyncAll(fsys, c.dirs, c.files...)
		must.Equal(t, err != nil, (len(c.want) > 0), c.dirs, "and", len(c.files), "files", err)
		for _, want := range c.want {
			must.Err(t, err, want, c.dirs, "and", len(c.files), "files")
		}
	}
}
