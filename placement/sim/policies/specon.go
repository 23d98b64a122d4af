// This file implements SpeCon across workers, [Zheng] §5.2, by package growth/specon.

package policies

import (
	"context"
	"errors"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/placement/sim"
)

// Why a job was moved.
const (
	slow       = "slow"       // it grows slowly
	rebalanced = "rebalanced" // all jobs grow slowly, and the cluster was uneven
)

// SpeCon moves jobs that grow slowly to workers with less to do, and evens the cluster out when all
// grow slowly. New jobs are placed as by Default.
type SpeCon struct {
	// Place chooses workers for new jobs.
	Place Default
	// manager knows jobs and workers by their IDs, meters what each job has used so far.
	manager *specon.Manager
	meters  meters
}

// NewSpeCon returns a policy for one run. Errors are those of specon.NewManager.
func NewSpeCon(config specon.Config, options *specon.Options) (*SpeCon, error) {
	var chosen specon.ManagerOptions
	if options != nil {
		chosen.Options = *options
	}
	manager, err := specon.NewManager(specon.ManagerConfig{Config: config}, &chosen)
	return &SpeCon{manager: manager, meters: meters{}}, err
}

// Name returns "SpeCon".
func (*SpeCon) Name() string { return "SpeCon" }

// Decide tells the manager what has happened and orders what it decides.
func (s *SpeCon) Decide(_ context.Context, state *sim.State) (sim.Orders, error) {
	// New jobs are placed first, by the rule of the baseline: SpeCon's question is who moves later.
	orders := sim.Orders{Places: s.Place.place(state)}
	if err := s.tell(state); err != nil {
		return orders, err
	}
	decision, err := s.manager.Tick(state.Now)
	if err != nil {
		return orders, err
	}
	for _, move := range decision.Moves {
		worker := slices.IndexFunc(state.Scenario.Servers, func(w apportion.Server) bool { return w.ID == move.To })
		// Both reasons are told apart in reports: a job that asked to move, and one that was moved for the
		// others' sake.
		why := slow
		if move.Why == specon.Rebalancing {
			why = rebalanced
		}
		orders.Places = append(orders.Places, sim.Place{Job: move.Job, On: on(worker), Why: why})
	}
	if len(state.Jobs) > 0 {
		orders.Next = decision.Next
	}
	return orders, nil
}

// tell tells the manager what has happened since the decision before: who left, who arrived, and how
// everybody stands. What it ordered has been carried out.
func (s *SpeCon) tell(state *sim.State) error {
	var errs []error
	// Every event is told whatever came of the ones before, and all errors come back together.
	step := func(e specon.Event) { errs = append(errs, s.manager.Step(e)) }
	// Workers have no capacity: the thesis ignores room.
	for w := range state.Scenario.Servers {
		step(specon.Event{Kind: specon.WorkerUp, Worker: state.Scenario.Servers[w].ID, Capacity: apportion.Resources{}})
	}
	for _, id := range state.Ended {
		step(specon.Event{Kind: specon.Exit, Job: id})
	}
	for i := range state.Jobs {
		job := &state.Jobs[i]
		kind := specon.Runs
		if job.New {
			kind = specon.Arrival
		}
		step(specon.Event{Kind: kind, Job: job.ID, Worker: state.Scenario.Servers[job.Server()].ID, Demand: apportion.Resources{}})
		step(specon.Event{Kind: specon.Reading, Job: job.ID, At: state.Now, Value: job.Value,
			Usage: s.meters.read(job, state.Now), Current: growth.Used(sim.Fraction(job.Rate))})
	}
	return errors.Join(errs...)
}
