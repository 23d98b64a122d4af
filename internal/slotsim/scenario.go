// This file holds what is played: Scenario, the cluster, the jobs and their fixed numbers of workers,
// [OASiS] §5.

package slotsim

import (
	"fmt"
	"math/rand/v2"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/primaldual"
)

// Scenario is a cluster and the jobs that arrive at it.
type Scenario struct {
	Cluster *primaldual.Cluster
	// Jobs ascend by arrival and have different IDs.
	Jobs []primaldual.Job
	// Workers is, for each job, how many workers FIFO and RRH give it; at least 1. More than Chunks
	// counts as Chunks.
	Workers []int64
}

// paperWorkers is the most workers that FIFO and RRH give a job in the paper. [OASiS §5]
const paperWorkers = 30

// DrawWorkers returns a fixed number of workers for each job, uniform from 1 to 30.
func DrawWorkers(rng *rand.Rand, jobs int) []int64 {
	workers := make([]int64, jobs)
	for i := range workers {
		workers[i] = 1 + rng.Int64N(paperWorkers)
	}
	return workers
}

// Validate returns what is wrong with the scenario as [apportion.Faults], or nil.
// O(jobs + servers x kinds).
func (s *Scenario) Validate() error {
	if s.Cluster == nil {
		return apportion.Faults{{Field: "Cluster", Err: apportion.ErrEmpty}}
	}
	if err := s.Cluster.Validate(); err != nil {
		return err
	}
	var faults apportion.Faults
	if len(s.Workers) != len(s.Jobs) {
		faults.Add(apportion.Item{}, "Workers", apportion.ErrLength, fmt.Sprintf("%d for %d jobs", len(s.Workers), len(s.Jobs)))
		return faults.Err()
	}
	seen, before := make(map[string]bool, len(s.Jobs)), 1
	for i := range s.Jobs {
		job := &s.Jobs[i]
		item := check.Item("job", job.ID, i)
		if err := job.Validate(s.Cluster.Kinds); err != nil {
			faults = append(faults, err.(apportion.Faults)...)
		}
		check.ID(&faults, seen, job.ID, item)
		if job.Arrival < before || job.Arrival > s.Cluster.Slots {
			faults.Add(item, "Arrival", apportion.ErrRange, fmt.Sprintf("%d is not in [%d, %d]", job.Arrival, before, s.Cluster.Slots))
		}
		before = max(before, job.Arrival)
		if s.Workers[i] < 1 {
			faults.Add(item, "Workers", apportion.ErrRange, fmt.Sprint(s.Workers[i]))
		}
	}
	return faults.Err()
}
