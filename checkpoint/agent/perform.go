// This file implements what an agent does for each kind of effect, [Dorm] §III-C2.

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/internal/abandon"
	"github.com/apportion/apportion/checkpoint/internal/owner"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
)

// confirmPoll is the time between two looks at a job that is to be seen running.
//
// A job starts in seconds, so fifty looks a second add little to an adjustment and cost little.
const confirmPoll = 20 * time.Millisecond

// carryOut does an effect that was admitted. It returns the step that a checkpoint holds, or -1.
func (a *Agent) carryOut(ctx context.Context, order Order) (int64, error) {
	e := order.Effect
	switch e.Action {
	case checkpoint.Create, checkpoint.Release:
		return -1, nil // containers are entries of the book
	case checkpoint.Resume:
		return -1, a.resume(ctx, order)
	// A save and a look start nothing, so one that hangs in a disk is left alone: the lane is free for the Stop.
	case checkpoint.Save:
		return abandon.Do(ctx, func(ctx context.Context) (int64, error) { return a.save(ctx, order) })
	case checkpoint.Verify:
		return abandon.Do(ctx, func(ctx context.Context) (int64, error) { return -1, a.verify(ctx, order) })
	case checkpoint.Confirm:
		return abandon.Do(ctx, func(ctx context.Context) (int64, error) { return -1, a.confirm(ctx, e) })
	}
	return -1, fmt.Errorf("agent: effect %q is not for servers", e.Action)
}

// stop ends all processes of the attempts of a job that were stopped or have lapsed.
func (a *Agent) stop(ctx context.Context, job string) error {
	// The book is asked and not the order: the attempt that runs may be another than the one that the
	// Stop names.
	page := a.book.Page(job)
	// MayRun is true where the Stop was for an earlier attempt than the newest, which goes on.
	if page.Run == nil || page.MayRun() {
		return nil
	}
	r, err := a.runner(job, page.Spec)
	if err != nil {
		return err
	}
	return r.Stop(ctx, *page.Run)
}

// resume fetches the checkpoint and starts the processes. The book tells of them before they exist, and
// that they were started after it.
func (a *Agent) resume(ctx context.Context, order Order) error {
	e := order.Effect
	// The book holds the Spec, and cannot be written with one that is not JSON: all jobs of the server would wait for it.
	if len(order.Spec) > 0 && !json.Valid(order.Spec) {
		return fmt.Errorf("agent: the spec of job %q is not JSON", e.Job)
	}
	// 1. Whatever may fail or take long comes before the first note in the book, and is left alone if it hangs. What
	// comes of it late is a folder that nobody uses.
	r, err := a.runner(e.Job, order.Spec)
	if err != nil {
		return err
	}
	run, err := abandon.Do(ctx, func(ctx context.Context) (runner.Run, error) { return a.prepare(ctx, r, e) })
	if err != nil {
		return err
	}
	// 2. Processes that nobody knows of could never be ended: the book names them first.
	a.book.update(e.Job, func(p *Page) { p.Run, p.Spec = &run, order.Spec })
	if err := a.flush(ctx); err != nil {
		return err
	}
	// 3. After an error the attempt does not count as resumed, so that the master may ask again; the
	// runner starts no second set of processes for one Run.
	if err := r.Resume(ctx, run); err != nil {
		return err
	}
	// 4. If the agent dies before this, the next Resume of the attempt is admitted and the runner
	// finds the processes alive.
	a.book.update(e.Job, func(p *Page) { p.Resumed = max(p.Resumed, e.Attempt) })
	return a.flush(ctx)
}

