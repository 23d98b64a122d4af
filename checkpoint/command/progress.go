// This file implements Progress: whether the processes of a run are alive, how they ended, and what they
// reported last.

package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/regular"
)

// Progress implements [runner.Runner]. Step is the highest that any process on this node reported
// last, see [ParseLine], or what the checkpoint held that the run began with. Done: all processes have
// exited with status 0. Failed: the first process, by rank, that has ended otherwise, even while others
// are still alive; or the run was stopped. Of processes that ended while no runner ran the status is not
// known: they are done if the last reading of any says so, otherwise failed. A job that may outlive its
// runner reports that it is done.
func (a *Runner) Progress(ctx context.Context, run runner.Run) (runner.Progress, error) {
	p, err := a.progress(ctx, &run)
	return p, named("progress of", &run, err)
}

// progress is Progress without the words around its errors.
func (a *Runner) progress(ctx context.Context, run *runner.Run) (runner.Progress, error) {
	folder, err := a.enter(run)
	if err != nil {
		return runner.Progress{}, err
	}
	// Progress takes no lock: it is asked often, and an answer that is a moment old is still true of that
	// moment.
	mark, err := folder.mark()
	// Who destroys its own records has failed; the question for the other jobs goes on.
	if errors.Is(err, regular.ErrIrregular) {
		return runner.Progress{Failed: err.Error()}, nil
	}
	if err != nil {
		return runner.Progress{}, err
	}
	// Who is alive is asked first: what a process writes before its end is then seen below.
	p := runner.Progress{Step: mark.Step}
	if p.Running, err = a.running(ctx, a.folder(run.Job), folder, mark.Ranks); err != nil {
		return runner.Progress{}, err
	}
	// The highest step that any rank has reported counts: ranks do not report at the same moment.
	ends, reported, done := make([]error, len(mark.Ranks)), false, false
	for i, rank := range mark.Ranks {
		ends[i] = a.endOf(folder, rank)
		reading, ok, err := a.read(folder.log(rank))
		if err != nil {
			return runner.Progress{}, err
		}
		// The first reading replaces the step of the checkpoint even if it is lower: a job may begin from an
		// earlier one than was named.
		if ok && (!reported || reading.Step > p.Step) {
			p.Step, reported = reading.Step, true
		}
		done = done || ok && reading.Done
	}
	return p, a.judge(&p, folder, mark.Ranks, judged{ends, done})
}

// judged is what tells how a run ended: the end of each process, nil where it was good, and whether the
// job said that it is done.
type judged struct {
	ends []error
	done bool
}

// judge fills in Done and Failed.
// The error is one of the disk. That a run has failed is an answer.
func (a *Runner) judge(p *runner.Progress, folder runFolder, ranks []int, by judged) error {
	// A run without containers here cannot be done from this node's view.
	p.Done = len(ranks) > 0
	for i, err := range by.ends {
		switch {
		case err == nil, errors.Is(err, errUnknown) && by.done:
		// Some rank is still at work, or has ended so lately that its end is not on record: the next answer has it.
		case errors.Is(err, errAlive):
			p.Done, p.Running = false, true
		default:
			p.Done = false
			// The first rank that failed is told: the others often fail because of it.
			if p.Failed == "" {
				p.Failed = fmt.Sprintf("rank %d: %v", ranks[i], err)
			}
		}
	}
	stopped, err := exists(folder.stopped())
	// A run that was done before it was stopped has done its work.
	if stopped && !p.Done {
		p.Failed = "stopped"
	}
	return err
}
