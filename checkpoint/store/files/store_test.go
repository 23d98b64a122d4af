// This file holds the store on a real directory to the contract.

package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// onDisk is a Store as storetest wants it.
type onDisk struct {
	*Store
	dir string
}

// open opens a store; without options it is one that has a file for each part.
func open(t testing.TB, dir string, o *Options) *Store {
	t.Helper()
	if o == nil {
		o = &Options{Form: store.Form{InlineBytes: -1}}
	}
	s := must.Have(Open(dir, o))(t)
	t.Cleanup(func() {
		must.Do(t, s.Close())
	})
	return s
}

func (s onDisk) Damage(t testing.TB, job string, number int64, part int, how storetest.Damage) {
	t.Helper()
	dir := filepath.Join(s.dir, job, fmt.Sprint(number))
	manifest := filepath.Join(dir, manifestName)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		manifest = dir
	}
	if part == storetest.ManifestPart {
		damage(t, manifest, how)
		return
	}
	record := must.Have(s.disk.record(store.FolderOf(job), number, filepath.Join(job, fmt.Sprint(number))))(t)
	if at, inline := slices.BinarySearch(record.Inline, part); inline {
		damageInline(t, manifest, record.Contents, at, how)
		return
	}
	damage(t, filepath.Join(dir, strconv.Itoa(part)), how)
}

func damageInline(t testing.TB, name string, contents [][]byte, at int, how storetest.Damage) {
	t.Helper()
	data := must.Have(os.ReadFile(name))(t)
	must.Do(t, os.WriteFile(name, how.Inline(data, contents, at), 0o600))
}

func damage(t testing.TB, name string, how storetest.Damage) {
	t.Helper()
	if how == storetest.Remove {
		must.Do(t, os.Remove(name))
		return
	}
	data, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, how.Apply(data), 0o600)
	}
	must.Do(t, err)
}

func (s onDisk) Restart(t testing.TB) store.Store {
	next := open(t, s.dir, &Options{Form: s.disk.options.Form})
	next.disk.now = func() time.Time { return time.Now().Add(defaultGrace + time.Minute) }
	return onDisk{next, s.dir}
}

func (s onDisk) Leftovers(t testing.TB) int { return len(leftovers(t, s.dir)) }

// leftovers returns the paths below dir that belong to no checkpoint.
func leftovers(t testing.TB, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(name), tmpPrefix) || strings.HasPrefix(filepath.Base(name), trashPrefix) {
			found = append(found, name)
		}
		return err
	})
	must.Do(t, err)
	return found
}

func TestStore(t *testing.T) {
	for name, form := range map[string]store.Form{
		"default": {}, "a file for each part": {InlineBytes: -1}, "digests": {SHA256: true, InlineBytes: 10},
	} {
		t.Run(name, func(t *testing.T) {
			if form.SHA256 && testing.Short() {
				t.Skip("the other forms take long enough")
			}
			storetest.Run(t, func(t *testing.T) store.Store {
				dir := t.TempDir()
				return onDisk{open(t, dir, &Options{Form: form}), dir}
			})
		})
	}
}

func begin(t testing.TB, s *Store, job string, number int64, data string) store.Writer {
	t.Helper()
	return must.Have(storetest.Write(t.Context(), s, job, number, data))(t)
}

func commit(t testing.TB, s *Store, job string, number int64, data string) {
	t.Helper()
	must.Have(begin(t, s, job, number, data).Commit())(t)
}

func numbersOf(t testing.TB, s *Store, job string) []int64 {
	t.Helper()
	list := must.Have(s.List(t.Context(), job))(t)
	numbers := make([]int64, len(list))
	for i, m := range list {
		numbers[i] = m.Number
	}
	return numbers
}
