// This file holds the policies that the method is compared with.

package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/apportion/apportion/primaldual"
)

// order gives jobs that can still earn something, in an order, all that they can take.
type order func(now int, capacity int64, jobs []*live) func(*live) float64

// decide runs the jobs with the least rank first.
func (o order) decide(now int, jobs []*live, capacity int64) error {
	rank := o(now, capacity, jobs)
	ranked := slices.Clone(jobs)
	ranks := make(map[*live]float64, len(jobs))
	for _, j := range jobs {
		ranks[j] = rank(j)
	}
	slices.SortStableFunc(ranked, func(a, b *live) int { return cmp.Compare(ranks[a], ranks[b]) })
	for _, j := range ranked {
		j.given = min(j.Width, j.whole(), capacity)
		capacity -= j.given
	}
	return nil
}

// by makes an order of a rank that does not depend on the other jobs.
func by(rank func(now int, j *live) float64) order {
	return func(now int, _ int64, _ []*live) func(*live) float64 {
		return func(j *live) float64 { return rank(now, j) }
	}
}

// The orders.
var (
	earliestDeadline = by(func(now int, j *live) float64 { return float64(j.due(now)) })
	leastLaxity      = by(func(now int, j *live) float64 { return float64(j.due(now) - j.end(now)) })
	shortest         = by(func(_ int, j *live) float64 { return j.left })
	densest          = by(func(now int, j *live) float64 { return -j.density(now) })
)

// due returns the deadline that a job is run for.
func (l *live) due(now int) int {
	d, _ := l.level(now)
	return d.By
}

// density returns the value of the deadline that a job is run for, by work left.
func (l *live) density(now int) float64 {
	d, _ := l.level(now)
	return d.Value / float64(l.whole())
}

// tardiness is the apparent tardiness cost alone, with the same factor as the method, which suits it better than that of the papers.
func tardiness(now int, capacity int64, jobs []*live) func(*live) float64 {
	work := 0.0
	for _, j := range jobs {
		work += j.left
	}
	scale := 12 * work / float64(len(jobs)) / float64(max(1, capacity))
	return func(j *live) float64 {
		sum := 0.0
		for k, d := range j.Deadlines {
			next := 0.0
			if k+1 < len(j.Deadlines) {
				next = j.Deadlines[k+1].Value
			}
			if end := j.end(now); end <= d.By {
				sum += (d.Value - next) * math.Exp(-float64(d.By-end)/scale)
			}
		}
		return -sum / j.left
	}
}

// lucier is the algorithm of [Lucier13] for elastic jobs without commitment, from its description: a job starts only
// while it has mu times its least length left, and takes workers from a running one only if its density is gamma times as high.
type lucier struct{ started map[string]bool }

// The factors of the analysis, set for deadlines of about twice the length.
const (
	lucierMu    = 1.2
	lucierGamma = 1.5
)

func (l *lucier) decide(now int, jobs []*live, capacity int64) error {
	var may []*live
	for _, j := range jobs {
		if l.started[j.ID] || float64(j.due(now)-now+1) >= lucierMu*float64(j.slots()) || j.arrival == now {
			may = append(may, j)
		}
	}
	rank := func(now int, j *live) float64 {
		density := j.density(now)
		if l.started[j.ID] && j.before > 0 {
			density *= lucierGamma
		}
		return -density
	}
	if err := by(rank).decide(now, may, capacity); err != nil {
		return err
	}
	for _, j := range may {
		l.started[j.ID] = l.started[j.ID] || j.given > 0
	}
	return nil
}

// jain is the greedy algorithm of [Jain15] run anew in each slot, from its description: jobs by density, each
// placed from its deadline backwards where there is room; a job that does not fit is left out. What this slot leaves free goes
// to the placed jobs by deadline.
type jain struct{}

func (jain) decide(now int, jobs []*live, capacity int64) error {
	last := now
	for _, j := range jobs {
		last = max(last, j.due(now))
	}
	free := slices.Repeat([]int64{capacity}, last-now+1)
	ranked := slices.Clone(jobs)
	slices.SortStableFunc(ranked, func(a, b *live) int { return cmp.Compare(b.density(now), a.density(now)) })
	var placed []*live
	for _, j := range ranked {
		if j.backwards(free, j.due(now)-now) {
			placed = append(placed, j)
		}
	}
	slices.SortStableFunc(placed, func(a, b *live) int { return cmp.Compare(a.due(now), b.due(now)) })
	room := free[0]
	for _, j := range placed {
		more := min(room, min(j.Width, j.whole())-j.given)
		j.given += more
		room -= more
	}
	return nil
}

// backwards places a job from a slot of free back to the first, and gives it what falls into the first.
func (l *live) backwards(free []int64, last int) bool {
	took := make([]int64, last+1)
	left := l.whole()
	for t := last; t >= 0 && left > 0; t-- {
		took[t] = min(left, l.Width, free[t])
		left -= took[t]
	}
	if left > 0 {
		return false
	}
	for t, n := range took {
		free[t] -= n
	}
	l.given = took[0]
	return true
}

// fair divides the workers evenly: DRF with one kind.
type fair struct{}

func (fair) decide(_ int, jobs []*live, capacity int64) error {
	byNeed := slices.Clone(jobs)
	slices.SortStableFunc(byNeed, func(a, b *live) int { return cmp.Compare(min(a.Width, a.whole()), min(b.Width, b.whole())) })
	for i, j := range byNeed {
		rest := int64(len(byNeed) - i)
		j.given = min(j.Width, j.whole(), (capacity+rest-1)/rest)
		capacity -= j.given
	}
	return nil
}

// oasis is the paper's algorithm, which knows the bounds of all jobs. A job that is behind its schedule, by a
// failure or a change of width, goes on as wide as it can.
type oasis struct {
	window    *window
	schedules map[string]map[int]int64
	ends      map[string]int
	scheduler *primaldual.Scheduler
}

func (o *oasis) decide(now int, jobs []*live, capacity int64) error {
	if o.scheduler == nil {
		if err := o.begin(); err != nil {
			return err
		}
	}
	if _, err := o.scheduler.Advance(now); err != nil {
		return err
	}
	for _, j := range jobs {
		if j.arrival == now {
			decision, err := o.scheduler.Offer(trained(j.job))
			if err != nil {
				return err
			}
			o.schedules[j.ID], o.ends[j.ID] = byTime(decision.Schedule), decision.Completion
		}
		want := o.schedules[j.ID][now]
		if o.ends[j.ID] < now && o.ends[j.ID] > 0 {
			want = j.Width
		}
		j.given = min(want, j.whole(), capacity)
		capacity -= j.given
	}
	return nil
}

func (o *oasis) begin() (err error) {
	o.schedules, o.ends = make(map[string]map[int]int64), make(map[string]int)
	cluster := traceCluster(o.window.gpus)
	cluster.Slots = o.window.longest()
	whole := *cluster
	whole.Slots = o.window.last()
	training := make([]primaldual.Job, len(o.window.jobs))
	for i := range o.window.jobs {
		training[i] = trained(&o.window.jobs[i])
	}
	bounds, err := primaldual.BoundsOf(&whole, training, nil)
	if err == nil {
		o.scheduler, err = primaldual.NewScheduler(cluster, &bounds, nil)
	}
	return err
}

// byTime returns the workers of a schedule by slot.
func byTime(s primaldual.Schedule) map[int]int64 {
	out := make(map[int]int64)
	for _, plan := range s {
		for _, n := range plan.Workers {
			out[plan.Slot] += n.Count
		}
	}
	return out
}
