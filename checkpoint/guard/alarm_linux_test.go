// This file tests the kernel's timers of a guard.

package guard

import (
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/apportion/apportion/internal/must"
)

// left returns how long a timer has; 0: it is off.
func (a alarm) left(t *testing.T) time.Duration {
	var value [2]syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_TIMER_GETTIME, uintptr(a.id), uintptr(unsafe.Pointer(&value)), 0); errno != 0 {
		t.Error(errno)
	}
	return time.Duration(value[1].Nano())
}

// Whenever a guard is stopped, a timer is on that ends that: the one of its lease, or the one of its last words.
func TestOneTimerIsOn(t *testing.T) {
	var g guard
	for _, a := range []*alarm{&g.alarm, &g.waker} {
		*a = must.Have(newAlarm(syscall.SIGCONT))(t)
	}
	g.alarm.set(time.Hour, 0)
	// An even number says that the guard is about its wake, an odd one that this test puts the timers back, a negative one that it has ended.
	var step atomic.Int64
	looked := make(chan int)
	go func() {
		off := 0
		for now := step.Load(); now >= 0; now = step.Load() {
			both := g.alarm.left(t) == 0 && g.waker.left(t) == 0
			if both && now%2 == 0 && step.Load() == now {
				off++
			}
		}
		looked <- off
	}()
	for began := time.Now(); time.Since(began) < 300*time.Millisecond; step.Add(1) {
		g.wake()
		step.Add(1)
		g.alarm.set(time.Hour, 0)
		g.waker.set(0, 0)
	}
	step.Store(-1)
	if off := <-looked; off > 0 {
		t.Errorf("both timers were off %d times", off)
	}
}
