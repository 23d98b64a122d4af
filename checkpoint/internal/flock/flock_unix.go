//go:build unix

// This file implements the lock of a file, as the system has it: flock(2).

package flock

import (
	"errors"
	"os"
	"syscall"
)

// Try takes the lock of an open file or folder for it alone, and reports whether it could: no other open file has it. A file system
// that has no locks is an error.
func Try(file *os.File) (bool, error) { return try(file, syscall.LOCK_EX) }

// TryShared takes it together with others that share it.
func TryShared(file *os.File) (bool, error) { return try(file, syscall.LOCK_SH) }

func try(file *os.File, how int) (bool, error) {
	err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	// A call that a signal has interrupted has no lock; whoever waits asks again.
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
