// This file implements waiting for the end of a process that need not be a child: pidfd_open(2).

package proc

import (
	"context"
	"os"
	"syscall"
	"time"
)

// pidfdOpen is the number of pidfd_open(2), which is the same for every architecture that was there before it.
const pidfdOpen = 434

// Await returns nil when a process has ended, which alive tells: the number alone may be another's by now. The error is that
// of the context when it ends first, and another where the system cannot wait for a process by its number: then whoever waits
// has to look again and again. alive is called at the beginning and whenever the system says that something has happened.
func Await(ctx context.Context, pid int, alive func() bool) error {
	// The descriptor comes first and the question second, so that no end falls between the two. O_NONBLOCK lets the runtime
	// wait for many descriptors in one thread.
	fd, _, errno := syscall.Syscall(pidfdOpen, uintptr(pid), syscall.O_NONBLOCK, 0)
	// The number is nobody's, or that of a thread, which is no process: there is nothing to wait for.
	if errno == syscall.ESRCH {
		return nil
	}
	if errno != 0 {
		return os.NewSyscallError("pidfd_open", errno)
	}
	// As a file it is closed once and never used by its number again, whoever ends first.
	file := os.NewFile(fd, "pidfd")
	defer file.Close()
	connection, err := file.SyscallConn()
	if err != nil {
		return err
	}
	// A deadline in the past lets the wait go.
	stop := context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	// Read calls the function at once, and again whenever the descriptor has become readable: a process has ended.
	err = connection.Read(func(uintptr) bool { return !alive() })
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
