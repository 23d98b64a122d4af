// This file implements DRF: dominant resource fairness on whole workers with their parameter servers,
// [Ghodsi11] §4, Algorithm 1; [OASiS] §5.

package policies

import (
	"container/heap"
	"context"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
	"github.com/apportion/apportion/placement/sim"
)

// DRF lets all jobs in and divides the cluster anew whenever jobs arrive or end. A task is one more
// worker and the parameter server that it needs, if any. A job that gets fewer than Min has none.
type DRF struct {
	desk desk
}

// Name returns "DRF".
func (*DRF) Name() string { return "DRF" }

// Decide gives the next task to the job with the least dominant share, the earlier one on a tie; a job
// whose next task does not fit gets no more. O(tasks x (log jobs + servers)).
func (d *DRF) Decide(_ context.Context, state *sim.State) (sim.Orders, error) {
	orders := sim.Orders{Refused: d.desk.open(state)}
	if !d.desk.changed {
		return orders, nil
	}
	// Everybody hands back everything; who gets the same again is not adjusted.
	jobs := d.desk.taking(state, 0)
	line := newShareLine(state.Scenario)
	for i := range jobs {
		d.desk.release(jobs[i].ID)
		line.jobs = append(line.jobs, shareOf{job: &jobs[i], most: most(state.Scenario, &jobs[i]), place: i, den: 1})
	}
	for len(line.jobs) > 0 {
		first := &line.jobs[0]
		if first.workers == first.most || !d.desk.grow(first.job.Job, first.workers, 1) {
			if first.workers < first.job.Min {
				d.desk.release(first.job.ID)
			}
			heap.Pop(line)
			continue
		}
		first.workers++
		first.measure(line)
		heap.Fix(line, 0)
	}
	for i := range jobs {
		orders.Places = append(orders.Places, d.desk.order(jobs[i].ID))
	}
	return orders, nil
}

// most returns the largest number of workers that are of use to a job: with slots and linear speed,
// those that do what is left in one.
func most(s *sim.Scenario, job *sim.JobState) int64 {
	// In continuous time more containers always end a job sooner.
	if s.Slot == 0 || job.Speedup != nil {
		return job.Max
	}
	return min(job.Max, slotsLeft(s.Slot, job))
}

// slotsLeft returns the worker-slots that a job has still to earn; a job that is there has at least one.
func slotsLeft(slot time.Duration, job *sim.JobState) int64 {
	return int64((job.Left-1)/slot) + 1
}

// shareOf is the dominant share num/den of a job with a number of workers, as a fraction of integers: a
// tie must be one on every machine.
type shareOf struct {
	job *sim.JobState
	// place is that in the order of arrival, which decides ties.
	place int
	// workers is how many it has in this filling, most how many it may have.
	workers, most int64
	num, den      int64
}

// measure sets the dominant share: the largest part of any kind of either side. What is placed is at
// most what there is, so nothing overflows.
func (s *shareOf) measure(line *shareLine) {
	s.num, s.den = 0, 1
	s.raise(s.workers, s.job.Demand, line.totals[0])
	if s.job.Training != nil {
		s.raise(s.job.Training.PSFor(s.workers), s.job.Training.PS, line.totals[1])
	}
}

// raise raises the share to the largest that containers of one side take of any kind.
func (s *shareOf) raise(count int64, demand, total apportion.Resources) {
	for k, q := range demand {
		// num/den < count*q/total as a comparison of products, exact in 128 bits.
		if q > 0 && exact.Less(s.num, total[k], count*q, s.den) {
			s.num, s.den = count*q, total[k]
		}
	}
}

// shareLine is a heap of jobs by dominant share, then by arrival.
type shareLine struct {
	jobs   []shareOf
	totals [2]apportion.Resources
}

// newShareLine returns a line without jobs. The scenario is valid, so its totals do not overflow.
func newShareLine(s *sim.Scenario) *shareLine {
	line := &shareLine{}
	line.totals[0], _ = check.Total(s.Servers, len(s.Kinds))
	line.totals[1], _ = check.Total(s.ParameterServers, len(s.Kinds))
	return line
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (l *shareLine) Len() int { return len(l.jobs) }

// Less compares shares exactly.
func (l *shareLine) Less(i, j int) bool {
	a, b := &l.jobs[i], &l.jobs[j]
	switch {
	case exact.Less(a.num, b.den, b.num, a.den):
		return true
	case exact.Less(b.num, a.den, a.num, b.den):
		return false
	}
	return a.place < b.place
}

func (l *shareLine) Swap(i, j int) { l.jobs[i], l.jobs[j] = l.jobs[j], l.jobs[i] }

// Push is not used: no job joins after the start.
func (l *shareLine) Push(x any) { l.jobs = append(l.jobs, x.(shareOf)) }

// Pop removes the last job.
func (l *shareLine) Pop() any {
	last := l.jobs[len(l.jobs)-1]
	l.jobs = l.jobs[:len(l.jobs)-1]
	return last
}
