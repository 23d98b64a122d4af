// This file plays a window slot by slot under one policy: what is given, what is lost, what is earned.

package main

import (
	"math"
	"math/rand/v2"

	"github.com/apportion/apportion/primaldual/deadline"
)

// job is a job of a window. Slots count from 1.
type job struct {
	deadline.Job
	arrival int
}

// live is a job that has arrived and not ended.
type live struct {
	*job
	left          float64 // worker-slots
	given, before int64   // workers in this slot and in the one before
}

// whole returns the worker-slots left, rounded up.
func (l *live) whole() int64 { return int64(math.Ceil(l.left - 1e-9)) }

// slots returns how many slots the job takes alone.
func (l *live) slots() int { return int((l.whole() + l.Width - 1) / l.Width) }

// end returns the last slot of a job that runs alone from now on.
func (l *live) end(now int) int { return now + l.slots() - 1 }

// level returns the best deadline that the job can still meet, and whether there is one.
func (l *live) level(now int) (deadline.Deadline, bool) {
	for _, d := range l.Deadlines {
		if l.end(now) <= d.By {
			return d, true
		}
	}
	return deadline.Deadline{}, false
}

// decider decides slots. New jobs are those that arrive in now; what a job is not given it does not have.
type decider interface {
	decide(now int, jobs []*live, capacity int64) error
}

// hardship is what a window adds to the trace.
type hardship struct {
	// loss is the part of a slot that a job loses whose width is not that of the slot before.
	loss float64
	// failures is the chance that a server fails in a slot, for repair slots.
	failures float64
	repair   int
}

// play returns what the policy earns in a window.
func (w *window) play(p decider, h hardship) (earned float64, err error) {
	var jobs []*live
	next := 0
	capacity := w.capacities(h)
	for now := 1; next < len(w.jobs) || len(jobs) > 0; now++ {
		for ; next < len(w.jobs) && w.jobs[next].arrival <= now; next++ {
			j := &live{job: &w.jobs[next], left: float64(w.jobs[next].Work)}
			if _, ok := j.level(now); ok {
				jobs = append(jobs, j)
			}
		}
		for _, j := range jobs {
			j.before, j.given = j.given, 0
		}
		if err := p.decide(now, jobs, capacity(now)); err != nil {
			return 0, err
		}
		kept := jobs[:0]
		for _, j := range jobs {
			j.work(h.loss)
			if j.left <= 1e-9 {
				earned += j.value(now)
			} else if _, ok := j.level(now + 1); ok {
				kept = append(kept, j)
			}
		}
		jobs = kept
	}
	return earned, nil
}

// work does a slot's work.
func (l *live) work(loss float64) {
	part := 1.0
	if l.given != l.before {
		part -= loss
	}
	l.left -= float64(part * float64(l.given))
}

// value returns what the job earns that ends in a slot.
func (j *job) value(slot int) float64 {
	for _, d := range j.Deadlines {
		if slot <= d.By {
			return d.Value
		}
	}
	return 0
}

// capacities returns the capacity of each slot, to be asked for in order.
func (w *window) capacities(h hardship) func(int) int64 {
	random := rand.New(rand.NewPCG(w.seed, 1))
	down := make([]int, w.gpus/perServer) // the slot in which a server is back
	return func(now int) int64 {
		up := int64(0)
		for i := range down {
			if h.failures > 0 && down[i] <= now && random.Float64() < h.failures {
				down[i] = now + h.repair
			}
			if down[i] <= now {
				up += perServer
			}
		}
		return up
	}
}
