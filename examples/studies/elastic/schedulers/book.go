// This file holds what a policy remembers of jobs from one decision to the next: attained service, [Gu19] §4.1, restarts
// and speeds.

package schedulers

import (
	"cmp"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement/sim"
)

// record is what is known of one job.
type record struct {
	// service is what it has attained, in container seconds, and on the seconds that it has held containers of each type.
	// Pauses count in both: what is held is kept from others.
	service float64
	on      []float64
	// restarts is how often its containers were changed.
	restarts int
	// first is how many containers it began with, 0 until then; grown, whether it has had more since.
	first int64
	grown bool
	// speeds are by type and number of containers, from 1; see kind.speeds.
	// A type that does not hold a single container has an empty list.
	speeds [][]float64
	// spreads are by type, number and servers; see kind.spreads. nil: nobody has asked yet.
	spreads [][][]float64
}

// book remembers jobs. The zero value is of a run that has not begun.
type book struct {
	kinds []kind
	// kindOf is by server the position of its type.
	kindOf []int
	last   time.Duration
	jobs   map[string]*record
}

// open brings the book up to now, before a decision: it adds what jobs have had since the decision before, takes new
// ones in and forgets those that ended. The error is that of a job's speed.
func (b *book) open(state *sim.State) error {
	if b.jobs == nil {
		b.jobs = map[string]*record{}
		b.kinds = kinds(state.Scenario.Servers)
		b.kindOf = make([]int, len(state.Scenario.Servers))
		for k := range b.kinds {
			for _, h := range b.kinds[k].servers {
				b.kindOf[h] = k
			}
		}
	}
	// Jobs that were suspended stay: only who has completed is forgotten.
	for _, id := range state.Ended {
		delete(b.jobs, id)
	}
	since := (state.Now - b.last).Seconds()
	b.last = state.Now
	for i := range state.Jobs {
		job := &state.Jobs[i]
		r := b.jobs[job.ID]
		if r == nil {
			r = &record{on: make([]float64, len(b.kinds))}
			// Speeds are asked for once in the life of a job: O(containers^2) for one whose speed looks at every
			// place.
			for k := range b.kinds {
				speeds, err := b.kinds[k].speeds(state.Scenario.Servers, job.Job)
				if err != nil {
					return err
				}
				r.speeds = append(r.speeds, speeds)
			}
			b.jobs[job.ID] = r
			continue
		}
		r.first = cmp.Or(r.first, job.Containers)
		r.grown = r.grown || job.Containers > r.first
		r.service += float64(since * float64(job.Containers))
		if k := b.kind(job); k >= 0 {
			r.on[k] += since
		}
	}
	return nil
}

// close notes whom the orders restart.
// A suspension counts as one, and the start that ends it does not. It is called with the state from
// before the orders, which says who held something.
func (b *book) close(state *sim.State, orders *sim.Orders) {
	// A restart is a change of what somebody holds: a first start is none.
	restarted := make(map[string]bool, len(orders.Places))
	for i := range orders.Places {
		restarted[orders.Places[i].Job] = true
	}
	for i := range state.Jobs {
		if job := &state.Jobs[i]; restarted[job.ID] && job.Containers > 0 {
			b.jobs[job.ID].restarts++
		}
	}
}

// kind returns the type of the servers that a job is on, -1 where it waits.
func (b *book) kind(job *sim.JobState) int {
	if h := job.Server(); h >= 0 {
		return b.kindOf[h]
	}
	return -1
}

// requires returns what the servers of a type alone meet; nil where there is one type.
func (b *book) requires(kind int) []apportion.Requirement {
	switch name := b.kinds[kind].name; {
	case len(b.kinds) == 1:
		return nil
	case name == "":
		// Servers without the label can be asked for by its absence only.
		return []apportion.Requirement{{Key: Accelerator, Op: apportion.NotExists}}
	default:
		return []apportion.Requirement{{Key: Accelerator, Op: apportion.In, Values: []string{name}}}
	}
}

// rising returns the best speeds with at most so many containers: a job may leave some of them idle.
func rising(speeds []float64) []float64 {
	up := make([]float64, len(speeds))
	best := 0.0
	for i, s := range speeds {
		best = max(best, s)
		up[i] = best
	}
	return up
}
