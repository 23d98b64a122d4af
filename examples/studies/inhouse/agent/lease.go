// This file implements the lease: an agent that has not heard of a master for some time ends all its
// jobs, so that a master which waits for longer knows that none of them runs.

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/apportion/apportion/checkpoint"
)

// heardFile is touched when a master is heard, so that the lease goes on while the agent is dead.
func (c *Config) heardFile() string { return filepath.Join(c.Dir, "heard") }

// lastHeard returns when a master was last heard; the zero time if never.
func lastHeard(config Config) time.Time {
	info, err := os.Stat(config.heardFile())
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// hear notes that a master was heard. The agent's lock is held.
func (a *Agent) hear() {
	now := time.Now()
	if now.Sub(a.noted) > a.config.Lease/20 {
		if err := touch(a.config.heardFile(), now); err != nil {
			return // the lease runs out early, which is safe
		}
		a.noted = now
	}
	a.heard = now
}

// touch sets the time of a file, and makes it if it is not there.
func touch(name string, now time.Time) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Chtimes(name, now, now))
}

// status answers a master and renews the lease.
func (a *Agent) status(ctx context.Context, q Question) (Status, error) {
	a.mu.Lock()
	if q.Epoch < a.book.Epoch {
		a.mu.Unlock()
		return Status{}, fmt.Errorf("master %d, there is one of number %d: %w", q.Epoch, a.book.Epoch, checkpoint.ErrFenced)
	}
	a.hear()
	live := a.live()
	a.mu.Unlock()
	var s Status
	for _, p := range live {
		f, err := a.framework(*p.Work)
		if err != nil {
			return Status{}, err
		}
		progress, err := f.Progress(ctx, *p.Run)
		if err != nil {
			return Status{}, err
		}
		s.Jobs = append(s.Jobs, JobStatus{p.Run.Job, p.Run.Attempt, progress})
	}
	return s, nil
}

// live returns the pages of the jobs whose processes may run, by name. The agent's lock is held.
func (a *Agent) live() []page {
	var pages []page
	for _, p := range a.book.Jobs {
		if p.live() {
			pages = append(pages, *p)
		}
	}
	slices.SortFunc(pages, func(p, q page) int { return cmp.Compare(p.Run.Job, q.Run.Job) })
	return pages
}

// Keep ends all jobs whenever the lease runs out, until the context ends. Jobs run on then: the agent
// that is started next finds them.
func (a *Agent) Keep(ctx context.Context) error {
	for {
		a.mu.Lock()
		left := a.config.Lease - max(0, time.Since(a.heard))
		idle := len(a.live()) == 0
		a.mu.Unlock()
		if left <= 0 && !idle {
			if err := a.endAll(ctx); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(min(max(left, a.config.Lease/20), a.config.Lease/4)):
		}
	}
}

// endAll ends the newest attempt of every job.
func (a *Agent) endAll(ctx context.Context) error {
	var failed error
	for _, job := range slices.Sorted(maps.Keys(a.jobs())) {
		a.mu.Lock()
		p := a.book.page(job)
		p.Lapsed, p.Containers = p.Created, 0
		err := a.book.write()
		h := a.handsOf(job)
		h.drop(p.Lapsed)
		ctx, end := h.begin(ctx, p.Lapsed)
		a.mu.Unlock()
		if err == nil {
			_, err = h.use(ctx, func(ctx context.Context) (int64, error) { return -1, a.stop(ctx, job) })
		}
		end()
		failed = errors.Join(failed, err)
	}
	return failed
}

// jobs returns a copy of the book's pages.
func (a *Agent) jobs() map[string]page {
	a.mu.Lock()
	defer a.mu.Unlock()
	jobs := map[string]page{}
	for name, p := range a.book.Jobs {
		jobs[name] = *p
	}
	return jobs
}
