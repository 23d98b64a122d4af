// This file implements Optimus: containers go where they shorten the remaining time most, [Peng18] §4.1.

package schedulers

import (
	"context"

	"github.com/apportion/apportion/placement/sim"
)

// Optimus knows what every job has left and how fast it would be with any number of containers. Each job gets one, in the
// order of submission, and then each time the one that gains most time by more, counted by container. On several types it
// uses, for each job, the first one with room on which the job is fastest with one container.
type Optimus struct {
	book book
}

// Name returns "marginal gain".
func (*Optimus) Name() string { return "marginal gain" }

// Decide gives containers away, one step after the other. O(steps x jobs x containers).
func (p *Optimus) Decide(_ context.Context, state *sim.State) (sim.Orders, error) {
	if err := p.book.open(state); err != nil {
		return sim.Orders{}, err
	}
	chosen := newSeats(&p.book, state)
	wants := make([]want, 0, len(state.Jobs))
	for i := range state.Jobs {
		if least := max(1, state.Jobs[i].Min); chosen.seatFastest(i, least) {
			places := chosen.orders.Places
			wants = append(wants, want{i, least, p.book.kindOf[places[len(places)-1].On[0].Server]})
		}
	}
	for {
		best, more, most := -1, int64(0), 0.0
		for i := range wants {
			n, gain := p.gain(chosen, &wants[i])
			if gain > most {
				best, more, most = i, n, gain
			}
		}
		if best < 0 {
			break
		}
		p.grow(chosen, &wants[best], more)
	}
	orders := settle(&p.book, state, wants)
	p.book.close(state, &orders)
	return orders, nil
}

// gain returns with how many more containers a job gains most time by container, of what is free, and how much, in
// seconds; 0 where it gains nothing.
func (p *Optimus) gain(s *seats, w *want) (more int64, gain float64) {
	job := &s.state.Jobs[w.job]
	speeds := p.book.jobs[job.ID].speeds[w.kind]
	left := job.Left.Seconds()
	free := int64(0)
	for _, h := range p.book.kinds[w.kind].servers {
		free += room(s.free[h], job.Demand)
	}
	now := left / speeds[w.n-1]
	// A step onto another server may lose what only several win: the best mean of any number of steps counts.
	for n := w.n + 1; n <= min(w.n+free, int64(len(speeds))); n++ {
		if g := (now - left/speeds[n-1]) / float64(n-w.n); g > gain {
			more, gain = n-w.n, g
		}
	}
	return more, gain
}

// grow takes room for more containers of a job.
// gain has counted the room of single servers, so that so many fit.
func (p *Optimus) grow(s *seats, w *want, more int64) {
	demand := s.state.Jobs[w.job].Demand
	s.take(w.job, pack(s.free, p.book.kinds[w.kind].servers, demand, more))
	w.n += more
}
