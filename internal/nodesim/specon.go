// This file implements SpeCon across workers, [Zheng] §5.2, by package growth/specon.

package nodesim

import (
	"errors"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
)

// SpeCon moves jobs that grow slowly to workers with less to do, and evens the cluster out when all
// grow slowly. New jobs are placed as by Default.
type SpeCon struct {
	// Place chooses workers for new jobs.
	Place   Default
	manager *specon.Manager
	meters  meters
	tasks   map[string]int // index of the jobs that the manager knows, by ID
}

// NewSpeCon returns a policy for one run. Errors are those of specon.NewManager.
func NewSpeCon(config specon.Config, options *specon.Options) (*SpeCon, error) {
	var chosen specon.ManagerOptions
	if options != nil {
		chosen.Options = *options
	}
	manager, err := specon.NewManager(specon.ManagerConfig{Config: config}, &chosen)
	return &SpeCon{manager: manager, meters: meters{}, tasks: map[string]int{}}, err
}

// Name implements [Policy].
func (*SpeCon) Name() string { return "SpeCon" }

// Decide implements [Policy].
func (s *SpeCon) Decide(state *State) (Orders, error) {
	orders := Orders{Placements: s.Place.place(state)}
	if err := s.tell(state); err != nil {
		return Orders{}, err
	}
	decision, err := s.manager.Tick(state.Now)
	if err != nil {
		return Orders{}, err
	}
	for _, move := range decision.Moves {
		task := &state.Tasks[slices.IndexFunc(state.Tasks, func(t Task) bool { return t.ID == move.Job })]
		task.Worker, _ = strconv.Atoi(move.To)
		why := Slow
		if move.Why == specon.Rebalancing {
			why = Rebalanced
		}
		orders.Placements = append(orders.Placements, Placement{Index: task.Index, Worker: task.Worker, Why: why})
	}
	if len(state.Tasks) > 0 {
		orders.Next = decision.Next
	}
	return orders, nil
}

// tell tells the manager what has happened since the decision before: who left, who arrived, and how
// everybody stands. What it ordered has been carried out.
func (s *SpeCon) tell(state *State) error {
	var errs []error
	step := func(e specon.Event) { errs = append(errs, s.manager.Step(e)) }
	for w := range state.Workers {
		step(specon.Event{Kind: specon.WorkerUp, Worker: strconv.Itoa(w), Capacity: apportion.Resources{}})
	}
	present := make(map[string]int, len(state.Tasks))
	for i := range state.Tasks {
		present[state.Tasks[i].ID] = state.Tasks[i].Index
	}
	for id := range s.tasks {
		if _, ok := present[id]; !ok {
			step(specon.Event{Kind: specon.Exit, Job: id})
		}
	}
	for i := range state.Tasks {
		task := &state.Tasks[i]
		kind := specon.Runs
		if _, known := s.tasks[task.ID]; !known {
			kind = specon.Arrival
		}
		step(specon.Event{Kind: kind, Job: task.ID, Worker: strconv.Itoa(task.Worker), Demand: apportion.Resources{}})
		reading := specon.Event{Kind: specon.Reading, Job: task.ID, At: state.Now, Value: task.Value, Current: growth.Used(task.Share.Fraction())}
		if usage := s.meters.read(task, state.Now); usage != nil {
			reading.Usage = growth.Used(usage[0])
		}
		step(reading)
	}
	s.tasks = present
	return errors.Join(errs...)
}
