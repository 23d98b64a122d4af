// This file implements FIFO: fixed numbers of workers in order of arrival, [OASiS] §5.

package slotsim

import (
	"context"

	"github.com/apportion/apportion/primaldual"
)

// FIFO lets all jobs in. The first that waits starts as soon as all its workers and parameter servers
// fit, and keeps them to its end.
type FIFO struct {
	// Backfill lets later jobs start while an earlier one waits.
	Backfill bool
}

// Name returns the name of the policy.
func (f FIFO) Name() string {
	if f.Backfill {
		return "FIFO+backfill"
	}
	return "FIFO"
}

func (f FIFO) schedules(ctx context.Context, s *Scenario, _ *primaldual.Bounds) ([]primaldual.Schedule, error) {
	return play(ctx, s, f)
}

func (FIFO) admit(*state, int) bool { return true }

func (f FIFO) decide(_ context.Context, st *state) error {
	for _, i := range st.active {
		if len(st.plans[i].Workers) == 0 && !st.start(i, st.fixed[i]) && !f.Backfill {
			return nil
		}
	}
	return nil
}
