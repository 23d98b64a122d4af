// This file implements the Runner of a fleet: processes that a cluster manager starts and guards answer for.

package managed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/internal/owner"
	"github.com/apportion/apportion/checkpoint/runner"
)

// processes runs one job on one server.
type processes struct {
	*Fleet
	server string
	spec   json.RawMessage
}

var _ runner.Runner = (*processes)(nil)

func (p *processes) id(run *runner.Run, rank int) guard.ID {
	return guard.ID{Job: run.Job, Attempt: run.Attempt, Server: p.server, Rank: rank}
}

func (p *processes) Resume(ctx context.Context, run runner.Run) error {
	user, err := p.config.Manager.User(p.spec)
	if err != nil {
		return fmt.Errorf("managed: whom job %q runs as: %w", run.Job, err)
	}
	return p.start(ctx, &Task{Run: run, Epoch: p.config.Epoch, Spec: p.spec, User: user, Credential: filepath.Join(run.Dir, credentialName), Authorities: p.config.Authorities})
}

// stopPause is the pause between two calls of a manager's Stop.
const stopPause = 100 * time.Millisecond

// Stop implements [runner.Runner]. Nobody vouches for the run from now on: guards that claim end their trainers, and those
// that are cut off end them when their leases are over. What the manager does comes beside that, and frees the room.
func (p *processes) Stop(ctx context.Context, run runner.Run) error {
	desk, last := p.desk, p.id(&run, 0)
	if h, holds := p.config.Manager.(Holder); holds {
		h.Hold(ctx, run.Job, run.Attempt)
	}
	desk.Fence(run.Job, run.Attempt)
	asked := make(chan error, 1)
	go func() {
		asked <- until(ctx, stopPause, func() (bool, error) {
			left, err := p.config.Manager.Stop(ctx, run.Job, run.Attempt, p.server)
			return !left, err
		})
	}()
	here := ranks(&run, p.server)
	err := until(ctx, p.config.Poll, func() (bool, error) { return desk.AllOver(last, here), nil })
	return errors.Join(err, <-asked)
}

func until(ctx context.Context, pause time.Duration, is func() (bool, error)) error {
	for {
		if so, err := is(); so || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// Save implements [runner.Runner]. The guard of the first container here has its trainer save, which acknowledges with a
// list of files.
func (p *processes) Save(ctx context.Context, run runner.Run) (runner.Saved, error) {
	here := ranks(&run, p.server)
	if len(here) == 0 {
		return runner.Saved{}, fmt.Errorf("managed: attempt %d of job %q has no container on server %q", run.Attempt, run.Job, p.server)
	}
	id := p.id(&run, here[0])
	// A guard that has claimed since this desk began has told what was acknowledged before.
	if err := until(ctx, p.config.Poll, func() (bool, error) { _, known := p.desk.Seen(id); return known, nil }); err != nil {
		return runner.Saved{}, fmt.Errorf("managed: no guard has claimed: %w", err)
	}
	number, saved := p.desk.AskSave(id), runner.Saved{Dir: run.Dir, Step: -1}
	err := until(ctx, p.config.Poll, func() (bool, error) {
		seen, _ := p.desk.Seen(id)
		ack := seen.Claim.State.Checkpoint
		switch {
		case ack != nil && ack.Request >= number && len(ack.Files) == 0:
			return false, fmt.Errorf("managed: save %d is acknowledged without files", number)
		case ack != nil && ack.Request >= number:
			saved.Files = ack.Files
			if ack.Step != nil {
				saved.Step = *ack.Step
			}
			return true, nil
		case seen.Claim.State.Ended != nil:
			return false, fmt.Errorf("managed: the run has ended, %s, and save %d is not acknowledged", seen.Claim.State.Ended, number)
		}
		return false, nil
	})
	if err != nil {
		return saved, err
	}
	return saved, p.owned(saved)
}

// owned refuses a save with files that are not the job's user's own, which this program could read and the job could not.
func (p *processes) owned(saved runner.Saved) error {
	user, err := p.config.Manager.User(p.spec)
	if err != nil || user == nil {
		return err
	}
	return owner.Owns(saved.Dir, saved.Files, user.UID)
}

// Progress implements [runner.Runner]. Failed is the first container, by rank, that has ended otherwise than well, of which
// nothing was heard for a whole lease, or of which the manager knows that it will not start.
func (p *processes) Progress(ctx context.Context, run runner.Run) (total runner.Progress, err error) {
	here := ranks(&run, p.server)
	total.Done = len(here) > 0
	silent := false
	for _, rank := range here {
		// A container of which nothing was heard has the zero claim: not started, not ended, at step 0.
		seen, _ := p.desk.Seen(p.id(&run, rank))
		state := &seen.Claim.State
		total.Step = max(total.Step, state.Progress.Step)
		total.Running = total.Running || state.Progress.Running
		total.Done = total.Done && state.Progress.Done
		switch {
		case total.Failed != "":
		case state.Progress.Failed != "":
			total.Failed = fmt.Sprintf("rank %d: %s", rank, state.Progress.Failed)
		case state.Ended != nil:
		case p.desk.Lost(p.id(&run, rank)):
			total.Failed = fmt.Sprintf("rank %d: nothing was heard of it for a whole lease", rank)
		default:
			silent = silent || !state.Started
		}
	}
	// All containers of the server run, or none counts as running: a run that is not whole has not been resumed.
	total.Running = total.Running && !silent
	if !silent || total.Failed != "" {
		return total, nil
	}
	// Somebody is missing and has not failed: the manager may know that it never comes. It is asked as seldom as that.
	total.Failed, total.Refused, err = p.trouble(ctx, run.Job, run.Attempt, run.Dir, Part{p.server, here[0], len(here)})
	return total, err
}
