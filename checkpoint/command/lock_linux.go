// This file implements locks of files, by which methods exclude each other and runs show that they are
// alive, on Linux.

package command

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock of an open file for itself, unless another open file has it.
func tryLock(file *os.File) (bool, error) { return flock(file, syscall.LOCK_EX) }

// flock takes a lock of a file, exclusive or shared, and reports whether it could. The lock belongs to the open
// file, which processes inherit.
func flock(file *os.File, how int) (bool, error) {
	err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	// A call that a signal has interrupted has no lock; whoever waits asks again.
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
