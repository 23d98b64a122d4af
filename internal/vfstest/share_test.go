// This file tests files that get into a Mem from outside.

package vfstest_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

func outside(t *testing.T, text string) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "outside")
	must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	file := must.Have(os.Open(name))(t)
	t.Cleanup(func() { file.Close() })
	return file
}

// What is shared is there with its bytes, and durable when both it and its folder were synced.
func TestShare(t *testing.T) {
	from := outside(t, "content")
	for how, share := range map[string]func(vfs.Sharer) (vfs.File, error){
		"clone": func(s vfs.Sharer) (vfs.File, error) { return s.Clone(from, "a") },
		"adopt": func(s vfs.Sharer) (vfs.File, error) { return s.Adopt(from, "a") },
	} {
		mem := vfstest.NewMem()
		// Through a hook, as all that is tested with faults.
		var asked []vfstest.Op
		hooked := vfstest.Hooked(mem, func(op vfstest.Op, _ string) error { asked = append(asked, op); return nil }).(vfs.Sharer)
		file := must.Have(share(hooked))(t)
		if len(asked) != 1 || string(asked[0]) != how {
			t.Errorf("%s: the hook was asked for %v", how, asked)
		}
		must.Equal(t, vfstest.Tree(mem, "."), "a=content ", how)
		must.Do(t, mem.SyncDir("."))
		must.Equal(t, vfstest.Tree(mem.Crash(nil), "."), "a= ", how, "a crash leaves", "of what was not synced")
		must.Do(t, errors.Join(file.Sync(), file.Close()))
		must.Equal(t, vfstest.Tree(mem.Crash(nil), "."), "a=content ", how, "a crash leaves")
		if _, err := share(hooked); !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s to a name that is taken: %v", how, err)
		}
		broken := vfstest.Hooked(mem, vfstest.FailAt(1, vfstest.ErrInjected)).(vfs.Sharer)
		if _, err := share(broken); !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, vfstest.ErrInjected) {
			t.Errorf("%s that a hook refuses: %v", how, err)
		}
		plain := vfstest.Hooked(struct{ vfs.FS }{mem}, func(vfstest.Op, string) error { return nil }).(vfs.Sharer)
		must.Fail(share(plain))(t, errors.ErrUnsupported, how, "on a file system that cannot")
	}
	adopted := must.Have(vfstest.NewMem().Adopt(from, "a"))(t)
	must.Fail(adopted.Write([]byte("x")))(t, must.ErrAny, "what was adopted is written")
	must.Do(t, from.Close())
	must.Fail(vfstest.NewMem().Clone(from, "a"))(t, errors.ErrUnsupported, "clone of a closed file")
}
