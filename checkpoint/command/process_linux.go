// This file implements what the runner asks of the system about processes, on Linux: who is alive, who
// belongs to a run, and how to end it.

package command

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/apportion/apportion/checkpoint/internal/flock"
	"github.com/apportion/apportion/checkpoint/internal/proc"
	"github.com/apportion/apportion/internal/regular"
)

// process is one process. A number alone does not tell one: it is given again after the end. With the
// time of its start, in ticks since the machine started, it does.
type process struct {
	PID int `json:"pid"`
	// The tick is a hundredth of a second. A number is not given again within one, since the kernel goes
	// through all others first.
	Start uint64 `json:"start"`
	// Boot names the start of the machine.
	Boot string `json:"boot"`
}

// bootID returns what is different after each start of the machine.
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

// identify returns the process that has a number now.
// It is false where there is none that is alive.
func (a *Runner) identify(pid int) (process, bool) {
	s, ok := proc.Stat(pid)
	return process{pid, s.Start, a.boot}, ok
}

// identityOf is what tells the process that has a number now from others that have had it, at the price of one system call.
func identityOf(pid int) (uint64, bool) { return proc.Identity(pid) }

// alive reports whether the process has not ended.
// One that has ended and that nobody has waited for yet has ended.
func (a *Runner) alive(p process) bool {
	s, ok := proc.Stat(p.PID)
	return ok && p.Boot == a.boot && s.Start == p.Start
}

// signal sends a signal to a process, and to no other that has its number.
func (a *Runner) signal(p process, sig os.Signal) error {
	// The order matters: the handle first, then the question whether this process is the one that is meant.
	// The other way round the number could be given again between.
	handle, err := os.FindProcess(p.PID) // a handle of this very process from here on
	if err != nil {
		return err
	}
	defer handle.Release()
	if !a.alive(p) {
		return os.ErrProcessDone
	}
	return handle.Signal(sig)
}

// killGroup ends the whole group of a process that leads one and is alive, at once: none of them can
// start another in between.
func (a *Runner) killGroup(leader process) {
	if a.alive(leader) {
		_ = syscall.Kill(-leader.PID, kill) // it may end just now
	}
}

// runOf returns the folder of the run that an environment names, empty if it names none. It begins with a zero byte, which
// keeps a variable whose name ends alike from matching.
func runOf(environment []byte) string {
	_, rest, _ := bytes.Cut(environment, []byte("\x00"+EnvRunDir+"="))
	folder, _, _ := bytes.Cut(rest, []byte{0})
	return string(folder)
}

// names reports whether an environment names a run of the job of an attempt up to this one.
// The beginning names the folder of this runner and the job in it; runs of other runners and jobs begin otherwise.
func (j jobFolder) names(environment []byte, upTo int64) bool {
	digits, found := strings.CutPrefix(runOf(environment), j.runs())
	attempt, err := strconv.ParseInt(digits, 10, 64)
	return found && err == nil && attempt <= upTo
}

// members returns the processes that belong to runs of the job up to an attempt: those whose environment at their
// start names one, those in the group of a leader that is alive, those that were known before, and the children
// of all. It looks at processes only, not at a disk. What was alive before since, a time in the unit of process.Start at which
// no process of the job was alive, is of no run and is passed over where this runner has read it once, for whatever job; 0: it is not
// known. O(processes) reads, seven system calls each, and one for each that is passed over.
func (a *Runner) members(j jobFolder, upTo int64, leaders, known map[int]process, since uint64) (map[int]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	all, found := map[int]proc.Status{}, map[int]process{}
	var environment []byte // of one process after the other, in one buffer
	listed := map[int]bool{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		listed[pid] = true
		// The runner never counts itself, even if it was started by a job.
		if err != nil || pid == os.Getpid() || a.table.passes(pid, j, since) {
			continue
		}
		// The identity comes first: what is read of a number that is given to another in between is of the later one, which is
		// taken for a stranger then under an identity that is not its own, and is looked at again.
		identity, there := identityOf(pid)
		s, ok := proc.Stat(pid)
		if !ok {
			continue
		}
		all[pid] = s
		p := process{pid, s.Start, a.boot}
		leader, led := leaders[s.Group]
		// The number of a group whose leader has ended may be given to a stranger.
		led = led && a.alive(leader)
		// Of other users' processes the environment cannot be read; they are not ours.
		environment, _ = proc.Read("/proc/"+e.Name()+"/environ", append(environment[:0], 0))
		if led || known[pid] == p || j.names(environment, upTo) {
			found[pid] = p
		} else if there {
			a.table.note(pid, met{identity, s.Start, runOf(environment)})
		}
	}
	a.table.keep(listed)
	// Children are added until none is new: the list has no order, so a grandchild may come before its
	// parent. O(depth times processes).
	for grown := true; grown; {
		grown = false
		for pid, s := range all {
			if _, ours := found[s.Parent]; ours && found[pid].PID == 0 {
				found[pid], grown = process{pid, s.Start, a.boot}, true
			}
		}
	}
	return found, nil
}

