// This file tests that a hook is asked with the right operation and name, and what each operation that
// fails has still done.

package vfstest_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

func refusing(refused vfstest.Op) vfstest.Hook {
	return func(op vfstest.Op, _ string) error {
		if op == refused {
			return vfstest.ErrInjected
		}
		return nil
	}
}

// The hook hears each operation under the name that the caller gave, a rename under the old one.
func TestHookNames(t *testing.T) {
	var heard []string
	fsys := vfstest.Hooked(vfstest.NewMem(), func(op vfstest.Op, name string) error {
		heard = append(heard, fmt.Sprintf("%s(%s)", op, name))
		return nil
	})
	must.Do(t, errors.Join(fsys.Mkdir("d"), fsys.SyncDir(".")))
	vfstest.WriteFile(t, fsys, "d/a", "text", true)
	_ = vfstest.Content(fsys, "d/a")
	must.Do(t, errors.Join(fsys.Rename("d/a", "b"), fsys.Remove("b")))
	must.Have(fsys.List("d"))(t)
	want := "mkdir(d) syncdir(.) create(d/a) write(d/a) sync(d/a) close(d/a) open(d/a) rename(d/a) remove(b) list(d)"
	must.Equal(t, strings.Join(heard, " "), want, "heard")
}

// An operation that fails by the hook has not happened, apart from half a write and a close.
func TestRefusedDoesNothing(t *testing.T) {
	for op, use := range map[vfstest.Op]func(fsys vfs.FS) error{
		vfstest.Create:  func(fsys vfs.FS) error { _, err := fsys.Create("new"); return err },
		vfstest.Open:    func(fsys vfs.FS) error { _, err := fsys.Open("a"); return err },
		vfstest.Link:    func(fsys vfs.FS) error { return fsys.Link("a", "b") },
		vfstest.Rename:  func(fsys vfs.FS) error { return fsys.Rename("a", "b") },
		vfstest.Remove:  func(fsys vfs.FS) error { return fsys.Remove("a") },
		vfstest.Mkdir:   func(fsys vfs.FS) error { return fsys.Mkdir("new") },
		vfstest.List:    func(fsys vfs.FS) error { _, err := fsys.List("."); return err },
		vfstest.SyncDir: func(fsys vfs.FS) error { return fsys.SyncDir(".") },
	} {
		mem := vfstest.NewMem()
		vfstest.WriteFile(t, mem, "a", "text", true)
		before, durable := vfstest.Tree(mem, "."), vfstest.Tree(mem.Crash(nil), ".")
		must.Err(t, use(vfstest.Hooked(mem, refusing(op))), vfstest.ErrInjected, op)
		must.Equal(t, vfstest.Tree(mem, "."), before, op, "that failed made", "of")
		must.Equal(t, vfstest.Tree(mem.Crash(nil), "."), durable, op, "that failed made", "durable")
	}
}

// A write that fails leaves its first half, as a full disk does; a sync that fails makes nothing durable; a
// close that fails closes.
func TestRefusedFile(t *testing.T) {
	for length, want := range []string{"", "", "x", "x", "xx", "xx"} {
		mem := vfstest.NewMem()
		file := must.Have(vfstest.Hooked(mem, refusing(vfstest.Write)).Create("a"))(t)
		n, err := file.Write([]byte(strings.Repeat("x", length)))
		if n != len(want) || !errors.Is(err, vfstest.ErrInjected) || vfstest.Content(mem, "a") != want {
			t.Errorf("a write of %d bytes: %d, %v, %q; want %q", length, n, err, vfstest.Content(mem, "a"), want)
		}
	}
	mem := vfstest.NewMem()
	file := must.Have(vfstest.Hooked(mem, refusing(vfstest.Sync)).Create("a"))(t)
	must.Have(io.WriteString(file, "text"))(t)
	must.Err(t, errors.Join(file.Sync()), vfstest.ErrInjected, "Sync")
	must.Do(t, mem.SyncDir("."))
	must.Equal(t, vfstest.Content(mem.Crash(nil), "a"), "", "a sync that failed kept")
	file = must.Have(vfstest.Hooked(mem, refusing(vfstest.Close)).Create("b"))(t)
	must.Err(t, file.Close(), vfstest.ErrInjected, "Close")
	must.Fail(file.Write([]byte("x")))(t, must.ErrAny, "a file whose Close failed can be written to")
}

// FailAt fails the k-th operation and none after it; a k that is not positive fails none.
func TestFailAtOnce(t *testing.T) {
	for k := -1; k <= 4; k++ {
		fsys := vfstest.Hooked(vfstest.NewMem(), vfstest.FailAt(k, vfstest.ErrInjected))
		for i := 1; i <= 6; i++ {
			_, err := fsys.List(".")
			must.Equal(t, err != nil, i == k, "operation", i, "with FailAt(", k, err)
		}
	}
}
