//go:build linux

// This file tests what is handed over, and that nothing else is: links, their targets, and who may pass.

package owner

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// A user that the system need not know.
const uid, gid = 64201, 64202

// root skips a test where files cannot be given away.
func root(t *testing.T) {
	t.Helper()
	if err := Possible(); err != nil {
		t.Skip("only root gives files away")
	}
}

// is says who owns a path itself, and its rights.
func is(t *testing.T, path string) string {
	t.Helper()
	info := must.Have(os.Lstat(path))(t)
	s := info.Sys().(*syscall.Stat_t)
	if known, ok := Of(info); !ok || known != s.Uid {
		t.Errorf("%s belongs to %d, %v", path, known, ok)
	}
	return fmt.Sprintf("%d:%d %s", s.Uid, s.Gid, info.Mode().Perm())
}

// A folder is passed whatever the mask says, the one that was there before as well; those above that were there stay as they are.
func TestPass(t *testing.T) {
	dir := t.TempDir()
	above := filepath.Join(dir, "above")
	must.Do(t, os.Mkdir(above, 0o700))
	old := syscall.Umask(0o077)
	err := Pass(filepath.Join(above, "new"))
	syscall.Umask(old)
	must.Do(t, err)
	for path, want := range map[string]os.FileMode{above: 0o700, filepath.Join(above, "new"): Passed} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
	must.Do(t, Pass(above))
	if info, err := os.Stat(above); err != nil || info.Mode().Perm() != Passed {
		t.Errorf("one that was there: %v, %v", info.Mode(), err)
	}
	must.Do(t, errors.Join(os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)))
	must.Err(t, Pass(filepath.Join(dir, "file", "below")), must.ErrAny, "below a file")
}

// A folder is handed over, made or found; of a link in its place the link alone is.
func TestFolder(t *testing.T) {
	root(t)
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	must.Do(t, errors.Join(os.Mkdir(target, 0o755), os.Chmod(target, 0o755), os.Symlink(target, filepath.Join(dir, "link"))))
	for _, name := range []string{"new", "new", "link"} {
		must.Do(t, Folder(filepath.Join(dir, name), uid, gid), name)
	}
	if got, want := is(t, filepath.Join(dir, "new")), "64201:64202 -rwx------"; got != want {
		t.Errorf("it is %s, want %s", got, want)
	}
	if got, want := is(t, target), "0:0 -rwxr-xr-x"; got != want {
		t.Errorf("what the link names is %s, want %s", got, want)
	}
	must.Err(t, Folder(filepath.Join(dir, "none", "new"), uid, gid), must.ErrAny, "below what is not there")
}

// All of a tree is handed over, at any depth, and nothing that a link in it names.
func TestTree(t *testing.T) {
	root(t)
	dir := t.TempDir()
	outside, tree := filepath.Join(dir, "outside"), filepath.Join(dir, "tree")
	must.Do(t, errors.Join(os.MkdirAll(filepath.Join(tree, "a", "b"), 0o700), os.Mkdir(outside, 0o700), os.WriteFile(filepath.Join(outside, "f"), nil, 0o600),
		os.WriteFile(filepath.Join(tree, "a", "b", "f"), nil, 0o600), os.Symlink(outside, filepath.Join(tree, "a", "folder")),
		os.Symlink(filepath.Join(outside, "f"), filepath.Join(tree, "file"))))
	must.Do(t, Tree(tree, uid, gid))
	for _, name := range []string{"", "a", "a/b", "a/b/f", "a/folder", "file"} {
		if got := is(t, filepath.Join(tree, name)); !strings.HasPrefix(got, "64201:64202 ") {
			t.Errorf("%q is %s", name, got)
		}
	}
	for _, path := range []string{outside, filepath.Join(outside, "f")} {
		if got := is(t, path); !strings.HasPrefix(got, "0:0 ") {
			t.Errorf("%s is %s", path, got)
		}
	}
	must.Err(t, Tree(filepath.Join(dir, "none"), uid, gid), os.ErrNotExist, "what is not there")
}

// A file is its reader's from the moment that it has its name, and a link in its place is replaced and not followed.
func TestReplaceFile(t *testing.T) {
	root(t)
	dir := t.TempDir()
	name, target := filepath.Join(dir, "request"), filepath.Join(dir, "target")
	must.Do(t, errors.Join(os.WriteFile(target, []byte("kept"), 0o600), os.Symlink(target, name), os.Symlink(target, name+".new")))
	for _, text := range []string{"1", "2"} {
		must.Do(t, ReplaceFile(name, []byte(text), uid, gid))
		if got, err := os.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
		if got, want := is(t, name), "64201:64202 -rw-------"; got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != "kept" || is(t, target) != "0:0 -rw-------" {
		t.Errorf("what the link named is %q, %s, %v", got, is(t, target), err)
	}
	must.Err(t, ReplaceFile(filepath.Join(dir, "none", "request"), nil, uid, gid), must.ErrAny, "in a folder that is not there")
}

// What is started by Start has renounced, and nothing else that this process starts has.
func TestStart(t *testing.T) {
	privileges := func(start func(func() error) error) string {
		t.Helper()
		var text strings.Builder
		cmd := exec.Command("grep", "NoNewPrivs", "/proc/self/status")
		cmd.Stdout = &text
		must.Do(t, errors.Join(start(cmd.Start), cmd.Wait()))
		return strings.Join(strings.Fields(text.String()), " ")
	}
	before := privileges(func(start func() error) error { return start() })
	must.Equal(t, privileges(Start), "NoNewPrivs: 1", "what was started")
	for range 50 {
		must.Equal(t, privileges(func(start func() error) error { return start() }), before, "what is started after it has", "before it was")
	}
	fault := errors.New("no such program")
	must.Err(t, Start(func() error { return fault }), fault)
}
