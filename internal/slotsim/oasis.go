// This file lets OASiS schedule, [OASiS] Algorithm 1.

package slotsim

import (
	"context"
	"fmt"

	"github.com/apportion/apportion/primaldual"
)

// OASiS offers each job at its arrival to a primaldual.Scheduler.
type OASiS struct {
	// Label is its name; empty: "OASiS".
	Label string
	// Bounds are those of its prices; nil: those that Run is given.
	Bounds *primaldual.Bounds
}

// Name returns the label.
func (o OASiS) Name() string {
	if o.Label == "" {
		return "OASiS"
	}
	return o.Label
}

func (o OASiS) schedules(ctx context.Context, s *Scenario, bounds *primaldual.Bounds) ([]primaldual.Schedule, error) {
	if o.Bounds != nil {
		bounds = o.Bounds
	}
	scheduler, err := primaldual.NewScheduler(s.Cluster, bounds, nil)
	if err != nil {
		return nil, fmt.Errorf("making the scheduler: %w", err)
	}
	schedules := make([]primaldual.Schedule, len(s.Jobs))
	for i := range s.Jobs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		decision, err := scheduler.Offer(s.Jobs[i])
		if err != nil {
			return nil, err
		}
		schedules[i] = decision.Schedule
	}
	return schedules, nil
}
