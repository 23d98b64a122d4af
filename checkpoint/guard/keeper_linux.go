// This file implements the keeper: the parent of the trainer, which kills all that has come of it.

package guard

import (
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/internal/owner"
)

// look is how often a keeper looks at the clock. A timer alone would be late after the machine has slept.
const look = 20 * time.Millisecond

// setSubreaper is prctl(2), PR_SET_CHILD_SUBREAPER.
const setSubreaper = 36

// adopt makes this process the parent of all its descendants that lose theirs.
// Without that the orphans of a trainer would become init's, and no look at this process' descendants would find them.
func adopt() error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setSubreaper, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// Keep is the keeper's program: it reads orders from descriptor 3 and reports to descriptor 4. It returns when nothing of
// the trainer lives any more; the program ends then.
// Descriptor 5 is Config.Held, where there is one. Nothing in the process may have started a child before: the keeper waits for
// every child, and kills every one at the end.
func Keep() {
	// The kernel kills the trainer when the thread ends that has started it: this one must not.
	runtime.LockOSThread()
	// The trainer must not hold the ends of these pipes: each side knows of the other's death by them.
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	syscall.CloseOnExec(5)
	k := &keeper{reports: json.NewEncoder(os.NewFile(4, "reports")), words: make(chan word), ended: make(chan syscall.WaitStatus, 1), empty: make(chan struct{})}
	// Whoever ends the guard's group may mean the keeper as well, which ends when the guard does. The signals are caught
	// and not ignored, for the trainer would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	// 1. The order. Until it has come there is nothing to kill.
	decoder := json.NewDecoder(os.NewFile(3, "orders"))
	// The order comes when the guard was granted its first lease, which may take as long as Config.Start.
	var o order
	if err := decoder.Decode(&o); err != nil {
		return // the guard is gone, and nothing was started
	}
	// 2. The trainer. A keeper that cannot start it says why and ends.
	if err := k.start(&o); err != nil {
		k.cgroup.remove()
		k.report(report{Fault: err.Error()})
		return
	}
	k.report(report{Started: true, Cgroup: k.cgroup.folder()})
	// 3. Words of the guard and the end of the trainer, until either ends all.
	go func() {
		// The channel is closed when the guard has died.
		defer close(k.words)
		for {
			var w word
			if decoder.Decode(&w) != nil {
				return
			}
			k.words <- w
		}
	}()
	k.keep()
}

// keeper is what the keeper's program knows.
type keeper struct {
	reports *json.Encoder
	words   chan word               // from the guard; closed when it has died
	ended   chan syscall.WaitStatus // has room for one: how the trainer ended
	empty   chan struct{}           // closed when no child is left

	boot    string        // the boot in which the lease was granted
	until   time.Duration // since that boot: when the lease is over
	trainer int           // its process ID, and that of its group
	gone    bool          // the trainer has ended and was waited for, so that its number may be another's
	cgroup  *cgroup       // that of the trainer; nil: it has none
}

// report tells the guard. One that is gone hears nothing.
func (k *keeper) report(r report) { _ = k.reports.Encode(r) }

// start starts the trainer in a process group of its own, and in a control group where that can be had.
func (k *keeper) start(o *order) error {
	// Before the first child: orphans of the trainer come to this process from their first moment on.
	if err := adopt(); err != nil {
		return err
	}
	// The clock is that of the machine since its boot. It goes on while the machine sleeps, and nobody can set it.
	k.boot, k.until = o.Boot, o.Until
	cmd := exec.Command(o.Argv[0], o.Argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = o.Env, o.Dir, os.Stdout, os.Stderr
	// A group of its own is killed by one call, and the kernel kills its leader should this process be killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if o.Held {
		cmd.ExtraFiles = []*os.File{os.NewFile(5, "held")}
	}
	if u := o.User; u != nil {
		if err := become(cmd.SysProcAttr, u); err != nil {
			return err
		}
	}
	if err := k.contain(o); err != nil {
		return err
	}
	// The lease is looked at as late as possible: a keeper that was stopped until now must start nothing.
	if k.over() {
		return errLate
	}
	if err := k.cgroup.start(cmd); err != nil {
		return err
	}
	// os/exec must not wait for it: reap does, for all children at once.
	k.trainer = cmd.Process.Pid
	go k.reap()
	return nil
}

