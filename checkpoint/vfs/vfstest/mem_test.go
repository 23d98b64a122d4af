// This file tests what a crash leaves of a Mem, and that a hook lets operations fail.

package vfstest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/checkpoint/vfs/vfstest"
)

// TestCrash lists what may be left of a file that replaces another: without all syncs in order, not
// always the one or the other.
func TestCrash(t *testing.T) {
	const old, replaced = "a=old ", "a=new! "
	for _, test := range []struct {
		name              string
		syncFile, syncDir bool
		want              []string // nothing else, and each at least once
	}{
		{"all", true, true, []string{replaced}},
		{"no sync of the directory", true, false, []string{old, replaced, "a=old t=new! ", "a=new! t=new! "}},
		{"no sync of the file", false, true, []string{"a= ", "a=n ", "a=ne ", "a=new ", replaced, "a=\x00\x00\x00\x00 ", "a=n\x00\x00\x00 ", "a=ne\x00\x00 ", "a=new\x00 "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			mem := vfstest.NewMem()
			vfstest.WriteFile(t, mem, "a", "old", true)
			if err := mem.SyncDir("."); err != nil {
				t.Fatal(err)
			}
			vfstest.WriteFile(t, mem, "t", "new!", test.syncFile)
			if err := errors.Join(mem.SyncDir("."), mem.Rename("t", "a")); err != nil {
				t.Fatal(err)
			}
			if test.syncDir {
				if err := mem.SyncDir("."); err != nil {
					t.Fatal(err)
				}
			}
			met := make(map[string]bool)
			for seed := range 500 {
				met[vfstest.Tree(mem.Crash(rand.New(rand.NewPCG(uint64(seed), 1))), ".")] = true
			}
			for _, want := range test.want {
				if !met[want] {
					t.Errorf("%q is never left", want)
				}
				delete(met, want)
			}
			for other := range met {
				t.Errorf("%q is left", other)
			}
			if got := vfstest.Tree(mem, "."); got != replaced {
				t.Errorf("without a crash: %q", got)
			}
		})
	}
}

// TestCrashForgets: without luck, all that was not synced is gone, with directories and all in them.
func TestCrashForgets(t *testing.T) {
	mem := vfstest.NewMem()
	for _, dir := range []string{"kept", "lost"} {
		if err := mem.Mkdir(dir); err != nil {
			t.Fatal(err)
		}
		vfstest.WriteFile(t, mem, dir+"/a", "1", true)
		vfstest.WriteFile(t, mem, dir+"/b", "2", false)
		if err := mem.SyncDir(dir); err != nil {
			t.Fatal(err)
		}
		if dir == "kept" {
			if err := mem.SyncDir("."); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := vfstest.Tree(mem.Crash(nil), "."); got != "kept/ kept/a=1 kept/b= " {
		t.Errorf("left: %s", got)
	}
	after := mem.Crash(nil)
	vfstest.WriteFile(t, after, "c", "", false)
	if got := vfstest.Tree(mem, "."); strings.Contains(got, "c=") {
		t.Errorf("the one from before knows what came after: %s", got)
	}
}

// TestFailAt lets each operation fail in turn.
func TestFailAt(t *testing.T) {
	var ops []vfstest.Op
	work := func(fsys vfs.FS) (errs int) {
		count := func(err error) {
			if err != nil {
				errs++
			}
		}
		count(fsys.Mkdir("d"))
		if file, err := fsys.Create("a"); err == nil {
			_, err := file.Write([]byte("four"))
			count(err)
			count(file.Sync())
			count(file.Close())
		} else {
			count(err)
		}
		_, err := fsys.List(".")
		count(err)
		if file, err := fsys.Open("a"); err == nil {
			_ = file.Close()
		} else {
			count(err)
		}
		count(fsys.SyncDir("."))
		count(fsys.Rename("a", "b"))
		count(fsys.Remove("b"))
		return errs
	}
	if errs := work(vfstest.Hooked(vfstest.NewMem(), func(op vfstest.Op, _ string) error { ops = append(ops, op); return nil })); errs != 0 {
		t.Fatalf("%d errors", errs)
	}
	want := "[mkdir create write sync close list open syncdir rename remove]"
	if fmt.Sprint(ops) != want {
		t.Errorf("%v, want %s", ops, want)
	}
	for k := range ops {
		mem := vfstest.NewMem()
		if errs := work(vfstest.Hooked(mem, vfstest.FailAt(k+1, vfstest.ErrInjected))); errs == 0 {
			t.Errorf("%s does not fail", ops[k])
		}
		if ops[k] == vfstest.Write {
			if _, err := mem.Open("b"); err == nil {
				t.Error("b was not removed")
			}
		}
	}
	mem := vfstest.NewMem()
	file, err := vfstest.Hooked(mem, vfstest.FailAt(2, vfstest.ErrInjected)).Create("a")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := file.Write([]byte("four")); n != 2 || !errors.Is(err, vfstest.ErrInjected) || vfstest.Content(mem, "a") != "fo" {
		t.Errorf("a write that fails: %d, %v, %q", n, err, vfstest.Content(mem, "a"))
	}
}

// A second name is an entry of its own: synced or not, a crash takes it or leaves it, with all that was synced of the
// file.
func TestLinkAndCrash(t *testing.T) {
	for synced, want := range map[string]string{"": "a/ ", "a": "a/ a/x=content ", ".": "a/ y=content ", "a .": "a/ a/x=content y=content "} {
		m := vfstest.NewMem()
		if err := errors.Join(m.Mkdir("a"), m.SyncDir(".")); err != nil {
			t.Fatal(err)
		}
		vfstest.WriteFile(t, m, "a/x", "content", true)
		if err := m.Link("a/x", "y"); err != nil {
			t.Fatal(err)
		}
		for _, dir := range strings.Fields(synced) {
			if err := m.SyncDir(dir); err != nil {
				t.Fatal(err)
			}
		}
		if got := vfstest.Tree(m.Crash(nil), "."); got != want {
			t.Errorf("%q synced: %s, want %s", synced, got, want)
		}
	}
}
