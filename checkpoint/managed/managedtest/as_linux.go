// This file implements what a trainer does with files as its own user, on Linux.

package managedtest

import (
	"errors"
	"runtime"
	"syscall"

	"github.com/apportion/apportion/checkpoint/command"
)

// as does something with the rights of a user to files; nil: with those of this process. It takes root.
func as(u *command.User, do func() error) error {
	if u == nil {
		return do()
	}
	done := make(chan error)
	go func() {
		// The thread is never unlocked, so that it ends with the goroutine, and nothing else is ever done by it.
		runtime.LockOSThread()
		err := errors.Join(syscall.Setfsgid(int(u.GID)), syscall.Setfsuid(int(u.UID)))
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}
