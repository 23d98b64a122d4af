// This file implements static allocation: a job gets what its user asked for, in the order of submission, and keeps it,
// [Dorm] §V-A4.

package schedulers

import (
	"context"

	"github.com/apportion/apportion/placement/sim"
)

// Static starts jobs in the order of submission, each with its fixed number of containers on the type on which it is
// fastest and finds room; whoever does not fit waits, and those behind it may pass. Nobody is moved.
type Static struct {
	book book
}

// Name returns "static".
func (*Static) Name() string { return "static" }

// Decide starts whoever fits.
func (p *Static) Decide(_ context.Context, state *sim.State) (sim.Orders, error) {
	if err := p.book.open(state); err != nil {
		return sim.Orders{}, err
	}
	s := newSeats(&p.book, state)
	for i := range state.Jobs {
		if state.Jobs[i].Containers > 0 {
			s.keep(i)
		}
	}
	for i := range state.Jobs {
		if !s.decided[i] {
			s.seatFastest(i, state.Jobs[i].Fixed)
		}
	}
	return s.finish(), nil
}

// seatFastest seats a job on the type on which it is fastest with n containers, of those that have room for them.
func (s *seats) seatFastest(job int, n int64) bool {
	r := s.book.jobs[s.state.Jobs[job].ID]
	best := -1
	for k := range r.speeds {
		if n <= int64(len(r.speeds[k])) && (best < 0 || r.speeds[k][n-1] > r.speeds[best][n-1]) && s.fits(want{job, n, k}) {
			best = k
		}
	}
	return best >= 0 && s.seat(want{job, n, best})
}
