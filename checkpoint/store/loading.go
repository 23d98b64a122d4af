// This file implements the directories that are being filled, and the removal of those whose process has died.

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/apportion/apportion/checkpoint/internal/flock"
)

// loadingPrefix begins their names.
const loadingPrefix = ".loading-"

// beginLoading makes a directory to be filled, and opens it with its lock: nobody removes it while it is open in a process that lives. Where
// the file system has no locks there is none, and nobody removes anything.
func beginLoading(parent string) (name string, lock *os.File, err error) {
	removeDead(parent)
	for {
		if name, err = os.MkdirTemp(parent, loadingPrefix); err != nil {
			return "", nil, err
		}
		lock, err = lockLoading(name)
		if lock != nil || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return name, lock, nil
		}
		// Another load has the lock, which removes it, or has removed it.
	}
}

// removeDead removes the directories below a parent whose lock nobody has. What stays only takes room, and is found by the next load.
func removeDead(parent string) {
	entries, _ := os.ReadDir(parent) // what cannot be listed is not there, or not ours
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), loadingPrefix) {
			continue
		}
		name := filepath.Join(parent, e.Name())
		if lock, _ := lockLoading(name); lock != nil {
			_ = os.RemoveAll(name)
			_ = lock.Close() // nothing was written
		}
	}
}

// lockLoading opens a directory with its lock; nil: another process has that, or, with an error, there is no such directory or lock.
func lockLoading(name string) (*os.File, error) {
	lock, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	held, err := flock.Try(lock)
	if held {
		// Whoever had the lock before may have removed the directory, or given it its name.
		var opened, now os.FileInfo
		if opened, err = lock.Stat(); err == nil {
			now, err = os.Stat(name)
		}
		if err == nil && os.SameFile(opened, now) {
			return lock, nil
		}
	}
	return nil, errors.Join(err, lock.Close())
}
