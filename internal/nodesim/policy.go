// This file holds what a policy sees and says, and the policy that does nothing: NA of [Zheng]
// §6.1.2 and DS of §6.2.1.

package nodesim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apportion/apportion/growth"
)

// Unplaced is the worker of a job that has just arrived.
const Unplaced = -1

// Task is a job that has arrived and not completed, as a policy sees it.
type Task struct {
	*Job
	// Index is the job's position in Scenario.Jobs.
	Index int
	// Worker is its worker, or Unplaced.
	Worker int
	// Value is its evaluation function now.
	Value float64
	// Used is the CPU that it has used since its arrival.
	Used Work
	// Share is what it used until now.
	Share Share
}

// State is the cluster at the time of a decision.
type State struct {
	Now     time.Duration
	Workers int
	// Tasks are in the order of arrival, those of one instant in that of the scenario.
	Tasks []Task
}

// Why says why a job was given a worker.
type Why uint8

// The reasons.
const (
	// Arrived: the job is new.
	Arrived Why = iota
	// Slow: the job grows slowly.
	Slow
	// Rebalanced: all jobs grow slowly, and the cluster was uneven.
	Rebalanced
)

// String returns "arrived", "slow" or "rebalanced".
func (w Why) String() string { return [...]string{"arrived", "slow", "rebalanced"}[w] }

// Placement gives a job a worker. A job that has one already is moved.
type Placement struct {
	// Index is the job's position in Scenario.Jobs.
	Index, Worker int
	Why           Why
}

// Limit is a soft limit for a job; a job without one has Whole.
type Limit struct {
	Index int
	Limit Share
}

// Orders is what a policy decides.
type Orders struct {
	// Placements must have every unplaced job.
	Placements []Placement
	Limits     []Limit
	// Next is when the policy is to be asked again, whatever happens before; later than now, or
	// 0 for only when something happens.
	Next time.Duration
}

// Policy decides at each arrival, at each completion and when it asked to. A value serves one run:
// policies keep what they know of the jobs.
type Policy interface {
	// Name is for reports.
	Name() string
	// Decide may change the state, which is made for it, but must not keep it.
	Decide(state *State) (Orders, error)
}

// Default places each new job on the worker with the least sum of requests, sets no limits and
// moves nobody: NA on one worker, DS on several.
type Default struct {
	// Ties chooses among workers with equal sums, as Kubernetes does, in particular where no job
	// requests anything; nil chooses the first.
	Ties *rand.Rand
}

// Name implements [Policy].
func (*Default) Name() string { return "default" }

// Decide implements [Policy].
func (d *Default) Decide(state *State) (Orders, error) {
	return Orders{Placements: d.place(state)}, nil
}

// place places the new jobs and notes it in the state.
func (d *Default) place(state *State) []Placement {
	var placements []Placement
	for i := range state.Tasks {
		task := &state.Tasks[i]
		if task.Worker == Unplaced {
			task.Worker = d.least(state)
			placements = append(placements, Placement{Index: task.Index, Worker: task.Worker})
		}
	}
	return placements
}

// least returns the worker with the least sum of requests.
func (d *Default) least(state *State) int {
	sums := make([]float64, state.Workers)
	for i := range state.Tasks {
		if task := &state.Tasks[i]; task.Worker != Unplaced {
			sums[task.Worker] += task.Request
		}
	}
	least := slices.Min(sums)
	var ties []int
	for w, sum := range sums {
		if cmp.Compare(sum, least) == 0 {
			ties = append(ties, w)
		}
	}
	if d.Ties == nil {
		return ties[0]
	}
	return ties[d.Ties.IntN(len(ties))]
}

// meters measure the average usage of tasks between two readings, by index.
type meters map[int]*growth.Counter

// read returns the average usage of a task since its reading before; nil: it is the first, or at the
// same time.
func (m meters) read(task *Task, now time.Duration) []float64 {
	if m[task.Index] == nil {
		m[task.Index] = new(growth.Counter)
	}
	if share, measured := m[task.Index].Usage(now, task.Used.Time()).Share(); measured {
		return []float64{share}
	}
	return nil
}
