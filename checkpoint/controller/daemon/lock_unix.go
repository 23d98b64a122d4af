//go:build unix

// This file implements the lock of a file, as the system has it.

package daemon

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock of an open file, and reports whether it could. It is the open file's: it goes when the process dies, however it dies.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
