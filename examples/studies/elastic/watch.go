// This file weighs what containers are worth to a job by what its readings say of its growth: FlowCon's and SpeCon's
// question, [Zheng] §5.1.2, asked before Dorm's optimizer decides.

package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/apportion/apportion/alloc/worth"
	"github.com/apportion/apportion/examples/studies/elastic/schedulers"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/placement/sim"
)

// leastWeight keeps a job that was called converged by mistake from starving.
const (
	// readEvery is the time between two readings of every job, and checkEvery that between two checks.
	readEvery, checkEvery = 30 * time.Second, 60 * time.Second
	// leastWeight is the weight of a job that has converged.
	leastWeight = 0.25
)

// knowledge is what a weight is made of.
type knowledge int

const (
	// nothing: all jobs weigh alike, but for what the worth itself says.
	nothing knowledge = iota
	// category: a job that is called converged weighs leastWeight.
	category
	// share: a job weighs what it expects of the coming half of its work, worth.Growth, where that is known.
	share
	// truth: a job weighs leastWeight once it has 95 % of its improvement; nobody can know that.
	truth
)

var knowledges = []string{"worth", "by category", "by share ahead", "by the truth"}

// watched is what is known of a job.
type watched struct {
	track    growth.Track
	category growth.Category
}

// watcher is the worth with weights by growth. It reads all jobs every 30 s, and asks for a decision only when somebody
// comes or goes, as the worth does.
type watcher struct {
	schedulers.Worth
	knows knowledge
	noise noisy.Noise
	seed  uint64
	// learned is by job the part of its work after which it has 95 % of its improvement.
	learned  map[string]float64
	jobs     map[string]*watched
	read     time.Duration
	checked  time.Duration
	observed int
}

// Decide reads the jobs when that is due, and passes the question on when somebody came or went.
func (p *watcher) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	if p.jobs == nil {
		p.jobs = map[string]*watched{}
		p.Weigh = p.weigh
	}
	asked := len(state.Ended) > 0
	for _, id := range state.Ended {
		delete(p.jobs, id)
	}
	due := state.Now-p.read >= readEvery
	check := state.Now-p.checked >= checkEvery
	for i := range state.Jobs {
		job := &state.Jobs[i]
		w := p.jobs[job.ID]
		if w == nil {
			w = &watched{category: growth.Progressing}
			w.track.Toward(growth.SmallerIsBetter)
			p.jobs[job.ID], asked = w, true
		}
		if due && job.Containers > 0 {
			p.look(w, job, state.Now, check)
		}
	}
	if due {
		p.read = state.Now
		if check {
			p.checked = state.Now
		}
	}
	orders := sim.Orders{}
	var err error
	if asked {
		orders, err = p.Worth.Decide(ctx, state)
	}
	if len(state.Jobs) > 0 {
		orders.Next = p.read + readEvery
	}
	return orders, err
}

// look offers a reading of a job that runs, and moves it between the categories at a check.
// The noise depends on job and time alone, so that two policies see the same readings where a job stands
// alike.
func (p *watcher) look(w *watched, job *sim.JobState, now time.Duration, check bool) {
	p.observed++
	random := rand.New(rand.NewPCG(p.seed+uint64(job.Index), uint64(now)))
	if value, there := p.noise.Of(job.Value, random); there {
		w.track.Offer(now, value, []float64{sim.Fraction(job.Rate)})
	}
	if check {
		_, verdict := w.track.Check(now, &growth.Test{Classifier: growth.Prospect{Alpha: 0.05}})
		w.category = w.category.After(verdict)
	}
}

// weigh returns the weight of a job by what is known of its growth.
func (p *watcher) weigh(job *sim.JobState) float64 {
	w := p.jobs[job.ID]
	switch p.knows {
	case category:
		if w.category == growth.Converged {
			return leastWeight
		}
	case share:
		if e, ok := w.track.Series().Evidence(); ok {
			return worth.Growth(e.Chance(0.05), leastWeight)
		}
	case truth:
		if job.Used().Seconds() >= p.learned[job.ID]*job.Work.Seconds() {
			return leastWeight
		}
	}
	return 1
}
