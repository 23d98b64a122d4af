// This file declares the runner and its settings: [Dorm] §III-C2, the pair of commands that an
// application is submitted with.

package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/check"
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
	// Env are variables as in os.Environ, beside those that the package documentation lists. Nothing is
	// inherited: secrets of this process stay with it. Nil: PATH and HOME of this process.
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
	// Grace is the time between SIGTERM and SIGKILL when a run is stopped. Zero: SIGKILL at once, as
	// its state was saved before.
	Grace time.Duration
	// LogBytes bounds what the output of one process takes on the disk; the newest is kept. Zero:
	// DefaultLogBytes.
	LogBytes int64
	// Poll is how often files and processes are looked at while waiting. Zero: DefaultPoll.
	Poll time.Duration
	// KeepRuns is how many earlier runs of a job keep their logs. Zero: DefaultKeepRuns.
	KeepRuns int
}

// What zero stands for in Options.
const (
	DefaultLogBytes = 16 << 20
	DefaultPoll     = 5 * time.Millisecond
	DefaultKeepRuns = 3
)

// Runner runs jobs by commands. It is safe for concurrent use. Its state is on the disk: it may be
// killed at any moment, and the next one on the same folder goes on with the processes it finds.
type Runner struct {
	commands Commands
	options  Options
	boot     string

	mu sync.Mutex
	// children are the processes that this runner started itself, by the file of their record.
	children map[string]*child
	// outputs are the logs that were looked at, by name.
	outputs map[string]*output

	closed chan struct{}
	tended sync.WaitGroup
	once   sync.Once
}

var _ runner.Runner = (*Runner)(nil)

// New returns a runner. Faults in the settings come back as apportion.Faults; an error that wraps
// errors.ErrUnsupported says that this system is not Linux. Close it after use.
func New(commands Commands, options *Options) (*Runner, error) {
	a := &Runner{
		commands: commands, children: map[string]*child{}, outputs: map[string]*output{}, closed: make(chan struct{}),
	}
	if options != nil {
		a.options = *options
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	a.options.setDefaults()
	var err error
	if a.boot, err = bootID(); err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	if err := os.MkdirAll(commands.Work, 0o700); err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	// Processes carry the name of the folder: it must be the same after a restart.
	if a.commands.Work, err = canonical(commands.Work); err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	a.tended.Go(a.tend)
	return a, nil
}

func canonical(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// check lists the faults in the settings.
func (a *Runner) check() error {
	var faults apportion.Faults
	if len(a.commands.Start) == 0 || a.commands.Start[0] == "" {
		faults.Add(apportion.Item{}, "Start", apportion.ErrEmpty, "")
	}
	if len(a.commands.Resume) > 0 && a.commands.Resume[0] == "" {
		faults.Add(apportion.Item{}, "Resume[0]", apportion.ErrEmpty, "")
	}
	if a.commands.Work == "" {
		faults.Add(apportion.Item{}, "Work", apportion.ErrEmpty, "")
	}
	for name, value := range map[string]int64{
		"Grace": int64(a.options.Grace), "LogBytes": a.options.LogBytes, "Poll": int64(a.options.Poll), "KeepRuns": int64(a.options.KeepRuns),
	} {
		if value < 0 {
			faults.Add(apportion.Item{}, name, apportion.ErrNegative, strconv.FormatInt(value, 10))
		}
	}
	return faults.Err()
}

func (o *Options) setDefaults() {
	if o.Env == nil {
		for _, name := range []string{"PATH", "HOME"} {
			if value, ok := os.LookupEnv(name); ok {
				o.Env = append(o.Env, name+"="+value)
			}
		}
	}
	if o.LogBytes == 0 {
		o.LogBytes = DefaultLogBytes
	}
	if o.Poll == 0 {
		o.Poll = DefaultPoll
	}
	if o.KeepRuns == 0 {
		o.KeepRuns = DefaultKeepRuns
	}
}

// Close ends what the runner does in the background. Processes go on.
func (a *Runner) Close() error {
	a.once.Do(func() { close(a.closed) })
	a.tended.Wait()
	return nil
}

// checkRun lists the faults of a run. Names of servers are handed on in a list with commas.
func checkRun(run *runner.Run) error {
	if err := store.CheckJob(run.Job); err != nil {
		return err
	}
	var faults apportion.Faults
	item := check.Item("job", run.Job, 0)
	if run.Attempt < 1 {
		faults.Add(item, "Attempt", apportion.ErrRange, strconv.FormatInt(run.Attempt, 10))
	}
	if len(run.Containers) == 0 {
		faults.Add(item, "Containers", apportion.ErrEmpty, "")
	}
	bad := func(r rune) bool { return r == ',' || unicode.IsControl(r) }
	for i, server := range run.Containers {
		if server == "" || strings.ContainsFunc(server, bad) {
			faults.Add(item, fmt.Sprintf("Containers[%d]", i), apportion.ErrRange, strconv.Quote(server))
		}
	}
	if !filepath.IsAbs(run.Dir) || strings.ContainsRune(run.Dir, 0) {
		faults.Add(item, "Dir", apportion.ErrRange, strconv.Quote(run.Dir)+" is not an absolute path")
	}
	if run.Restore != "" && (!filepath.IsAbs(run.Restore) || strings.ContainsRune(run.Restore, 0)) {
		faults.Add(item, "Restore", apportion.ErrRange, strconv.Quote(run.Restore)+" is not an absolute path")
	}
	return faults.Err()
}

// ranks returns the ranks of the run for which processes run on this node.
func (a *Runner) ranks(run *runner.Run) []int {
	var ranks []int
	for rank, server := range run.Containers {
		if rank > 0 && a.options.Single {
			break
		}
		if a.options.Node == "" || server == a.options.Node {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// pause waits for one interval, and returns the context's error when it ends.
func (a *Runner) pause(ctx context.Context) error {
	timer := time.NewTimer(a.options.Poll)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