// prepare makes the folders of an attempt, and fetches the checkpoint that it begins from.
func (a *Agent) prepare(ctx context.Context, r runner.Runner, e checkpoint.Effect) (runner.Run, error) {
	folder, attempt := string(store.FolderOf(e.Job)), strconv.FormatInt(e.Attempt, 10)
	// The folder of a job is escaped by the store's rule, since a name may have a slash; that of the
	// attempt is a number.
	run := runner.Run{Job: e.Job, Attempt: e.Attempt, Containers: e.Containers,
		Dir: filepath.Join(a.config.Shared, folder, attempt)}
	// Only the user of the agent may read what jobs write, models and data, unless the runner hands the attempt's folder over to one of
	// the job's own, who must be able to pass the job's.
	if err := owner.Pass(filepath.Dir(run.Dir)); err != nil {
		return run, err
	}
	if err := os.MkdirAll(run.Dir, 0o700); err != nil {
		return run, err
	}
	// Restore stays empty, which tells the runner to begin from the beginning.
	if e.Checkpoint == 0 {
		return run, nil
	}
	run.Restore = filepath.Join(a.config.Restored, folder, attempt)
	// The copies of the attempts before go first, for there may be room for one only.
	a.discardOlder(ctx, filepath.Dir(run.Restore), e.Attempt)
	// Only the parents are made: Fetch makes the folder itself, in one step, when it is
	// complete.
	for _, dir := range []string{a.config.Restored, filepath.Dir(run.Restore)} {
		if err := owner.Pass(dir); err != nil {
			return run, err
		}
	}
	// What a store does not have that came into the place of another says nothing of the checkpoint: Failed, not Damaged.
	if err := store.Expect(ctx, a.config.Store, store.Identity(e.Store)); err != nil {
		return run, err
	}
	if err := a.config.Fetch(ctx, a.needed(r, run), e.Job, e.Checkpoint, run.Restore); err != nil {
		return run, fmt.Errorf("%w: %w", errUnread, err)
	}
	return run, nil
}

// needed is the store as the processes of a run see it that begin here: with those parts that they need.
func (a *Agent) needed(r runner.Runner, run runner.Run) store.Store {
	chooser, ok := r.(runner.Chooser)
	if !ok {
		return a.config.Store
	}
	return store.Only(a.config.Store, func(part string) bool { return chooser.Needs(run, part) })
}

// save has the job write its state and commits it. A commit that is abandoned may still come to its end: its number
// is not used then, and is pruned with the next one.
func (a *Agent) save(ctx context.Context, order Order) (int64, error) {
	e := order.Effect
	r, run, err := a.resumed(e)
	if err != nil {
		return -1, err
	}
	// 1. The store is the one that the master means; 2. the job writes its state; 3. that is committed under the number that
	// the master has chosen.
	if err := store.Expect(ctx, a.config.Store, store.Identity(e.Store)); err != nil {
		return -1, err
	}
	saved, err := r.Save(ctx, run)
	if err != nil {
		return -1, err
	}
	into := a.config.Store
	// The other servers of the job write theirs at the same time. None is visible before the master has joined them.
	if order.Share != (store.Share{}) {
		sharded, ok := into.(store.Sharded)
		if !ok {
			return -1, fmt.Errorf("agent: a share is asked for, and the store takes whole checkpoints only: %w", errors.ErrUnsupported)
		}
		into = store.OfShare(sharded, order.Share)
	}
	_, err = store.Save(ctx, into, e.Job, e.Checkpoint, store.Files{Dir: saved.Dir, Names: saved.Files, Given: saved.Given})
	return saved.Step, err
}

func (a *Agent) verify(ctx context.Context, order Order) error {
	e := order.Effect
	if err := store.Expect(ctx, a.config.Store, store.Identity(e.Store)); err != nil {
		return err
	}
	_, err := store.VerifyShare(ctx, a.config.Store, e.Job, e.Checkpoint, order.Share)
	return err
}

// confirm waits until the processes run. Work that is done already counts as well: a short job may be faster than
// the question.
func (a *Agent) confirm(ctx context.Context, e checkpoint.Effect) error {
	r, run, err := a.resumed(e)
	if err != nil {
		return err
	}
	for {
		progress, err := r.Progress(ctx, run)
		switch {
		case err != nil:
			return err
		case progress.Running || progress.Done:
			return nil
		// A process that has ended badly does not come back by waiting; the master hears why.
		case progress.Failed != "":
			return errors.New(progress.Failed)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(confirmPoll):
		}
	}
}

func (a *Agent) resumed(e checkpoint.Effect) (runner.Runner, runner.Run, error) {
	page := a.book.Page(e.Job)
	// The fence has admitted the attempt, but an agent that was restarted between Create and Resume
	// has no Run for it.
	if page.Run == nil || page.Run.Attempt != e.Attempt {
		return nil, runner.Run{}, fmt.Errorf("agent: attempt %d of job %q was not resumed here", e.Attempt, e.Job)
	}
	r, err := a.runner(e.Job, page.Spec)
	return r, *page.Run, err
}