// become has the trainer started as a user that is given nothing beside: no groups that were not named, and no way to be anybody else. The
// kernel forgets at a change of user whom a process dies with, so that is said after it, as os/exec does.
func become(of *syscall.SysProcAttr, u *command.User) error {
	owner.Attributes(of, u.UID, u.GID, u.Groups)
	// The trainer opens its output by the name that it has in /dev, perhaps. The pipe is this run's alone.
	if err := os.Stdout.Chown(int(u.UID), int(u.GID)); err != nil {
		return err
	}
	// This thread starts the trainer and nothing else.
	return owner.Renounce()
}

// reap waits for all children, those that were adopted as well, and tells how the trainer ended.
// It ends when no child is left; ended has room for the one status that counts.
func (k *keeper) reap() {
	defer close(k.empty)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		// A signal came in between, which says nothing of a child.
		case err == syscall.EINTR:
		// Nobody is left, and nobody comes any more: the trainer was the first.
		case err != nil:
			return
		case pid == k.trainer:
			k.ended <- status
		}
	}
}

// keep waits for the first reason to end all.
// Of several at once any may be the first: all of them end the run, and only the reason on record differs.
func (k *keeper) keep() {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		// The trainer has ended by itself. What it has left behind must not outlive it.
		case status := <-k.ended:
			k.gone = true
			k.finish(endOf(status, ""))
			return
		// The guard says something, or is gone.
		case w, ok := <-k.words:
			if why := k.hear(w, ok); why != "" {
				k.finish(k.kill(why))
				return
			}
		// Nobody says anything: the clock alone ends a run whose guard hangs.
		case <-tick.C:
			if k.over() {
				k.finish(k.kill(LeaseOver))
				return
			}
		}
	}
}

// hear takes in a word of the guard, and returns why all must end; "": it need not. there is false when the guard is gone, and
// with it all who could renew the lease.
func (k *keeper) hear(w word, there bool) Why {
	// One of the cases holds: a word has a reason to kill, a signal, or a lease.
	switch {
	case !there:
		return GuardGone
	case w.Kill != "":
		return w.Kill
	// To pass a signal on is a word without a lease.
	case w.Signal != 0:
		_ = syscall.Kill(k.trainer, syscall.Signal(w.Signal)) // it may have ended
	case w.Boot == k.boot:
		// A lease never gets shorter by being renewed.
		k.until = max(k.until, w.Until)
	}
	return ""
}

// over reports whether the lease is. A clock of another boot says that it is: that cannot be the clock of the grant.
func (k *keeper) over() bool {
	now := agent.Uptime()
	return now.Boot != k.boot || now.At >= k.until
}

// kill ends the trainer for a reason and returns how it ended.
func (k *keeper) kill(why Why) End {
	k.endAll()
	select {
	case status := <-k.ended:
		return endOf(status, why)
	case <-time.After(time.Second): // what the kernel cannot kill is not waited for, as endAll has not seen it
		return End{Code: -1, Why: why}
	}
}

// finish ends what the trainer has left, and tells how it ended when nothing lives any more. The report is the keeper's last word,
// and a promise: whoever hears of it may start the next attempt.
func (k *keeper) finish(end End) {
	k.endAll()
	k.cgroup.remove()
	k.report(report{Ended: &end})
}

// endAll kills the namespace, or else the control group, the process group and every descendant, until none is left.
func (k *keeper) endAll() {
	// Init kills all others by one call, and is the parent of every one that loses its own: when it has no child there is nobody.
	if isInit() {
		_ = syscall.Kill(-1, syscall.SIGKILL) // there may be none
		<-k.empty
		return
	}
	// From the surest to the last resort: the group has all that has ever come of the trainer, the process group what has
	// not left it, and the list of processes whoever has.
	k.cgroup.kill()
	if !k.gone {
		_ = syscall.Kill(-k.trainer, syscall.SIGKILL)
	}
	killDescendants()
}

func endOf(status syscall.WaitStatus, why Why) End {
	// -1 is no exit status, so that nobody takes a signal for the trainer's own word.
	if status.Signaled() {
		return End{Code: -1, Signal: status.Signal().String(), Why: why}
	}
	return End{Code: status.ExitStatus(), Why: why}
}
