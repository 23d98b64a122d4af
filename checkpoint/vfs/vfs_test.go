// This file tests that every file system does what FS says: the real one, the model and one with a hook.

package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/checkpoint/vfs/vfstest"
	"github.com/apportion/apportion/internal/must"
)

// each runs a test on both file systems, and on one with a hook that does nothing.
func each(t *testing.T, test func(t *testing.T, fsys vfs.FS)) {
	t.Run("os", func(t *testing.T) {
		fsys := must.Have(vfs.NewOS(t.TempDir()))(t)
		defer fsys.Close()
		test(t, fsys)
	})
	t.Run("mem", func(t *testing.T) { test(t, vfstest.NewMem()) })
	t.Run("hooked", func(t *testing.T) {
		test(t, vfstest.Hooked(vfstest.NewMem(), func(vfstest.Op, string) error { return nil }))
	})
}

func TestOperations(t *testing.T) {
	each(t, func(t *testing.T, fsys vfs.FS) {
		vfstest.WriteFile(t, fsys, "b", "two", true)
		vfstest.WriteFile(t, fsys, "a", "one", false)
		for _, step := range []struct {
			what string
			err  error
			want error
		}{
			{"mkdir", fsys.Mkdir("d"), nil},
			{"mkdir again", fsys.Mkdir("d"), fs.ErrExist},
			{"mkdir without parent", fsys.Mkdir("x/y"), fs.ErrNotExist},
			{"rename over a file", fsys.Rename("a", "b"), nil},
			{"rename of nothing", fsys.Rename("a", "c"), fs.ErrNotExist},
			{"rename into a directory", fsys.Rename("b", "d/b"), nil},
			{"rename into nothing", fsys.Rename("d/b", "x/b"), fs.ErrNotExist},
			{"remove of nothing", fsys.Remove("a"), fs.ErrNotExist},
			{"sync of a directory", fsys.SyncDir("d"), nil},
			{"sync of nothing", fsys.SyncDir("x"), fs.ErrNotExist},
			{"rename of a directory", fsys.Rename("d", "e"), nil},
			{"mkdir d", fsys.Mkdir("d"), nil},
			{"rename over an empty directory", fsys.Rename("e", "d"), fs.ErrExist},
			{"remove of a directory", fsys.Remove("d"), nil},
			{"rename back", fsys.Rename("e", "d"), nil},
			{"rename of a file onto itself", fsys.Rename("d/b", "d/b"), nil},
			{"link", fsys.Link("d/b", "linked"), nil},
			{"link to a name that is taken", fsys.Link("d/b", "linked"), fs.ErrExist},
			{"link to a directory", fsys.Link("linked", "d"), fs.ErrExist},
			{"link of nothing", fsys.Link("x", "y"), fs.ErrNotExist},
			{"link into nothing", fsys.Link("linked", "x/y"), fs.ErrNotExist},
			{"remove of one of two names", fsys.Remove("d/b"), nil},
			{"rename of the other", fsys.Rename("linked", "d/b"), nil},
		} {
			if !errors.Is(step.err, step.want) || step.want == nil && step.err != nil {
				t.Errorf("%s: %v, want %v", step.what, step.err, step.want)
			}
		}
		if _, err := fsys.Create("d"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("create over a directory: %v", err)
		}
		if _, err := fsys.Create("d/b"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("create over a file: %v", err)
		}
		if _, err := fsys.Open("nothing"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open of nothing: %v", err)
		}
		for what, err := range map[string]error{
			"remove of a full directory": fsys.Remove("d"), "rename into itself": fsys.Rename("d", "d/c"),
			"rename over a directory": fsys.Rename("d/b", "d"),
			"mkdir outside":           fsys.Mkdir("../x"), "list of a file": second(fsys.List("d/b")),
			"link of a directory": fsys.Link("d", "y"), "link outside": fsys.Link("d/b", "../x"),
			"create outside": second(fsys.Create("../x")), "remove of the root": fsys.Remove("."),
		} {
			if err == nil {
				t.Errorf("%s succeeds", what)
			}
		}
		if got := vfstest.Tree(fsys, "."); got != "d/ d/b=one " {
			t.Errorf("in the end: %s", got)
		}
		entries, err := fsys.List("d")
		if err != nil || len(entries) != 1 || entries[0] != (vfs.Entry{Name: "b", Regular: true, Bytes: 3}) {
			t.Errorf("List = %v, %v", entries, err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestClosedFile(t *testing.T) {
	each(t, func(t *testing.T, fsys vfs.FS) {
		file := must.Have(fsys.Create("a"))(t)
		must.Do(t, file.Close())
		file.Flush() // there is nothing to begin, and nobody to tell
		_, werr := file.Write([]byte("x"))
		for what, err := range map[string]error{"write": werr, "sync": file.Sync(), "close": file.Close()} {
			if !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// TestFlush: what was sent to the disk early is there as all else, once, in its place.
func TestFlush(t *testing.T) {
	each(t, func(t *testing.T, fsys vfs.FS) {
		file := must.Have(fsys.Create("a"))(t)
		for _, text := range []string{"one ", "two ", "three"} {
			must.Have(file.Write([]byte(text)))(t)
			file.Flush()
			file.Flush()
		}
		must.Do(t, errors.Join(file.Sync(), file.Close()))
		if got := vfstest.Content(fsys, "a"); got != "one two three" {
			t.Errorf("it holds %q", got)
		}
	})
}

// TestLinks: a link that leads out of the root is not followed, and is listed as neither file nor
// directory.
func TestLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	must.Do(t, os.WriteFile(outside+"/secret", []byte("x"), 0o600))
	for name, to := range map[string]string{"file": outside + "/secret", "dir": outside} {
		if err := os.Symlink(to, dir+"/"+name); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	fsys := must.Have(vfs.NewOS(dir))(t)
	defer fsys.Close()
	for what, err := range map[string]error{
		"open": second(fsys.Open("file")), "open below": second(fsys.Open("dir/secret")), "create": second(fsys.Create("dir/new")),
		"list": second(fsys.List("dir")), "create over": second(fsys.Create("file")), "sync": fsys.SyncDir("dir"),
	} {
		if err == nil {
			t.Errorf("%s leads out of the root", what)
		}
	}
	entries, err := fsys.List(".")
	if err != nil || len(entries) != 2 || entries[0].Dir || entries[0].Regular || entries[1].Regular {
		t.Errorf("List = %+v, %v", entries, err)
	}
	if _, err := vfs.NewOS(dir + "/nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("NewOS of nothing: %v", err)
	}
}
