// This file holds the store on a real directory to the contract.

package filestore

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
)

// onDisk is a Store as storetest wants it.
type onDisk struct {
	*Store
	dir string
}

func open(t testing.TB, dir string, o *Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s onDisk) Damage(t testing.TB, job string, number int64, part int, how storetest.Damage) {
	t.Helper()
	name := strconv.Itoa(part)
	if part == storetest.ManifestPart {
		name = manifestName
	}
	damage(t, filepath.Join(s.dir, job, fmt.Sprint(number), name), how)
}

// damage damages a file.
func damage(t testing.TB, name string, how storetest.Damage) {
	t.Helper()
	if how == storetest.Remove {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, how.Apply(data), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s onDisk) Restart(t testing.TB) store.Store {
	next := open(t, s.dir, nil)
	next.now = func() time.Time { return time.Now().Add(DefaultGrace + time.Minute) }
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
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		dir := t.TempDir()
		return onDisk{open(t, dir, nil), dir}
	})
}

// begin starts a checkpoint with one part.
func begin(t testing.TB, s *Store, job string, number int64, data string) store.Writer {
	t.Helper()
	w, err := storetest.Write(t.Context(), s, job, number, data)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// commit commits a checkpoint with one part.
func commit(t testing.TB, s *Store, job string, number int64, data string) {
	t.Helper()
	if _, err := begin(t, s, job, number, data).Commit(); err != nil {
		t.Fatal(err)
	}
}

// numbersOf lists a job.
func numbersOf(t testing.TB, s *Store, job string) []int64 {
	t.Helper()
	list, err := s.List(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]int64, len(list))
	for i, m := range list {
		numbers[i] = m.Number
	}
	return numbers
}
