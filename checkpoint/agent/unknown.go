// This file implements what an agent says of a job that it cannot look at: a record that cannot be read is the fault of one job,
// and the others of its server go on.

package agent

import (
	"context"

	"github.com/apportion/apportion/checkpoint/runner"
)

// unknown is since when the progress of an attempt is not known.
type unknown struct {
	attempt int64
	since   Stamp
}

// stands is how a job stands. What cannot be found out is not known at first, since it may be a moment's fault; after the length
// of a lease the attempt has failed by it.
func (a *Agent) stands(ctx context.Context, job string, page Page) JobStatus {
	s := JobStatus{Job: job, Attempt: page.Run.Attempt}
	r, err := a.runner(job, page.Spec)
	if err == nil {
		s.Progress, err = r.Progress(ctx, *page.Run)
	}
	now := a.config.Clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		delete(a.unknown, job)
		return s
	}
	first, known := a.unknown[job]
	if !known || first.attempt != s.Attempt {
		first = unknown{s.Attempt, now}
		a.unknown[job] = first
	}
	if now.At-first.since.At < a.config.Lease {
		s.Progress, s.Unknown = runner.Progress{}, err.Error()
	} else {
		s.Progress = runner.Progress{Failed: "it cannot be told how it stands: " + err.Error()}
	}
	return s
}
