// This file implements what the kernel holds the processes of a run together by.

package guard

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// The numbers of capabilities(7) and prctl(2).
const (
	capSysAdmin     = 21
	ambient         = 47 // PR_CAP_AMBIENT
	ambientClearAll = 4
)

// signals are those that may ask for a save, by name.
// SIGTERM and SIGINT are not among them: they end the run.
var signals = map[string]os.Signal{"": nil, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "HUP": syscall.SIGHUP}

// isolated has a keeper started as init of a PID namespace: when it dies, or the guard does, the kernel kills all that is in there. It
// may mount a /proc of the namespace. Whoever is not root needs a user namespace for both, in which its numbers are the same.
func isolated() *syscall.SysProcAttr {
	of := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		of.Cloneflags |= syscall.CLONE_NEWUSER
		of.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		of.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		// A program that is not root's would lose with its start what it needs to mount.
		of.AmbientCaps = []uintptr{capSysAdmin}
	}
	return of
}

// watched has a keeper started that goes on when the guard dies, should it be stopped: it kills what is left.
func watched() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGCONT}
}

// isInit reports whether this keeper is the init of a PID namespace.
func isInit() bool { return os.Getpid() == 1 }

// mountProc gives the namespace of this keeper its own /proc: the numbers in that of the machine are others than the trainer is told.
// What else the machine mounts is seen as before. The trainer gets no capability by it; the goroutine is locked to its thread.
func mountProc() error {
	err := syscall.Mount("", "/", "", syscall.MS_SLAVE|syscall.MS_REC, "")
	if err == nil {
		err = syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, "")
	}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, ambient, ambientClearAll, 0, 0, 0, 0); errno != 0 {
		err = errors.Join(err, errno)
	}
	return err
}

// contain has the run held as well as can be, says by what, and refuses less than is wanted.
func (k *keeper) contain(o *order) error {
	if isInit() {
		if err := mountProc(); err != nil {
			fmt.Fprintln(os.Stderr, "guard: /proc is that of the machine, and has other numbers for the processes of the run:", err)
		}
	}
	k.cgroup = newCgroup(o.Cgroup)
	held := Watched
	switch {
	// A guard that is init of a container takes all with it.
	case isInit(), os.Getppid() == 1:
		held = Namespace
	case k.cgroup != nil:
		held = k.cgroup.held
	}
	fmt.Fprintln(os.Stderr, "guard: the run is held by:", held)
	if slices.Index(containments, held) < slices.Index(containments, o.Containment) {
		return fmt.Errorf("the run is held by %v, and %v is required", held, o.Containment)
	}
	return nil
}
