// This file tests files that a store takes as they are, on the real disk and on one that fails.

package files

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

func taker(t *testing.T, s *Store, number int64) store.Taker {
	t.Helper()
	w := must.Have(s.Begin(t.Context(), "job", number))(t)
	return w.(store.Taker)
}

// TestTakeFaults: what fails while a file is taken fails the writer, with nothing visible, whatever is done next. A medium
// that cannot take it, and a short file, only say so.
func TestTakeFaults(t *testing.T) {
	for _, c := range []struct {
		what string
		hook func(op vfstest.Op, name string) error
		want error
	}{
		{"reading", fault(vfstest.Open, "0", syscall.EIO), syscall.EIO},
		{"the sync", fault(vfstest.Sync, "0", vfs.ErrTouched), vfs.ErrTouched},
		{"closing", fault(vfstest.Close, "0", syscall.ENOSPC), syscall.ENOSPC},
		{"a clone", fault(vfstest.Clone, "0", syscall.EXDEV), nil},
		{"nothing", fault(vfstest.Open, "another", syscall.EIO), nil},
	} {
		s := must.Have(New(vfstest.Hooked(vfstest.NewMem(), c.hook), &Options{Form: store.Form{InlineBytes: 4}}))(t)
		w, file := taker(t, s, 1), outside(t, "content")
		moved, err := w.Take("part", file, true)
		if !errors.Is(err, c.want) || c.want == nil && err != nil || moved && c.what != "a clone" {
			t.Errorf("%s fails: %t, %v", c.what, moved, err)
		}
		_, again := w.Take("another", file, true)
		_, commit := w.Commit()
		if c.want != nil && (!errors.Is(commit, c.want) || !errors.Is(again, c.want)) || c.want == nil && commit != nil {
			t.Errorf("%s fails, and then: %v, Commit: %v", c.what, again, commit)
		}
		must.Do(t, errors.Join(w.Abort(), file.Close()))
		if got := numbersOf(t, s, "job"); (len(got) > 0) != (c.want == nil) {
			t.Errorf("%s fails: visible are %d", c.what, got)
		}
	}
}

func fault(op vfstest.Op, base string, err error) vfstest.Hook {
	return func(o vfstest.Op, name string) error {
		if o == op && filepath.Base(name) == base {
			return err
		}
		return nil
	}
}

// madeOf is what a file system holds, whether the draft that it ends with is a file or a folder.
func madeOf(mem *vfstest.Mem) string { return strings.TrimRight(vfstest.Tree(mem, "."), "/= ") }

// TestTakeUnsupported: what must be copied is told before anything is made of it.
func TestTakeUnsupported(t *testing.T) {
	mem := vfstest.NewMem()
	for what, c := range map[string]struct {
		disk  vfs.FS
		given bool
		text  string
	}{
		"no sharer":        {struct{ vfs.FS }{mem}, true, "content"},
		"short":            {mem, true, "four"},
		"not given":        {unclonable{mem}, false, "content"},
		"nothing possible": {vfstest.Hooked(struct{ vfs.FS }{mem}, func(vfstest.Op, string) error { return nil }), true, "content"},
	} {
		s := must.Have(New(c.disk, &Options{Form: store.Form{InlineBytes: 4}}))(t)
		w, file := taker(t, s, 1), outside(t, c.text)
		before := madeOf(mem)
		moved, err := w.Take("part", file, c.given)
		if !errors.Is(err, errors.ErrUnsupported) || moved || madeOf(mem) != before {
			t.Errorf("%s: %t, %v, %s", what, moved, err, vfstest.Tree(mem, "."))
		}
		must.Do(t, errors.Join(w.Abort(), file.Close()))
		if _, err := w.Take("part", file, true); err == nil || errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s, of a writer that was given up: %v", what, err)
		}
	}
	s := must.Have(New(mem, nil))(t)
	w, file := taker(t, s, 1), outside(t, strings.Repeat("x", defaultInlineBytes+1))
	must.Do(t, file.Close())
	must.Fail(w.Take("part", file, true))(t, errors.ErrUnsupported, "a file that is closed")
}

// TestTakeBehindPart: a part that was written is durable before a file is taken, and synced no more afterwards.
func TestTakeBehindPart(t *testing.T) {
	mem, syncs := vfstest.NewMem(), map[string]int{}
	s := must.Have(New(vfstest.Hooked(mem, func(op vfstest.Op, name string) error {
		if op == vfstest.Sync {
			syncs[filepath.Base(name)]++
		}
		return nil
	}), &Options{Form: store.Form{InlineBytes: -1}}))(t)
	w, file := begin(t, s, "job", 1, "written"), outside(t, "taken")
	defer file.Close()
	if _, err := w.(store.Taker).Take("second", file, true); err != nil || syncs["0"] != 1 {
		t.Errorf("%v after %v", err, syncs)
	}
	if _, err := w.Commit(); err != nil || syncs["0"] != 1 || syncs["1"] != 1 || syncs["manifest"] != 1 {
		t.Errorf("%v after %v", err, syncs)
	}
	left := must.Have(New(mem.Crash(nil), nil))(t)
	if got := numbersOf(t, left, "job"); len(got) != 1 {
		t.Errorf("a crash leaves %d", got)
	}
}
