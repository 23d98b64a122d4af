// This file implements SpeCon across workers, [Zheng] §5.2, by packages growth and placement.

package nodesim

import (
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/placement"
)

// SpeCon moves jobs that grow slowly to workers with less to do, and evens the cluster out when all
// grow slowly. New jobs are placed as by Default.
type SpeCon struct {
	// Place chooses workers for new jobs.
	Place   Default
	monitor *specon.Monitor
	meters  meters
	marks   map[int]standing
	report  specon.Report
}

// standing is what the manager knows of a job beyond the monitor.
type standing struct {
	category growth.Category
	// since is when the job was decided on or, before that, when it converged.
	since time.Duration
	// decided: the manager has chosen a host for it. rebalanced: it was moved to even things out.
	decided, rebalanced bool
}

// NewSpeCon returns a policy for one run. Errors are those of specon.NewMonitor.
func NewSpeCon(config specon.Config, options *specon.Options) (*SpeCon, error) {
	monitor, err := specon.NewMonitor(config, options)
	return &SpeCon{monitor: monitor, meters: meters{}, marks: map[int]standing{}}, err
}

// Name implements [Policy].
func (*SpeCon) Name() string { return "SpeCon" }

// Decide implements [Policy].
func (s *SpeCon) Decide(state *State) (Orders, error) {
	orders := Orders{Placements: s.Place.place(state)}
	if err := s.watch(state); err != nil {
		return Orders{}, err
	}
	for _, request := range s.report.Requests {
		if err := s.choose(request, state, &orders); err != nil {
			return Orders{}, err
		}
	}
	if err := s.rebalance(state, &orders); err != nil {
		return Orders{}, err
	}
	if len(state.Tasks) > 0 {
		orders.Next = s.report.Next
	}
	return orders, nil
}

// watch hands all readings to the container monitor, Algorithm 3.
func (s *SpeCon) watch(state *State) error {
	observations := make([]specon.Observation, len(state.Tasks))
	for i := range state.Tasks {
		task := &state.Tasks[i]
		observations[i] = specon.Observation{Job: task.ID, Worker: strconv.Itoa(task.Worker), Migrated: s.marks[task.Index].decided,
			At: state.Now, Value: task.Value}
		if usage := s.meters.read(task, state.Now); usage != nil {
			observations[i].Usage = growth.Used(usage[0])
		}
	}
	if err := s.monitor.Step(state.Now, observations, &s.report); err != nil {
		return err
	}
	for i := range state.Tasks {
		task := &state.Tasks[i]
		s.mark(task, state.Now)
	}
	return nil
}

// mark notes the category of a task, and when it converged.
func (s *SpeCon) mark(task *Task, now time.Duration) {
	mark := s.marks[task.Index]
	status, _ := s.monitor.Standing(task.ID)
	if status.Category == growth.Converged && mark.category != growth.Converged {
		mark.since = now
	}
	mark.category = status.Category
	s.marks[task.Index] = mark
}

// choose decides on one request, Algorithm 4, and notes the move in the state, so that the next
// request of the same check sees it.
func (s *SpeCon) choose(request specon.Request, state *State, orders *Orders) error {
	workers := make([]placement.Worker, state.Workers)
	for w := range workers {
		workers[w] = placement.Worker{ID: strconv.Itoa(w), Free: apportion.Resources{}}
	}
	var asks *Task
	for i := range state.Tasks {
		task := &state.Tasks[i]
		worker := &workers[task.Worker]
		worker.Usage += task.Share.Fraction()
		s.count(task, &worker.Counts)
		if task.ID == request.Job {
			asks = task
		}
	}
	host, err := placement.ChooseHost(placement.HostRequest{Workers: workers, Current: asks.Worker, Demand: apportion.Resources{}}, nil)
	if err != nil {
		return err
	}
	mark := s.marks[asks.Index]
	mark.decided, mark.since = true, state.Now
	s.marks[asks.Index] = mark
	s.move(asks, host.Worker, Slow, orders)
	return nil
}

// count adds a task to the counts of its worker.
func (s *SpeCon) count(task *Task, counts *placement.Counts) {
	switch s.marks[task.Index].category {
	case growth.Progressing:
		counts.Progressing++
	case growth.Watching:
		counts.Watching++
	default:
		counts.Converged++
	}
}

// rebalance is Algorithm 5. It waits until all jobs are converged, as §6.2.3 tells, whether or not
// each was decided on: a job that converges last on its worker never asks for another host, so the
// listing's condition, that all are migrated, would hardly ever be true.
func (s *SpeCon) rebalance(state *State, orders *Orders) error {
	request := placement.RebalanceRequest{Now: state.Now, Free: make([]apportion.Resources, state.Workers)}
	for i := range state.Tasks {
		task := &state.Tasks[i]
		mark := s.marks[task.Index]
		request.Containers = append(request.Containers, placement.Active{ID: task.ID, Worker: task.Worker,
			Migrated: mark.category == growth.Converged, Since: mark.since, Rebalanced: mark.rebalanced})
	}
	plan, err := placement.Rebalance(request, nil)
	if err != nil {
		return err
	}
	for _, transfer := range plan.Transfers {
		task := &state.Tasks[transfer.Container]
		mark := s.marks[task.Index]
		mark.decided, mark.rebalanced = true, true
		s.marks[task.Index] = mark
		s.move(task, transfer.To, Rebalanced, orders)
	}
	return nil
}

func (s *SpeCon) move(task *Task, worker int, why Why, orders *Orders) {
	if worker == task.Worker {
		return
	}
	task.Worker = worker
	orders.Placements = append(orders.Placements, Placement{Index: task.Index, Worker: worker, Why: why})
}
