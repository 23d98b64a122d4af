// This file implements what is on record of a run and its processes: that it was started, who they are,
// whether they are alive and how they ended.

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/apportion/apportion/checkpoint/runner"
)

// ended is how a process ended: by its own exit status, or by a signal.
type ended struct {
	// Code is -1 where a signal has ended it.
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	// Why says for what reason its guard has ended it; empty: it ended by itself, or there was no guard.
	Why string `json:"why,omitempty"`
}

func (e ended) String() string {
	text := fmt.Sprintf("exit status %d", e.Code)
	if e.Signal != "" {
		text = "signal: " + e.Signal
	}
	if e.Why != "" {
		text += fmt.Sprintf(" (ended by its guard: %s)", e.Why)
	}
	return text
}

// mark reads that the run was started; ErrNotStarted if it was not, or half only.
func (r runFolder) mark() (started, error) {
	var mark started
	err := get(r.started(), &mark)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotStarted
	}
	return mark, err
}

// What endOf says of a process that has not ended, and of one of which nobody knows how it ended.
var (
	errAlive   = errors.New("alive")
	errUnknown = errors.New("ended while no runner ran, its exit status is not known")
)

// endOf returns nil for a process that ended with status 0, and an error that says how it is otherwise.
// errAlive: it has not ended, or may not have. errUnknown: nobody knows how it has.
func (a *Runner) endOf(folder runFolder, rank int) error {
	var end ended
	a.mu.Lock()
	// A child is known by the file of its record, which is different for each run and rank.
	c := a.children[folder.process(rank)]
	a.mu.Unlock()
	// This runner has started the process itself and waits for it.
	if c != nil {
		select {
		case <-c.done:
			end = c.exit
		default:
			return errAlive
		}
		// Another runner has started it, and is its parent, or was: only the records tell.
	} else if alive, err := a.recorded(folder, rank); alive || err != nil {
		return errors.Join(err, errAlive)
		// The question for the record of the end comes after that for the process: one that ends in between has
		// it.
	} else if err := get(folder.ended(rank), &end); errors.Is(err, fs.ErrNotExist) {
		// Its guard was there, if it has one.
		var known bool
		if end, known = a.told(folder, rank); !known {
			return errUnknown
		}
	} else if err != nil {
		return err
	}
	// The exit status of a guard is a number, its record has the reason.
	if word, known := a.told(folder, rank); known {
		end = word
	}
	if end == (ended{}) {
		return nil
	}
	return errors.New(end.String())
}

// recorded reports whether the process that was started for a rank is alive.
// The error says that the record cannot be read, and so that nobody knows.
func (a *Runner) recorded(folder runFolder, rank int) (bool, error) {
	var p process
	err := get(folder.process(rank), &p)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // it ended before it could be recorded
	}
	return err == nil && a.alive(p), err
}

func (a *Runner) running(ctx context.Context, j jobFolder, folder runFolder, ranks []int) (bool, error) {
	// The cheap signs come first: a record costs one file, the search through all processes costs thousands.
	for _, rank := range ranks {
		if alive, err := a.recorded(folder, rank); alive || err != nil {
			return alive, err
		}
	}
	// The recorded processes have ended; children of theirs may hold the lock.
	if held, err := folder.isHeld(); held || err != nil {
		return held, err
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	// What has closed the file may still be found by its environment or its group.
	members, err := a.members(j, anyAttempt, nil, nil, 0)
	return len(members) > 0, err
}

// started is the mark that all processes of a run were started.
type started struct {
	Run runner.Run `json:"run"`
	// Ranks are the containers with a process on this node.
	// It is empty where the run has no container here.
	Ranks []int `json:"ranks"`
	// Step is what the checkpoint held that the run began with; 0 if it began anew, or it is not known.
	Step int64 `json:"step"`
}

// child is a process that this runner started.
type child struct {
	// done is closed when the process has ended and exit is set.
	done chan struct{}
	exit ended
	// process is who it is, where it was alive to be asked.
	process process
}
