// This file implements FlowCon on every worker, [Zheng] §5.1, by package growth.

package policies

import (
	"context"
	"time"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/placement/sim"
)

// FlowCon limits the jobs of each worker by their growth efficiency. Jobs are placed as by Default
// and never moved.
type FlowCon struct {
	config  flowcon.Config
	options flowcon.Options
	place   Default
	meters  meters
	// workers are FlowCon's own, one for each server: they know nothing of one another.
	workers []*flowcon.Executor
	// readings and decision are buffers.
	readings []flowcon.Reading
	decision flowcon.Decision
	// Observe, if not nil, is told every change of category.
	Observe func(now time.Duration, change growth.Change)
}

// NewFlowCon returns a policy for one run. Kinds is set to 1: CPU. Errors are those of
// flowcon.New.
func NewFlowCon(config flowcon.Config, options *flowcon.Options) (*FlowCon, error) {
	config.Kinds = 1
	f := &FlowCon{config: config, meters: meters{}}
	if options != nil {
		f.options = *options
	}
	// The executor is made only to check the settings; those of the workers come with the first decision.
	_, err := flowcon.New(config, &f.options)
	return f, err
}

// Name returns "FlowCon".
func (*FlowCon) Name() string { return "FlowCon" }

// Decide runs FlowCon on every worker.
func (f *FlowCon) Decide(_ context.Context, state *sim.State) (sim.Orders, error) {
	orders := sim.Orders{Places: f.place.place(state)}
	for len(f.workers) < len(state.Scenario.Servers) {
		worker, err := flowcon.New(f.config, &f.options)
		if err != nil {
			return sim.Orders{}, err
		}
		f.workers = append(f.workers, worker)
	}
	for w, worker := range f.workers {
		if err := f.step(worker, w, state, &orders); err != nil {
			return sim.Orders{}, err
		}
	}
	return orders, nil
}

// step runs FlowCon on one worker, and wakes the policy when the first of all workers wants to run again.
func (f *FlowCon) step(worker *flowcon.Executor, w int, state *sim.State, orders *sim.Orders) error {
	f.readings = f.readings[:0]
	for i := range state.Jobs {
		job := &state.Jobs[i]
		if job.Server() == w {
			// A reading without usage is one that FlowCon cannot divide by; it waits for the next.
			reading := flowcon.Reading{Job: job.ID, At: state.Now, Value: job.Value}
			if share, measured := f.meters.read(job, state.Now).Share(); measured {
				reading.Usage = []float64{share}
			}
			f.readings = append(f.readings, reading)
		}
	}
	if err := worker.Step(state.Now, f.readings, &f.decision); err != nil {
		return err
	}
	// FlowCon's limits are fractions of a worker, the simulator's millionths of it.
	for _, limit := range f.decision.Limits {
		orders.Limits = append(orders.Limits, sim.Limit{Job: limit.Job, Share: sim.ShareOf(limit.Value)})
	}
	for _, change := range f.decision.Changes {
		if f.Observe != nil {
			f.Observe(state.Now, change)
		}
	}
	if len(f.readings) > 0 && (orders.Next == 0 || f.decision.Next < orders.Next) {
		orders.Next = f.decision.Next
	}
	return nil
}
