// This file implements DRF slot by slot: dominant resource fairness on whole workers with their
// parameter servers, [Ghodsi11] §4, Algorithm 1; [OASiS] §5.

package slotsim

import (
	"container/heap"
	"context"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
	"github.com/apportion/apportion/primaldual"
)

// DRF lets all jobs in and divides the cluster anew whenever jobs arrive or end.
type DRF struct{}

// Name returns the name of the policy.
func (DRF) Name() string { return "DRF" }

func (d DRF) schedules(ctx context.Context, s *Scenario, _ *primaldual.Bounds) ([]primaldual.Schedule, error) {
	return play(ctx, s, d)
}

func (DRF) admit(*state, int) bool { return true }

// decide gives the next task, one worker and the parameter server it needs if any, to the job with the
// least dominant share, the earlier one on a tie; a job whose next task does not fit gets no more.
// O(tasks x (log jobs + servers)).
func (DRF) decide(_ context.Context, st *state) error {
	line, err := newShareLine(st)
	if err != nil {
		return err
	}
	for _, i := range st.active {
		st.release(i)
		line.jobs = append(line.jobs, shareOf{job: i, den: 1})
	}
	for len(line.jobs) > 0 {
		first := &line.jobs[0]
		if !first.grow(st) {
			heap.Pop(line)
			continue
		}
		first.measure(st, line)
		heap.Fix(line, 0)
	}
	return nil
}

// shareOf is the dominant share num/den of a job with a number of workers.
type shareOf struct {
	job      int
	workers  int64
	num, den int64
}

// grow places one more task of the job, if there is one and it fits.
func (s *shareOf) grow(st *state) bool {
	job := &st.Jobs[s.job]
	if s.workers == min(job.Chunks, st.left[s.job]) {
		return false
	}
	before := st.pool.next
	worker, ok := st.pool.roundRobin(primaldual.Workers, job.Worker, 1)
	if !ok {
		return false
	}
	servers, ok := st.pool.roundRobin(primaldual.ParameterServers, job.PS, job.PSFor(s.workers+1)-job.PSFor(s.workers))
	if !ok {
		st.pool.next = before
		st.pool.move(primaldual.Workers, job.Worker, worker, 1)
		return false
	}
	plan := &st.plans[s.job]
	plan.Workers, plan.PS = merge(plan.Workers, worker), merge(plan.PS, servers)
	s.workers++
	return true
}

// merge returns placements with those of one more container, if any, in order of servers.
func merge(placements, more []apportion.Placement) []apportion.Placement {
	for _, p := range more {
		at := 0
		for at < len(placements) && placements[at].Server < p.Server {
			at++
		}
		if at < len(placements) && placements[at].Server == p.Server {
			placements[at].Count += p.Count
			continue
		}
		placements = append(placements, apportion.Placement{})
		copy(placements[at+1:], placements[at:])
		placements[at] = p
	}
	return placements
}

// measure sets the dominant share: the largest part of any kind of either side. What is placed is at
// most the total, so that no product overflows.
func (s *shareOf) measure(st *state, line *shareLine) {
	job := &st.Jobs[s.job]
	s.num, s.den = 0, 1
	for side, demand := range [2]apportion.Resources{job.Worker, job.PS} {
		count := s.workers
		if sides[side] == primaldual.ParameterServers {
			count = job.PSFor(s.workers)
		}
		for r, q := range demand {
			total := line.totals[side][r]
			if q > 0 && exact.Less(s.num, total, count*q, s.den) {
				s.num, s.den = count*q, total
			}
		}
	}
}

// shareLine is a heap of jobs by dominant share, then by arrival.
type shareLine struct {
	jobs   []shareOf
	totals [2]apportion.Resources
}

func newShareLine(st *state) (*shareLine, error) {
	line := &shareLine{}
	for side, servers := range [2][]apportion.Server{st.Cluster.WorkerServers, st.Cluster.PSServers} {
		total, err := check.Total(servers, len(st.Cluster.Kinds))
		if err != nil {
			return nil, err
		}
		line.totals[side] = total
	}
	return line, nil
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
	return a.job < b.job
}

// Swap swaps two jobs.
func (l *shareLine) Swap(i, j int) { l.jobs[i], l.jobs[j] = l.jobs[j], l.jobs[i] }

// Push is not used: no job joins after the start.
func (l *shareLine) Push(x any) { l.jobs = append(l.jobs, x.(shareOf)) }

// Pop removes the last job.
func (l *shareLine) Pop() any {
	last := l.jobs[len(l.jobs)-1]
	l.jobs = l.jobs[:len(l.jobs)-1]
	return last
}
