//go:build linux

// This file implements limits without any rights: processes are stopped and continued by signals, as
// the CPU time that they have used asks for.

package node

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// tick is how often processes are looked at; a process runs for a whole tick or not at all.
	tick = 5 * time.Millisecond
	// credit bounds what a process can save up while it does not use its share.
	credit = 20 * time.Millisecond
)

// CPUTime returns the CPU time of a process and its threads, by the clock that the kernel has for each.
func CPUTime(pid int) (time.Duration, error) {
	if pid <= 0 { // the kernel would take 0 for this process
		return 0, unix.ESRCH
	}
	var ts unix.Timespec
	const processClock = 2 // the scheduler's clock, see clock_getcpuclockid(3)
	err := unix.ClockGettime(int32(^pid<<3|processClock), &ts)
	return time.Duration(ts.Nano()), err
}

// dutyCycle stops and continues processes.
// A goroutine looks at all processes every tick, until Close.
type dutyCycle struct {
	mu    sync.Mutex
	steps map[string]*steered
	stop  chan struct{}
	done  chan struct{}
}

// steered is a process under control.
type steered struct {
	pid     int
	share   float64
	used    time.Duration // at the tick before
	balance time.Duration // what it may use; negative: it has used too much
	stopped bool
}

// newDutyCycle begins to look at once, at nothing.
func newDutyCycle() *dutyCycle {
	d := &dutyCycle{steps: map[string]*steered{}, stop: make(chan struct{}), done: make(chan struct{})}
	go d.run()
	return d
}

func (d *dutyCycle) Name() string { return "duty cycle of SIGSTOP and SIGCONT" }

// The time between two looks is measured, since a busy machine skips ticks.
func (d *dutyCycle) run() {
	defer close(d.done)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	before := time.Now()
	for {
		select {
		case <-d.stop:
			return
		case now := <-ticker.C:
			d.mu.Lock()
			for _, s := range d.steps {
				s.steer(now.Sub(before))
			}
			d.mu.Unlock()
			before = now
		}
	}
}

// steer books what the process may use and has used in a time, and stops or continues it. A process
// that has ended is left alone; its agent removes it.
// A share of 1 is no limit, whatever the balance.
func (s *steered) steer(passed time.Duration) {
	used, err := CPUTime(s.pid)
	if err != nil {
		return
	}
	s.balance = min(credit, s.balance+time.Duration(s.share*float64(passed))-(used-s.used))
	s.used = used
	switch stop := s.share < 1 && s.balance < 0; {
	case stop && !s.stopped:
		s.stopped = unix.Kill(s.pid, unix.SIGSTOP) == nil
	case !stop && s.stopped:
		s.stopped = unix.Kill(s.pid, unix.SIGCONT) != nil
	}
}

// What the process has used before does not count.
func (d *dutyCycle) add(p *Process) error {
	used, err := CPUTime(p.pid)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.steps[p.Name] = &steered{pid: p.pid, share: 1, used: used}
	return err
}

// What was saved up under another limit does not count.
func (d *dutyCycle) limit(id string, share float64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.steps[id]
	if !ok {
		return errors.New("no process is called " + id)
	}
	s.share, s.balance = share, 0
	return nil
}

// remove continues the process, if it still runs, and lets go of it.
func (d *dutyCycle) remove(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.steps[id]; ok && s.stopped {
		_ = unix.Kill(s.pid, unix.SIGCONT) // it may have ended
	}
	delete(d.steps, id)
	return nil
}

// Every process that was stopped runs again.
func (d *dutyCycle) Close() error {
	close(d.stop)
	<-d.done
	return closeAll(d.steps, d.remove)
}
