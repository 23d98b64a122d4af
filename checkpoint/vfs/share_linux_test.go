// This file tests what becomes of files that are cloned and adopted, and which are refused.

package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// given writes a file and opens it for reading.
func given(t *testing.T, name, text string) *os.File {
	t.Helper()
	must.Do(t, os.WriteFile(name, []byte(text), 0o644))
	file := must.Have(os.Open(name))(t)
	t.Cleanup(func() { file.Close() })
	return file
}

// disk is a folder as an OS, with a folder d in it, and its name.
func disk(t *testing.T) (*vfs.OS, string) {
	t.Helper()
	dir := t.TempDir()
	fsys := must.Have(vfs.NewOS(dir))(t)
	t.Cleanup(func() { fsys.Close() })
	must.Do(t, fsys.Mkdir("d"))
	return fsys, dir
}

// mayWrite reports whether a file can be opened for writing without waiting for a lease.
func mayWrite(t *testing.T, name string) bool {
	t.Helper()
	file, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		file.Close()
	} else if !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Fatal(err)
	}
	return err == nil
}

func TestAdopt(t *testing.T) {
	fsys, dir := disk(t)
	name := filepath.Join(dir, "outside")
	file := given(t, name, "content")
	adopted, err := fsys.Adopt(file, "d/0")
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no leases or no links here:", err)
	}
	must.Do(t, err)
	must.Fail(adopted.Write([]byte("more")))(t, must.ErrAny, "what was adopted is written")
	adopted.Flush()
	must.Do(t, adopted.Sync(), "nobody has touched it")
	info, err := os.Stat(filepath.Join(dir, "d", "0"))
	first, statErr := file.Stat()
	if err := errors.Join(err, statErr); err != nil || !os.SameFile(info, first) || info.Mode().Perm() != 0o600 {
		t.Errorf("it is %v, %v", info, err)
	}
	// Whoever wants to write waits, and is seen. Nobody who reads is kept from it.
	must.Equal(t, vfstest.Content(fsys, "d/0"), "content", "it holds")
	if mayWrite(t, name) {
		t.Error("it is open for writing")
	}
	must.Err(t, adopted.Sync(), vfs.ErrTouched, "somebody wants to write")
	must.Do(t, errors.Join(adopted.Close(), file.Close(), os.Remove(name)))
	if !mayWrite(t, filepath.Join(dir, "d", "0")) {
		t.Error("the lease outlives the file")
	}
	must.Equal(t, vfstest.Tree(fsys, "."), "d/ d/0=content ", "in the end")
}

// TestAdoptRefuses: of a file that somebody could write to, or that has another name, nothing is made, and it is what it was.
func TestAdoptRefuses(t *testing.T) {
	for what, prepare := range map[string]func(t *testing.T, name string){
		"another name": func(t *testing.T, name string) {
			if err := os.Link(name, name+"2"); err != nil {
				t.Skip(err)
			}
		},
		"open for writing": func(t *testing.T, name string) {
			writer := must.Have(os.OpenFile(name, os.O_RDWR, 0))(t)
			t.Cleanup(func() { writer.Close() })
		},
		"of another user": func(t *testing.T, name string) {
			if err := os.Chown(name, os.Geteuid()+1, -1); err != nil {
				t.Skip("only root gives files away:", err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			fsys, dir := disk(t)
			name := filepath.Join(dir, "outside")
			file := given(t, name, "content")
			prepare(t, name)
			before := must.Have(file.Stat())(t)
			if adopted, err := fsys.Adopt(file, "d/0"); !errors.Is(err, errors.ErrUnsupported) {
				t.Fatalf("it is adopted: %v, %v", adopted, err)
			}
			after, err := file.Stat()
			if err != nil || after.Mode() != before.Mode() || after.Sys().(*syscall.Stat_t).Nlink != before.Sys().(*syscall.Stat_t).Nlink {
				t.Errorf("it was %v and is %v, %v", before, after, err)
			}
			if entries, err := fsys.List("d"); err != nil || len(entries) > 0 {
				t.Errorf("there is %v, %v", entries, err)
			}
			if !mayWrite(t, name) {
				t.Error("it cannot be written any more")
			}
		})
	}
}

// TestSharedNames: a name that is taken, or leads elsewhere, and what is no file are refused by both, and what is there stays.
func TestSharedNames(t *testing.T) {
	fsys, dir := disk(t)
	vfstest.WriteFile(t, fsys, "d/taken", "old", true)
	pipe := filepath.Join(dir, "pipe")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	fifo := must.Have(os.OpenFile(pipe, os.O_RDWR, 0))(t)
	defer fifo.Close()
	folder := must.Have(os.Open(dir))(t)
	defer folder.Close()
	file := given(t, filepath.Join(dir, "outside"), "content")
	for how, share := range map[string]func(*os.File, string) (vfs.File, error){"clone": fsys.Clone, "adopt": fsys.Adopt} {
		for name, from := range map[string]*os.File{"d/taken": file, "nothing/0": file, "../0": file, "d/pipe": fifo, "d/folder": folder} {
			if made, err := share(from, name); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s of %s: %v, %v", how, name, made, err)
			}
		}
	}
	must.Equal(t, vfstest.Tree(fsys, "d"), "d/taken=old ", "in the end")
	if !mayWrite(t, filepath.Join(dir, "outside")) {
		t.Error("a refusal keeps the lease")
	}
}

// TestClone: what is cloned holds what the file held then. Where the file system cannot, nothing is there.
func TestClone(t *testing.T) {
	fsys, dir := disk(t)
	name := filepath.Join(dir, "outside")
	file := given(t, name, "content")
	cloned, err := fsys.Clone(file, "d/0")
	if errors.Is(err, errors.ErrUnsupported) {
		must.Fail(fsys.Open("d/0"))(t, fs.ErrNotExist, "a clone that could not be made is there")
		t.Skip("no reflinks here:", err)
	}
	must.Do(t, err)
	must.Do(t, errors.Join(os.WriteFile(name, []byte("other content"), 0o600), cloned.Sync(), cloned.Close()))
	must.Equal(t, vfstest.Content(fsys, "d/0"), "content", "it holds")
}
