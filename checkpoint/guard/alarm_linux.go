// This file implements a timer of the kernel that goes off while this process is stopped: timer_create(2).

package guard

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// clockBoottime is the clock that goes on while the machine sleeps.
const clockBoottime = 7

// alarm is the timer. It signals this very process, so that nothing but the kernel has to be alive and well for that.
type alarm struct{ id int32 }

// newAlarm makes a timer that is off.
func newAlarm(sig syscall.Signal) (a alarm, err error) {
	// sigevent(3type), 64 bytes: a value, the signal, and how it is told: 0 is by that signal, to the process.
	event := struct {
		value     uintptr
		sig, kind int32
		_         [48]byte
	}{sig: int32(sig)}
	if _, _, errno := syscall.Syscall(syscall.SYS_TIMER_CREATE, clockBoottime, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&a.id))); errno != 0 {
		err = os.NewSyscallError("timer_create", errno)
	}
	return a, err
}

// set has the timer go off after a while, in the place of what was set before, and then again and again after so long; 0: not at
// all, and not again.
func (a alarm) set(while, again time.Duration) {
	// itimerspec(3type): the interval, and the first time.
	value := [2]syscall.Timespec{syscall.NsecToTimespec(again.Nanoseconds()), syscall.NsecToTimespec(while.Nanoseconds())}
	_, _, _ = syscall.Syscall6(syscall.SYS_TIMER_SETTIME, uintptr(a.id), 0, uintptr(unsafe.Pointer(&value)), 0, 0, 0) // the timer is there
}
