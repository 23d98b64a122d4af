// This file implements Vouch: how long a run may go on whose guard asks.

package agent

import (
	"fmt"
	"time"

	"github.com/apportion/apportion/checkpoint"
)

// Vouch returns how long an attempt of a job may go on from now, without another word of this agent: what is left of its
// lease. The error wraps checkpoint.ErrFenced if the attempt must not run here: it was never to be started here, it was
// stopped, or it has lapsed. It waits for no disk.
func (a *Agent) Vouch(job string, attempt int64) (time.Duration, error) {
	page := a.book.Page(job)
	if !page.MayRun() || page.Run.Attempt != attempt {
		return 0, fmt.Errorf("agent: attempt %d of job %q may not run here: %w", attempt, job, checkpoint.ErrFenced)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lease.Left(a.config.Clock()), nil
}
