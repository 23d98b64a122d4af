// This file implements FlowCon on every worker, [Zheng] §5.1, by package growth.

package nodesim

import (
	"time"

	"github.com/apportion/apportion/growth"
)

// FlowCon limits the jobs of each worker by their growth efficiency. Jobs are placed as by Default
// and never moved.
type FlowCon struct {
	config   growth.FlowConConfig
	options  growth.FlowConOptions
	place    Default
	meter    meter
	workers  []*growth.FlowCon
	readings []growth.Reading
	decision growth.Decision
	// Observe, if not nil, is told every change of category.
	Observe func(now time.Duration, move growth.Move)
}

// NewFlowCon returns a policy for one run. Kinds is set to 1: CPU. Errors are those of
// growth.NewFlowCon.
func NewFlowCon(config growth.FlowConConfig, options *growth.FlowConOptions) (*FlowCon, error) {
	config.Kinds = 1
	f := &FlowCon{config: config, meter: meter{}}
	if options != nil {
		f.options = *options
	}
	_, err := growth.NewFlowCon(config, &f.options)
	return f, err
}

// Name implements [Policy].
func (*FlowCon) Name() string { return "FlowCon" }

// Decide implements [Policy].
func (f *FlowCon) Decide(state *State) (Orders, error) {
	orders := Orders{Placements: f.place.place(state)}
	for len(f.workers) < state.Workers {
		worker, err := growth.NewFlowCon(f.config, &f.options)
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
func (f *FlowCon) step(worker *growth.FlowCon, w int, state *State, orders *Orders) error {
	f.readings = f.readings[:0]
	index := map[string]int{}
	for i := range state.Tasks {
		task := &state.Tasks[i]
		if task.Worker == w {
			index[task.ID] = task.Index
			f.readings = append(f.readings, growth.Reading{ID: task.ID, At: state.Now, Value: task.Value,
				Usage: []float64{f.meter.read(task, state.Now)}})
		}
	}
	if err := worker.Step(state.Now, f.readings, &f.decision); err != nil {
		return err
	}
	for _, limit := range f.decision.Limits {
		orders.Limits = append(orders.Limits, Limit{index[limit.ID], ShareOf(limit.Value)})
	}
	for _, move := range f.decision.Moves {
		if f.Observe != nil {
			f.Observe(state.Now, move)
		}
	}
	if f.decision.Trigger != growth.NotDue {
		f.commit(w, state)
	}
	if len(f.readings) > 0 && (orders.Next == 0 || f.decision.Next < orders.Next) {
		orders.Next = f.decision.Next
	}
	return nil
}

// commit notes the readings that this run used.
func (f *FlowCon) commit(w int, state *State) {
	for i := range state.Tasks {
		task := &state.Tasks[i]
		before, seen := f.meter[task.Index]
		if task.Worker == w && (!seen || state.Now-before.at >= f.options.MinInterval) {
			f.meter.commit(task, state.Now)
		}
	}
}
