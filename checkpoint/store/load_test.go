// This file moves checkpoints between a disk and a store, whole, damaged and interrupted.

package store_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// filesOf makes a directory with these contents and returns it as a saved state.
func filesOf(t *testing.T, contents map[string]string) store.Files {
	t.Helper()
	saved := store.Files{Dir: t.TempDir()}
	for name, text := range contents {
		path := filepath.Join(saved.Dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		saved.Names = append(saved.Names, name)
	}
	return saved
}

var contents = map[string]string{"model.index": "index", "shards/0": strings.Repeat("zero", 1<<19), "shards/1": ""}

func TestRoundTrip(t *testing.T) {
	s, saved := &storetest.MemStore{}, filesOf(t, contents)
	for range 2 { // again: the same
		manifest := must.Have(store.Save(t.Context(), s, "lr", 3, saved))(t)
		must.Equal(t, len(manifest.Parts), len(contents), manifest)
	}
	must.Have(store.Verify(t.Context(), s, "lr", 3))(t)
	dir := filepath.Join(t.TempDir(), "restored")
	for range 2 {
		must.Have(store.Load(t.Context(), s, "lr", 3, dir))(t)
		if err := os.WriteFile(filepath.Join(dir, "foreign"), nil, 0o600); err != nil { // the next Load clears it
			t.Fatal(err)
		}
	}
	for name, want := range contents {
		got := must.Have(os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))))(t)
		must.Equal(t, string(got), want, name, len(got), "bytes")
	}
	entries := must.Have(os.ReadDir(filepath.Dir(dir)))(t)
	must.Equal(t, len(entries), 1, "beside the directory", entries)
	must.Fail(store.Save(t.Context(), s, "lr", 3, filesOf(t, map[string]string{"model.index": "other"})))(t, store.ErrExists, "other files under the same number")
}

// foreign is a store whose checkpoints hold whatever the test says.
type foreign struct {
	store.Store
	manifest store.Manifest
	text     string
	fail     error // where the text ends
}

func (f *foreign) Open(context.Context, string, int64) (store.Reader, error) { return f, nil }
func (f *foreign) Manifest() store.Manifest                                  { return f.manifest }
func (f *foreign) Close() error                                              { return nil }

func (f *foreign) Range(string, int64, int64) (io.ReadCloser, error) {
	return nil, errors.ErrUnsupported
}

func (f *foreign) Part(string) (io.ReadCloser, error) {
	end := f.fail
	if end == nil {
		end = io.EOF
	}
	return io.NopCloser(io.MultiReader(strings.NewReader(f.text), iotest.ErrReader(end))), nil
}

// What a store says cannot lead Load out of its directory, and damage leaves nothing behind.
func TestLoadFromForeignStore(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "restored")
	for _, name := range []string{"../evil", "/evil", "a/../../evil", ""} {
		s := &foreign{manifest: store.Manifest{Parts: []store.Part{{Name: name}}}}
		must.Fail(store.Load(t.Context(), s, "lr", 1, dir))(t, store.ErrName, "part", name)
	}
	twice := &foreign{manifest: store.Manifest{Parts: []store.Part{{Name: "a"}, {Name: "a"}}}}
	must.Fail(store.Load(t.Context(), twice, "lr", 1, dir))(t, fs.ErrExist, "two parts of one name")
	damaged := &foreign{manifest: store.Manifest{Parts: []store.Part{{Name: "a"}}}, text: "half", fail: store.ErrCorrupt}
	must.Fail(store.Load(t.Context(), damaged, "lr", 1, dir))(t, store.ErrCorrupt, "damaged")
	must.Fail(store.Verify(t.Context(), damaged, "lr", 1))(t, store.ErrCorrupt, "verify damaged")
	if entries, err := os.ReadDir(parent); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// Every call of the store that can fail does so once: an error comes out, and nothing half-saved is
// visible.
func TestEveryFailure(t *testing.T) {
	saved := filesOf(t, contents)
	for k := int64(1); ; k++ {
		s := storetest.NewFaulty(&storetest.MemStore{})
		s.FailAt(k, storetest.Before)
		_, err := store.Save(t.Context(), s, "lr", 1, saved)
		s.FailAt(0, storetest.Before)
		list := must.Have(s.List(t.Context(), "lr"))(t)
		if err == nil {
			if k < 5 || len(list) != 1 {
				t.Errorf("no failure at call %d, %d checkpoints", k, len(list))
			}
			return
		}
		if len(list) > 1 || len(list) == 1 && len(list[0].Parts) != len(contents) {
			t.Errorf("call %d failed: %v is visible", k, list)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(store.Save(ctx, &storetest.MemStore{}, "lr", 1, filesOf(t, contents)))(t, context.Canceled, "save")
}
