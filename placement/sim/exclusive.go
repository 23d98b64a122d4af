// This file implements the law of containers that belong to one job alone, [Dorm §III-B].

package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

// Exclusive is the law of containers that reserve their demand: a job runs at the speed of its number
// of containers, and what all hold on a server must fit.
type Exclusive struct{}

func (s *Scenario) law() Law {
	if s.Law == nil {
		return Exclusive{}
	}
	return s.Law
}

// faults has nothing to add to what package alloc finds wrong.
func (Exclusive) faults(*Scenario, *apportion.Faults) {}

// room adds up what all jobs hold, workers and parameter servers, and blames the job with which a server
// holds more than it has. O(placements x kinds + servers).
func (Exclusive) room(s *Scenario, jobs []*job) (*job, string) {
	if blame, fault := fill(s.Kinds, s.Servers, jobs, func(j *job) ([]apportion.Placement, apportion.Resources) { return j.places, j.Demand }); blame != nil {
		return blame, fault
	}
	return fill(s.Kinds, s.ParameterServers, jobs, func(j *job) ([]apportion.Placement, apportion.Resources) {
		if j.Training == nil {
			return nil, nil
		}
		return j.ps, j.Training.PS
	})
}

// fill puts what jobs hold on servers, in the order of the jobs, and returns the first one that overfills a
// server, with what is wrong.
func fill(kinds apportion.Kinds, servers []apportion.Server, jobs []*job, held func(*job) ([]apportion.Placement, apportion.Resources)) (*job, string) {
	used := make([]apportion.Resources, len(servers))
	for _, j := range jobs {
		places, demand := held(j)
		for _, p := range places {
			if used[p.Server] == nil {
				used[p.Server] = make(apportion.Resources, len(kinds))
			}
			sum, server := used[p.Server], &servers[p.Server]
			// Counts are the policy's: the product may overflow before it could be compared.
			if err := exact.AddTimesTo(sum, sum, p.Count, demand); err != nil {
				return j, fmt.Sprintf("%d containers on server %q: %v", p.Count, server.ID, err)
			}
			if !sum.FitsIn(server.Capacity) {
				return j, fmt.Sprintf("server %q would hold %s of %s", server.ID, kinds.Format(sum), kinds.Format(server.Capacity))
			}
		}
	}
	return nil, ""
}

// limit is 0: reserved containers are not limited.
func (Exclusive) limit(*Scenario) int64 { return 0 }

// setRates gives every job the speed of its containers, and none to those that pause.
func (Exclusive) setRates(_ *Scenario, jobs []*job, now time.Duration) {
	for _, j := range jobs {
		j.rate = 0
		if j.holds() && !j.paused(now) {
			j.rate = j.speed
		}
	}
}

// used is the demand of all containers. It cannot overflow: it fits the servers.
func (Exclusive) used(j *job) apportion.Resources { return times(j.n, j.Demand) }

func times(n int64, demand apportion.Resources) apportion.Resources {
	sum := make(apportion.Resources, len(demand))
	for k, q := range demand {
		sum[k] = n * q
	}
	return sum
}

// loss is [Dorm eq. (2)], once over all jobs that were submitted and have not completed, and once as if
// only those that hold containers had been submitted.
func (Exclusive) loss(_ *Scenario, jobs []*job, due *[2]fairness) (all, running float64, err error) {
	if all, err = due[0].loss(jobs); err != nil {
		return 0, 0, err
	}
	running, err = due[1].loss(slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return !j.holds() }))
	return all, running, err
}
