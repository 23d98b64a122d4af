// This file implements the law of workers whose CPU is shared: max-min fair with soft limits, after
// the usages reported in [Zheng] §6.1.3 and §6.1.4.

package sim

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// maxJobs bounds the jobs of a shared scenario, so that each of them gets at least a millionth of a
// worker whatever the interference.
const maxJobs = 1000

// Shared is the law of workers whose jobs share one kind of resource, CPU. Every job is one container
// on one worker, whatever the room; its Demand is the most it can use. Capacities, demands, limits and
// rates are in millionths of a worker of speed 1, so a worker of capacity Whole runs one job alone
// at speed 1.
type Shared struct {
	// Interference is the loss of capacity for each job beside the first: k jobs share
	// 1/(1 + Interference (k-1)) of a worker. In [0, 1].
	Interference float64
}

// SharedJob returns the job of a Shared scenario that takes work on a worker of its own and can use
// demand of it. It has no curve and requests nothing.
func SharedJob(id string, arrival, work time.Duration, demand int64) Job {
	j := Job{Arrival: arrival, Work: work, Fixed: 1}
	j.ID, j.Demand, j.Weight, j.Max, j.Min = id, apportion.Resources{demand}, 1, 1, 1
	return j
}

// ShareOf returns the share that is nearest to a fraction of a worker; at least one millionth, so
// that a job with the least limit is not stopped for ever.
func ShareOf(fraction float64) int64 { return max(1, int64(math.Round(fraction*float64(Whole)))) }

// Fraction returns a share as a fraction of a worker.
func Fraction(share int64) float64 { return float64(share) / float64(Whole) }

// faults refuses whatever would need more than one shared kind or more than one container, and workers so
// small that a job could be left without any share.
func (l Shared) faults(s *Scenario, faults *apportion.Faults) {
	if !(l.Interference >= 0 && l.Interference <= 1) {
		faults.Add(apportion.Item{}, "Interference", apportion.ErrRange, strconv.FormatFloat(l.Interference, 'g', -1, 64))
	}
	if len(s.Kinds) != 1 {
		faults.Add(apportion.Item{}, "Kinds", apportion.ErrLength, strconv.Itoa(len(s.Kinds))+" kinds are shared, want 1")
		return
	}
	if len(s.Jobs) > maxJobs {
		faults.Add(apportion.Item{}, "Jobs", apportion.ErrRange, strconv.Itoa(len(s.Jobs)))
	}
	// A job may be placed on any worker, so it must be able to use its demand on the smallest.
	least := int64(math.MaxInt64)
	for i := range s.Servers {
		capacity := s.Servers[i].Capacity[0]
		least = min(least, capacity)
		if capacity < Whole {
			faults.Add(check.Item("server", s.Servers[i].ID, i), "Capacity", apportion.ErrRange, strconv.FormatInt(capacity, 10))
		}
	}
	for i := range s.Jobs {
		job := &s.Jobs[i]
		if demand := job.Demand[0]; demand > least {
			faults.Add(check.Item("job", job.ID, i), "Demand", apportion.ErrRange, strconv.FormatInt(demand, 10))
		}
		if job.Max != 1 || job.Min != 1 {
			faults.Add(check.Item("job", job.ID, i), "Max", apportion.ErrRange, "a job on a shared worker is one container")
		}
	}
}

// room looks at nothing but that every job has a worker: what a job can use is no reservation.
func (Shared) room(_ *Scenario, jobs []*job) (*job, string) {
	for _, j := range jobs {
		if len(j.places) == 0 {
			return j, "no worker"
		}
	}
	return nil, ""
}

// limit is the largest worker: no limit at all.
func (Shared) limit(s *Scenario) int64 {
	var most int64
	for i := range s.Servers {
		most = max(most, s.Servers[i].Capacity[0])
	}
	return most
}

// setRates shares every worker's CPU among its jobs that are not paused.
func (l Shared) setRates(s *Scenario, jobs []*job, now time.Duration) {
	here := make([][]*job, len(s.Servers))
	for _, j := range jobs {
		j.rate = 0
		if j.holds() && !j.paused(now) {
			here[j.places[0].Server] = append(here[j.places[0].Server], j)
		}
	}
	for w, together := range here {
		limits, demands := make([]int64, len(together)), make([]int64, len(together))
		for i, j := range together {
			limits[i], demands[i] = j.limit, j.Demand[0]
		}
		for i, share := range Divide(l.capacity(s.Servers[w].Capacity[0], len(together)), limits, demands) {
			together[i].rate = share
		}
	}
}

// capacity returns what n jobs can share on a worker: one alone all of it.
func (l Shared) capacity(whole int64, n int) int64 {
	if n < 2 {
		return whole
	}
	return int64(float64(whole) / (1 + float64(l.Interference*float64(n-1))))
}

// used is what the job gets of the CPU now; nothing while it pauses.
func (Shared) used(j *job) apportion.Resources { return apportion.Resources{j.rate} }

// loss is how far the jobs are off an even division of all workers, as [Dorm eq. (2)] counts it.
func (Shared) loss(s *Scenario, jobs []*job, _ *[2]fairness) (all, running float64, err error) {
	var capacity int64
	for i := range s.Servers {
		capacity += s.Servers[i].Capacity[0] // checked: the sum is a share of all, see Validate
	}
	demands := make([]int64, len(jobs))
	for i, j := range jobs {
		demands[i] = j.Demand[0]
	}
	// What everybody is due takes no account of workers: as if all of them were one.
	for i, due := range Divide(capacity, demands, demands) {
		all += math.Abs(float64(jobs[i].rate-due)) / float64(capacity)
	}
	return all, all, nil
}

// Divide shares a capacity among jobs with limits and demands, which are not negative. First each
// gets up to the smaller of its limit and its demand, max-min fair; then what is left is shared in
// the same way up to the demands, as if there were no limits. The result adds up to the smaller of
// the capacity and the sum of the demands exactly; jobs with equal claims differ by one unit at
// most, in favour of the later. O(n log n).
func Divide(capacity int64, limits, demands []int64) []int64 {
	got := make([]int64, len(demands))
	claims := make([]int64, len(demands))
	for i, demand := range demands {
		claims[i] = min(limits[i], demand)
	}
	// The first round honours limits, the second does not: limits are soft, [Zheng] §6.1.3, and idle CPU helps nobody.
	capacity -= pour(got, claims, capacity)
	for i, demand := range demands {
		claims[i] = demand - got[i]
	}
	pour(got, claims, capacity)
	return got
}

// pour adds to got up to the claims, max-min fair, and returns how much it added: the smallest
// claim takes at most an even part of the capacity, the next an even part of the rest, and so on.
func pour(got, claims []int64, capacity int64) int64 {
	order := make([]int, len(claims))
	for i := range order {
		order[i] = i
	}
	// Who claims less than an even part leaves the rest to those behind, so the smallest claims come first.
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(claims[a], claims[b]) })
	left := capacity
	for place, i := range order {
		part := min(claims[i], left/int64(len(order)-place))
		got[i] += part
		left -= part
	}
	return capacity - left
}
