// This file implements FlowCon on every worker, [Zheng] §5.1, by package growth.

package nodesim

import (
	"time"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
)

// FlowCon limits the jobs of each worker by their growth efficiency. Jobs are placed as by Default
// and never moved.
type FlowCon struct {
	config   flowcon.Config
	options  flowcon.Options
	place    Default
	meters   meters
	workers  []*flowcon.Executor
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
	_, err := flowcon.New(config, &f.options)
	return f, err
}

// Name implements [Policy].
func (*FlowCon) Name() string { return "FlowCon" }

// Decide implements [Policy].
func (f *FlowCon) Decide(state *State) (Orders, error) {
	orders := Orders{Placements: f.place.place(state)}
	for len(f.workers) < state.Workers {
		worker, err := flowcon.New(f.config, &f.options)
		if err != nil {
			return Orders{}, err
		}
		f.workers = append(f.workers, worker)
	}
	for w, worker := range f.workers {
		if err := f.step(worker, w, state, &orders); err != nil {
			return Orders{}, err
		}
	}
	return orders, nil
}

// step runs FlowCon on one worker.
func (f *FlowCon) step(worker *flowcon.Executor, w int, state *State, orders *Orders) error {
	f.readings = f.readings[:0]
	index := map[string]int{}
	for i := range state.Tasks {
		task := &state.Tasks[i]
		if task.Worker == w {
			index[task.ID] = task.Index
			f.readings = append(f.readings, flowcon.Reading{Job: task.ID, At: state.Now, Value: task.Value,
				Usage: f.meters.read(task, state.Now)})
		}
	}
	if err := worker.Step(state.Now, f.readings, &f.decision); err != nil {
		return err
	}
	for _, limit := range f.decision.Limits {
		orders.Limits = append(orders.Limits, Limit{index[limit.Job], ShareOf(limit.Value)})
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
