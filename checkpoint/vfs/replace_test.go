// This file tests what a crash or a failing disk leaves: the old content or the new one, at every
// operation.

package vfs_test

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// content returns what a file holds; "missing" if there is none.
func content(t *testing.T, fsys vfs.FS, name string) string {
	t.Helper()
	file, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "missing"
	}
	must.Do(t, err)
	data, err := io.ReadAll(file)
	must.Do(t, errors.Join(err, file.Close()))
	return string(data)
}

// The contents before and after; the second is longer than what a crash tears at random.
var (
	before = strings.Repeat("old ", 20)
	after  = strings.Repeat("new ", 30)
)

// held returns a disk on which "d/book" holds before, durably, and something else lies beside it.
func held(t *testing.T) *vfstest.Mem {
	t.Helper()
	mem := vfstest.NewMem()
	err := errors.Join(mem.Mkdir("d"), mem.SyncDir("."), vfs.Write(mem, "d/book", []byte(before)), vfs.Write(mem, "d/else", []byte("else")))
	must.Do(t, err)
	return mem
}

// survivors are the worst crash and some at random.
func survivors(mem *vfstest.Mem) []*vfstest.Mem {
	disks := []*vfstest.Mem{mem.Crash(nil)}
	for seed := range uint64(20) {
		disks = append(disks, mem.Crash(rand.New(rand.NewPCG(seed, 0))))
	}
	return disks
}

// TestCrashAtEveryOperation crashes the machine before, within and after every operation of Write. What
// is left is the old content or the new one; the new one where Write had returned; and the next Write
// works whatever lies around.
func TestCrashAtEveryOperation(t *testing.T) {
	cases, k := 0, 1
	for ; ; k++ {
		mem, left := held(t), k
		var crashed []*vfstest.Mem
		hooked := vfstest.Hooked(mem, func(vfstest.Op, string) error {
			if left--; left == 0 {
				crashed = survivors(mem)
				return vfstest.ErrInjected
			}
			return nil
		})
		err := vfs.Write(hooked, "d/book", []byte(after))
		done := left > 0
		must.Equal(t, err == nil, done, "operation", k, "Write", err)
		for i, survivor := range append(crashed, survivors(mem)...) {
			got := content(t, survivor, "d/book")
			if got != after && (got != before || done) {
				t.Errorf("operation %d, crash %d: the file holds %q", k, i, got)
			}
			must.Equal(t, content(t, survivor, "d/else"), "else", "operation", k, "crash", i, "the file beside it is gone")
			if err := vfs.Write(survivor, "d/book", []byte("third")); err != nil || content(t, survivor, "d/book") != "third" {
				t.Errorf("operation %d, crash %d: the next Write = %v", k, i, err)
			}
			cases++
		}
		if done {
			break
		}
	}
	t.Logf("%d operations, %d cases", k-1, cases)
	must.Equal(t, k-1, 7, "operations were met")
}

// TestRename gives a directory its name, so that a crash keeps it.
func TestRename(t *testing.T) {
	mem := held(t)
	must.Do(t, errors.Join(mem.Mkdir("half"), vfs.Write(mem, "half/part", []byte("whole")), vfs.Rename(mem, "half", "done")))
	for i, survivor := range survivors(mem) {
		must.Equal(t, content(t, survivor, "done/part"), "whole", "crash", i, "lost the name")
	}
	must.Err(t, vfs.Rename(mem, "nothing", "x"), fs.ErrNotExist, "Rename of nothing")
}

// TestOnDisk replaces files of the operating system; a leftover and a link are in the way.
func TestOnDisk(t *testing.T) {
	for name, write := range map[string]func(string, []byte) error{"WriteFile": vfs.WriteFile, "ReplaceFile": vfs.ReplaceFile} {
		dir := t.TempDir()
		path, outside := filepath.Join(dir, "book"), filepath.Join(t.TempDir(), "outside")
		must.Do(t, os.WriteFile(outside, []byte("untouched"), 0o600))
		must.Do(t, os.Symlink(outside, path+".new"))
		for _, text := range []string{"one", "two", ""} {
			must.Do(t, write(path, []byte(text)))
			if data, err := os.ReadFile(path); err != nil || string(data) != text {
				t.Errorf("%s: %q, %v", name, data, err)
			}
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s has left %v, %v", name, entries, err)
		}
		if data, _ := os.ReadFile(outside); string(data) != "untouched" {
			t.Errorf("%s wrote through a link: %q", name, data)
		}
		taken := filepath.Join(t.TempDir(), "taken")
		must.Do(t, os.MkdirAll(filepath.Join(taken, "in"), 0o700))
		must.Err(t, write(taken, nil), must.ErrAny, name, "replaced a directory")
		if entries, err := os.ReadDir(filepath.Dir(taken)); err != nil || len(entries) != 1 {
			t.Errorf("%s has left %v, %v", name, entries, err)
		}
		must.Err(t, write(filepath.Join(dir, "nothing", "book"), nil), fs.ErrNotExist, name, "without a directory")
	}
}

// A folder that is not there cannot be made durable, and one that is there can.
func TestSyncFolder(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, vfs.SyncFolder(dir))
	must.Err(t, vfs.SyncFolder(filepath.Join(dir, "none")), fs.ErrNotExist)
}
