// This file saves files that a job has given away into a store on the same disk.

package store_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/store/files"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
)

// long is longer than what a store keeps with a manifest.
const long = 1<<20 + 3

// disk returns a store, and a folder on the same disk with two long files and a short one.
func disk(t *testing.T) (*files.Store, store.Files) {
	t.Helper()
	s := must.Have(files.Open(t.TempDir(), nil))(t)
	t.Cleanup(func() { s.Close() })
	saved := filesOf(t, map[string]string{"a/model": strings.Repeat("m", long), "b/model": strings.Repeat("n", long), "step": "7"})
	return s, saved
}

// left returns the files of a saved state that are there, one after the other.
func left(t *testing.T, saved store.Files) string {
	t.Helper()
	var there []string
	for _, name := range []string{"a/model", "b/model", "step"} {
		if _, err := os.Lstat(filepath.Join(saved.Dir, name)); err == nil {
			there = append(there, name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return strings.Join(there, " ")
}

// saves saves, verifies and loads a checkpoint.
func saves(t *testing.T, s store.Store, number int64, saved store.Files) {
	t.Helper()
	must.Have(store.Save(t.Context(), s, "lr", number, saved))(t)
	m := must.Have(store.Verify(t.Context(), s, "lr", number))(t)
	must.Equal(t, len(m.Parts), len(saved.Names), "parts")
	dir := filepath.Join(t.TempDir(), "restored")
	must.Have(store.Load(t.Context(), s, "lr", number, dir))(t)
	for _, part := range m.Parts {
		info := must.Have(os.Stat(filepath.Join(dir, part.Name)))(t)
		must.Equal(t, info.Size(), part.Bytes, part.Name, info)
	}
}

// adopts reports whether files are adopted in a folder: without reflinks, on a disk that has leases. It asks the disk, and
// not the code that is tested.
func adopts(t *testing.T) bool {
	t.Helper()
	dir := t.TempDir()
	disk := must.Have(vfs.NewOS(dir))(t)
	defer disk.Close()
	sharer, ok := any(disk).(vfs.Sharer)
	if !ok {
		return false
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	file := must.Have(os.Open(filepath.Join(dir, "file")))(t)
	defer file.Close()
	if cloned, err := sharer.Clone(file, "cloned"); err == nil {
		cloned.Close()
		return false
	}
	adopted, err := sharer.Adopt(file, "adopted")
	if err == nil {
		adopted.Close()
	}
	return err == nil
}

// TestSaveGivenRefused: what somebody could still write to is copied, though it was given, and stays where it is.
func TestSaveGivenRefused(t *testing.T) {
	if !adopts(t) {
		t.Skip("files are not adopted here")
	}
	for what, prepare := range map[string]func(name string) error{
		"it has another name": func(name string) error { return os.Link(name, name+"2") },
		"it is reached by a link": func(name string) error {
			return errors.Join(os.Rename(name, name+"2"), os.Symlink("model2", name))
		},
		"it is being written": func(name string) error {
			file, err := os.OpenFile(name, os.O_WRONLY, 0)
			t.Cleanup(func() { file.Close() })
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			s, saved := disk(t)
			saved.Given = true
			must.Do(t, prepare(filepath.Join(saved.Dir, "a/model")))
			saves(t, s, 1, saved)
			must.Equal(t, left(t, saved), "a/model step", "is left")
			must.Do(t, os.WriteFile(filepath.Join(saved.Dir, "a/model"), []byte("written over"), 0o600))
			must.Have(store.Verify(t.Context(), s, "lr", 1))(t, "the job goes on, and then")
		})
	}
}

// TestSaveGivenMany: more files than are kept open are saved, some of them as copies.
func TestSaveGivenMany(t *testing.T) {
	if testing.Short() || !adopts(t) {
		t.Skip("it writes 300 MiB, or files are not adopted here")
	}
	s, _ := disk(t)
	saved := store.Files{Dir: t.TempDir(), Given: true}
	for i := range 260 {
		name := fmt.Sprintf("%03d", i)
		must.Do(t, os.WriteFile(filepath.Join(saved.Dir, name), make([]byte, long), 0o600))
		saved.Names = append(saved.Names, name)
	}
	saves(t, s, 1, saved)
	if entries, err := os.ReadDir(saved.Dir); err != nil || len(entries) != 4 || entries[0].Name() != "256" {
		t.Errorf("%d are left, %v", len(entries), err)
	}
}

// before is a store that asks before each commit, which fails with the answer.
type before struct {
	store.Store
	commit func() error
}

type beforeWriter struct {
	store.Taker
	commit func() error
}

func (b before) Begin(ctx context.Context, job string, number int64) (store.Writer, error) {
	w, err := b.Store.Begin(ctx, job, number)
	if err != nil {
		return nil, err
	}
	return beforeWriter{w.(store.Taker), b.commit}, nil
}

func (w beforeWriter) Commit() (store.Manifest, error) {
	if err := w.commit(); err != nil {
		return store.Manifest{}, err
	}
	return w.Taker.Commit()
}

var errCommit = errors.New("the commit fails")

// TestSaveGivenFails: a save that fails leaves a job what it has given, and a file that the job has put into the place of one
// that was given is not taken away.
func TestSaveGivenFails(t *testing.T) {
	s, saved := disk(t)
	saved.Given = true
	_, err := store.Save(t.Context(), before{s, func() error {
		must.Equal(t, left(t, saved), "a/model b/model step", "before the commit", "is left")
		return errCommit
	}}, "lr", 1, saved)
	must.Err(t, err, errCommit, "error")
	must.Equal(t, left(t, saved), "a/model b/model step", "after a save that failed", "is left")
	name := filepath.Join(saved.Dir, "a/model")
	must.Do(t, os.WriteFile(name, []byte("it is the job's again"), 0o600))
	must.Do(t, os.WriteFile(name, make([]byte, long), 0o600))
	replaced := func() error { return errors.Join(os.Remove(name), os.WriteFile(name, []byte("new"), 0o600)) }
	must.Have(store.Save(t.Context(), before{s, replaced}, "lr", 2, saved))(t)
	if text, err := os.ReadFile(name); err != nil || string(text) != "new" {
		t.Errorf("the job's new file is %q, %v", text, err)
	}
}

// TestSaveClosesAll: neither a save that succeeds nor one that fails leaves anything open.
func TestSaveClosesAll(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("descriptors cannot be counted:", err)
		}
		return len(entries)
	}
	for _, given := range []bool{false, true} {
		s, saved := disk(t)
		saved.Given = given
		was := count()
		must.Have(store.Save(t.Context(), s, "lr", 1, saved))(t)
		_, failed := store.Save(t.Context(), before{s, func() error { return errCommit }}, "lr", 2, filesOf(t, contents))
		missing := store.Files{Dir: saved.Dir, Names: []string{"step", "not there"}}
		_, absent := store.Save(t.Context(), s, "lr", 3, missing)
		if !errors.Is(failed, errCommit) || !errors.Is(absent, fs.ErrNotExist) {
			t.Errorf("%v, %v", failed, absent)
		}
		must.Equal(t, count(), was, "given", given, "descriptors, before it")
	}
}
