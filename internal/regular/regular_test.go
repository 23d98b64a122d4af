//go:build unix

// This file tests that nothing which lies in the place of a file is waited for or believed.

package regular_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/regular"
)

// soon fails the test where a call does not return.
func soon(t *testing.T, what string, call func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); call() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s waits for the other end", what)
	}
}

// place returns a folder with one of everything, and the folder as a root.
func place(t *testing.T) (string, *os.Root) {
	t.Helper()
	dir := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600),
		os.Mkdir(filepath.Join(dir, "folder"), 0o700),
		os.WriteFile(filepath.Join(dir, "folder", "deep"), []byte("deep"), 0o600),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
		os.Symlink("file", filepath.Join(dir, "link")),
		os.Symlink("pipe", filepath.Join(dir, "to-pipe")),
		os.Symlink("/dev/zero", filepath.Join(dir, "out")),
	} {
		must.Do(t, err)
	}
	root := must.Have(os.OpenRoot(dir))(t)
	t.Cleanup(func() { root.Close() })
	return dir, root
}

func TestOpen(t *testing.T) {
	dir, root := place(t)
	for name, want := range map[string]struct{ byPath, below, tree bool }{
		"file": {true, true, true}, "folder": {false, false, true}, "pipe": {false, false, false},
		"link": {false, true, true}, "to-pipe": {false, false, false}, "out": {false, false, false}, "nothing": {false, false, false},
	} {
		soon(t, name, func() {
			check := func(how string, file io.ReadCloser, err error, want bool) {
				must.Equal(t, err == nil, want, how, name, err)
				if err == nil {
					file.Close()
				}
				if name == "nothing" && !errors.Is(err, fs.ErrNotExist) || name == "pipe" && !errors.Is(err, regular.ErrIrregular) {
					t.Errorf("%s %s: %v", how, name, err)
				}
				if how == "open" && (name == "link" || name == "folder") && !errors.Is(err, regular.ErrIrregular) {
					t.Errorf("%s %s: %v", how, name, err)
				}
			}
			file, err := regular.Open(filepath.Join(dir, name))
			check("open", file, err, want.byPath)
			file, err = regular.OpenIn(root, name)
			check("open in", file, err, want.below)
			entry, err := regular.FS(root).Open(name)
			if err == nil && entry == nil {
				t.Fatalf("%s is opened as nothing", name)
			}
			closer, _ := entry.(io.ReadCloser)
			check("open of the tree", closer, err, want.tree)
		})
	}
}

// What is below a root reads as any file system does, but for its pipes.
func TestFS(t *testing.T) {
	dir, root := place(t)
	tree := regular.FS(root)
	for _, name := range []string{"../file", "/file", "folder/"} {
		must.Fail(tree.Open(name))(t, fs.ErrInvalid, "open", name)
		must.Fail(fs.Stat(tree, name))(t, fs.ErrInvalid, "stat", name)
	}
	soon(t, "stat", func() {
		if info, err := fs.Stat(tree, "pipe"); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
			t.Errorf("%v, %v", info, err)
		}
	})
	if entries, err := fs.ReadDir(tree, "."); err != nil || len(entries) != 6 {
		t.Errorf("%v, %v", entries, err)
	}
	for _, name := range []string{"pipe", "to-pipe", "out"} {
		must.Do(t, os.Remove(filepath.Join(dir, name)))
	}
	must.Do(t, fstest.TestFS(tree, "file", "folder/deep"))
}

func TestRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	must.Fail(regular.Read(name, 9))(t, fs.ErrNotExist, "nothing there")
	must.Do(t, os.WriteFile(name, []byte("0123456789"), 0o600))
	for limit, want := range map[int64]string{4: "0123", 10: "0123456789", 99: "0123456789"} {
		if text, err := regular.Read(name, limit); err != nil || string(text) != want {
			t.Errorf("at most %d: %q, %v", limit, text, err)
		}
	}
}
