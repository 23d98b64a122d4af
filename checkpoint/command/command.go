// This file declares the runner and its settings: [Dorm] §III-C2, the pair of commands that an
// application is submitted with.

package command

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/checkpoint/runner"
)

var (
	// ErrNotStarted: the run was never started on this node, or none of its containers is here.
	ErrNotStarted = errors.New("command: not started here")
	// ErrStopped: the run was stopped, and only a later attempt can start the job again. It wraps
	// checkpoint.ErrFenced.
	ErrStopped = fmt.Errorf("command: stopped: %w", checkpoint.ErrFenced)
)

// Commands are what an application is submitted with. Both are argument lists, handed to the system as
// they are: no shell looks at them. A program without a slash is looked for in PATH of this process.
type Commands struct {
	// Start runs the application from the beginning, Resume from a checkpoint. Without Resume, Start
	// does both and looks at APPORTION_RESTORE_DIR.
	Start, Resume []string
	// Work is a folder on a local disk of this node in which the runner keeps what must outlive it: the
	// highest attempt of each job, the processes, logs. Runners may share it, and one that is started
	// after another was killed must be given the same. It holds a folder for each job.
	Work string
}

// Options are settings that have defaults; nil stands for all of them.
type Options struct {
	// Node is the name of this server. Processes are started for the containers of a run that are on
	// it; empty: for all of them.
	Node string
	// Single starts one process for the whole run, on the node of the first container, instead of one for
	// each container.
	Single bool
	// User is whom the processes of jobs run as; this process must be root. With a user for each job none can read or disturb what
	// is another's, and with any none can what is the runner's, see the package documentation. Nil: as this process does.
	User *User
	// Env are variables as in os.Environ, beside those that the package documentation lists. Nothing is
	// inherited: secrets of this process stay with it. Nil: PATH and HOME of this process; with a User HOME is a folder of the
	// run's own instead.
	Env []string
	// Dir is where processes start; empty: in the directory of their run.
	Dir string
	// Signal asks for a save, beside the request file. It goes to the processes that were started, not
	// to their children. Where a process has no handler for it yet, it ends the process. Nil: no signal.
	Signal os.Signal
	// Format verifies checkpoints. Nil: what the acknowledgement names is believed.
	Format format.Format
	// Acknowledge demands the acknowledgement even where there is a Format, so that the checkpoint is
	// not older than the request. Without a Format it is demanded in any case.
	Acknowledge bool
	// Given says that jobs give the files of their checkpoints away, as Acknowledgement.Given says of one: for trainers that
	// write each checkpoint under a new name, and neither read it again nor delete it. One that deletes its older
	// checkpoints by itself must be able to find none. False leaves it to the acknowledgement.
	Given bool
	// Needs reports whether processes on this node need a part of the checkpoint that a run begins from; the others are not
	// fetched. The run's containers tell the ranks; the checkpoint may be of a run with others. A Format sees those that
	// are fetched alone, so it is for checkpoints without one. Nil: all are needed.
	Needs func(run runner.Run, part string) bool
	// Guard is the command of a guard, see package guard: every process is started below one, by this command with
	// further flags and the process's own behind it. The program is apportion-guard, or one that calls guard.Main. What
	// such a process starts ends when nobody vouches for the run any more, whatever becomes of the runner. Nil: none.
	Guard []string
	// Grace is the time between SIGTERM and SIGKILL when a run is stopped. Zero: SIGKILL at once, as
	// its state was saved before.
	Grace time.Duration
	// LogBytes bounds what the output of one process takes on the disk; the newest is kept. Zero:
	// 16 MiB.
	LogBytes int64
	// Poll is how often files and processes are looked at while waiting for long; at first it is more often, and what a job writes is
	// looked at at once where the system tells of it (inotify, on file systems of this machine). Zero: 5 ms.
	Poll time.Duration
	// KeepRuns is how many earlier runs of a job keep their logs. Zero: 3.
	KeepRuns int
	// homeless says that a User's processes are given a HOME of their run's own.
	homeless bool
}

// What zero stands for in Options.
const (
	defaultLogBytes = 16 << 20
	defaultPoll     = 5 * time.Millisecond
	defaultKeepRuns = 3
)
