// This file implements what happens to readings on their way to a policy: noise, values that are wrong, and
// values that never come.

// Package noisy shows noisy readings to policies and classifiers, and tells when a job had learned.
package noisy

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/apportion/apportion/placement/sim"
)

// Noise is what is done to readings. The zero Noise leaves them as they are.
// Noises multiply, as losses differ by orders of magnitude between jobs.
type Noise struct {
	Name string
	// Share is the standard deviation of a reading, as a share of its size.
	Share float64
	// Tails makes 1 % of the readings a hundred times too large, and 5 % five times.
	Tails bool
	// Missing is the share of readings that never come.
	Missing float64
	// Restart: the job loses half of what it has done, once, at half its run; see [Curve.Position].
	Restart bool
}

// Noises are the rows of the tables.
// The last one is only for replays, where a job's work can be taken away.
func Noises() []Noise {
	return []Noise{
		{Name: "clean"}, {Name: "1 %", Share: 0.01}, {Name: "3 %", Share: 0.03}, {Name: "10 %", Share: 0.1}, {Name: "30 %", Share: 0.3},
		{Name: "heavy tails", Share: 0.03, Tails: true}, {Name: "missing", Share: 0.03, Missing: 0.3}, {Name: "restart", Share: 0.03, Restart: true},
	}
}

// Of returns what is read of a value, and whether anything is. It draws as often whatever the noise, so that
// the rows of a table share their draws.
func (n Noise) Of(value float64, random *rand.Rand) (float64, bool) {
	jitter, tail, missing := random.NormFloat64(), random.Float64(), random.Float64()
	value *= 1 + n.Share*jitter
	switch {
	case n.Tails && tail < 0.01:
		value *= 100
	case n.Tails && tail < 0.06:
		value *= 5
	}
	return value, missing >= n.Missing
}

// Policy is a policy that is shown noisy values, and asked every few seconds, as an agent reads a
// job's log, whether or not it wants to be.
// It wraps one run of one policy.
type Policy struct {
	sim.Policy
	Noise Noise
	Seed  uint64
	Every time.Duration
	last  map[string]float64
	jobs  []sim.JobState
}

// Decide shows the policy the state with other values. A value that is missing is that of the reading before.
func (p *Policy) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	if p.last == nil {
		p.last = map[string]float64{}
	}
	shown := *state
	// The state belongs to the simulator: a copy of the jobs is shown.
	p.jobs = append(p.jobs[:0], state.Jobs...)
	shown.Jobs = p.jobs
	for i := range shown.Jobs {
		job := &shown.Jobs[i]
		// A draw belongs to a job and an instant, so that policies which are asked at other instants are not
		// shown another noise.
		random := rand.New(rand.NewPCG(p.Seed+uint64(job.Index), uint64(state.Now)))
		value, there := p.Noise.Of(job.Value, random)
		if before, known := p.last[job.ID]; !there && known {
			value = before
		}
		p.last[job.ID], job.Value = value, value
	}
	orders, err := p.Policy.Decide(ctx, &shown)
	if len(state.Jobs) > 0 {
		next := state.Now + p.Every
		// The policy may want to be asked sooner.
		if orders.Next == 0 || next < orders.Next {
			orders.Next = next
		}
	}
	return orders, err
}
