// This file implements processes that run as another user, on Linux.

package owner

import (
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// Possible returns nil if this process may hand processes over: if it is root. What a container forbids its root is told by the
// start itself.
func Possible() error {
	if os.Geteuid() != 0 {
		return fs.ErrPermission
	}
	return nil
}

// Attributes has a process started as a user, with these groups beside its own and no others. The groups of this process, root's,
// do not pass on.
func Attributes(of *syscall.SysProcAttr, uid, gid uint32, groups []uint32) {
	of.Credential = &syscall.Credential{Uid: uid, Gid: gid, Groups: groups}
}

// setNoNewPrivileges is prctl(2), PR_SET_NO_NEW_PRIVS.
const setNoNewPrivileges = 38

// Renounce says that no program which this thread starts gets more rights than it has, by a set-user-ID bit or otherwise. There is no
// way back, so the goroutine must be locked to its thread and stay so.
func Renounce() error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setNoNewPrivileges, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// Start calls start on a thread that has renounced, and that ends with it.
func Start(start func() error) error {
	// The error comes from a goroutine whose thread is given up, so that the caller's own keeps all its rights.
	started := make(chan error)
	go func() {
		// It is never unlocked, so that the thread ends with the goroutine and nothing else is ever started from it.
		runtime.LockOSThread()
		err := Renounce()
		if err == nil {
			err = start()
		}
		started <- err
	}()
	return <-started
}

// Of returns the user to whom a file belongs.
func Of(info os.FileInfo) (uid uint32, known bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return s.Uid, true
}
