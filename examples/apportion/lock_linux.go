// This file implements the lock of a state file on Linux: the system lets go of it with the process, however that ends.

package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile makes a file and locks it, and reports whether it was free. It follows no link. release removes the file.
func lockFile(name string) (release func(), free bool, err error) {
	const attempts = 1000 // each further one needs another run that has let go of it at the same moment
	for range attempts {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
		if err != nil {
			return nil, false, err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, false, f.Close()
		}
		if err != nil {
			return nil, false, errors.Join(err, f.Close())
		}
		// Who had it before may have removed it in between: then the lock is one of a file that nobody finds any more.
		if isNamed(f, name) {
			return func() { _ = os.Remove(name); _ = f.Close() }, true, nil // it may stay: it locks nobody out
		}
		if err := f.Close(); err != nil {
			return nil, false, err
		}
	}
	return nil, false, fmt.Errorf("%s is replaced again and again", name)
}

// isNamed reports whether an open file is the one of that name.
func isNamed(f *os.File, name string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(open, there)
}