// awaitEnds waits until processes have ended, the signals to whom are on their way, but no longer than a while. It returns the
// error of the context when that ends first. Who is alive after it, and who has come meanwhile, the next look tells.
func (a *Runner) awaitEnds(ctx context.Context, processes map[int]process, while time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, while)
	defer cancel()
	for _, p := range processes {
		if proc.Await(limited, p.PID, func() bool { return a.alive(p) }) != nil {
			// It takes longer, or this kernel tells nobody, or it is a number that stands for nobody: the whole while is over then.
			<-limited.Done()
		}
	}
	return ctx.Err()
}

// holders returns the processes that have the file of a run open that all its processes are given.
// It reads every descriptor of every process, so whoever can tell by other signs does. What may not be read is passed over.
func (a *Runner) holders(j jobFolder) map[int]process {
	found := map[int]process{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return found
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		folder := "/proc/" + e.Name() + "/fd/"
		files, _ := os.ReadDir(folder) // it may have ended, or be another user's
		for _, file := range files {
			// A descriptor is a link to the path of its file, whatever name it was opened by.
			target, _ := os.Readlink(folder + file.Name())
			if strings.HasPrefix(target, j.runs()) && strings.HasSuffix(target, "/held") {
				if p, ok := a.identify(pid); ok {
					found[pid] = p
				}
			}
		}
	}
	return found
}

// isHeld reports whether a process of the run has the lock that all of them are given. Those who look
// share the lock, and so do not take each other for a process of the run.
func (r runFolder) isHeld() (bool, error) {
	file, err := regular.Open(r.held())
	// Of what a job has put in its place nobody holds our lock; its processes are found by the other signs.
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, regular.ErrIrregular) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	// The lock is let go with the file, before anyone could be kept waiting by it.
	free, err := flock.TryShared(file)
	return !free && err == nil, err
}

// ownGroup puts a process to be started into a group of its own.
// A signal to the runner's own group, as a terminal sends one, then ends no job.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// signalName is the name by which a guard is told of a signal; empty: none.
func signalName(sig os.Signal) string {
	return map[os.Signal]string{syscall.SIGUSR1: "USR1", syscall.SIGUSR2: "USR2", syscall.SIGHUP: "HUP"}[sig]
}

// terminate asks a process to end; kill ends it. A stopped process has to go on to hear the first.
const (
	terminate = syscall.SIGTERM
	proceed   = syscall.SIGCONT
	kill      = syscall.SIGKILL
)

// exitOf returns the status and the signal with which a process ended.
func exitOf(state *os.ProcessState) ended {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		// No program can return -1 as its status.
		return ended{Code: -1, Signal: status.Signal().String()}
	}
	return ended{Code: state.ExitCode()}
}

// release gives the disk space before an offset of a file back, where the file system can do that, and
// all of it where it cannot.
func release(name string, before int64) error {
	const keepSize, punchHole = 1, 2 // fallocate(2)
	// A job may have put a link to anything in the place of its log, or a pipe.
	file, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, file.Close())
	}
	// The apparent length stays, so the offsets of readers and of the processes that write stay right.
	err = syscall.Fallocate(int(file.Fd()), keepSize|punchHole, 0, before)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		err = file.Truncate(0) // writers append, so they go on at the beginning
	}
	return errors.Join(err, file.Close())
}

// diskBytes returns what a file takes on the disk.
// Of a file with holes that is less than its length.
func diskBytes(info os.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512 // whatever the size of a block
	}
	return info.Size()
}
