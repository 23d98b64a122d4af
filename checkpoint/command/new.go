// This file implements New and Close: what a runner begins with, and what it does in the background.

package command

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/check"
)

var _ runner.Runner = (*Runner)(nil)

// New returns a runner. Faults in the settings come back as apportion.Faults; an error that wraps
// errors.ErrUnsupported says that this system is not Linux. Close it after use.
//
// One goroutine looks after the logs until Close. No process is started or ended: those of a runner before go on, and are known
// by their records.
func New(commands Commands, options *Options) (*Runner, error) {
	a := &Runner{
		commands: commands, children: map[string]*child{}, since: map[string]uint64{}, outputs: map[string]*output{}, closed: make(chan struct{}),
	}
	if options != nil {
		a.options = *options
	}
	// The settings are checked before anything is made: a runner that is refused leaves no folder.
	if err := a.check(); err != nil {
		return nil, err
	}
	a.options.setDefaults()
	var err error
	// Where processes cannot be told apart there is no safe way to stop any, so New fails instead of
	// guessing.
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

// canonical returns a path without links, from the root.
func canonical(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// Close ends what the runner does in the background. Processes go on.
// Their logs outgrow Options.LogBytes then, until another runner works on the folder.
func (a *Runner) Close() error {
	// Closing twice is no fault: a deferred Close follows one that was called.
	a.once.Do(func() { close(a.closed) })
	a.tended.Wait()
	return nil
}

func (a *Runner) check() error {
	var faults apportion.Faults
	start, resume := a.commands.Start, a.commands.Resume
	check.Required(&faults, apportion.Item{}, map[string]bool{
		"Start": len(start) == 0 || start[0] == "", "Resume[0]": len(resume) > 0 && resume[0] == "", "Work": a.commands.Work == "",
	})
	if len(a.options.Guard) > 0 && a.options.Signal != nil && signalName(a.options.Signal) == "" {
		faults.Add(apportion.Item{}, "Signal", apportion.ErrUnknown, "a guard passes on SIGUSR1, SIGUSR2 and SIGHUP")
	}
	if a.options.User != nil {
		if err := a.options.User.Possible(); err != nil {
			faults.Add(apportion.Item{}, "User", err, "")
		}
	}
	check.NotNegative(&faults, apportion.Item{}, map[string]int64{
		"Grace": int64(a.options.Grace), "LogBytes": a.options.LogBytes, "Poll": int64(a.options.Poll), "KeepRuns": int64(a.options.KeepRuns),
	})
	return faults.Err()
}

// setDefaults puts what zero stands for into the options.
func (o *Options) setDefaults() {
	// An empty list that is not nil asks for no variables at all, so nil alone stands for the default.
	if o.Env == nil {
		names := []string{"PATH", "HOME"}
		// The home of root is closed to others.
		if o.homeless = o.User != nil; o.homeless {
			names = names[:1]
		}
		for _, name := range names {
			if value, ok := os.LookupEnv(name); ok {
				o.Env = append(o.Env, name+"="+value)
			}
		}
	}
	o.LogBytes = cmp.Or(o.LogBytes, defaultLogBytes)
	o.Poll = cmp.Or(o.Poll, defaultPoll)
	o.KeepRuns = cmp.Or(o.KeepRuns, defaultKeepRuns)
}
