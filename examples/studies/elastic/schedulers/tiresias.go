// This file implements Tiresias: least attained service in two queues, [Gu19] §4.1.

package schedulers

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/apportion/apportion/placement/sim"
)

// defaultThreshold is the service, in container seconds, beyond which a job belongs to the second queue: 16 hours of one.
const defaultThreshold = 16 * 3600

// Tiresias gives jobs their fixed numbers of containers: first those that have attained less than a threshold, in the
// order of submission, and then the others, in the same order. Whoever finds no room is suspended.
type Tiresias struct {
	// threshold is the service, in container seconds, with which a job falls into the second queue; 0 means
	// 57,600.
	threshold float64
	book      book
}

// Name returns "least attained".
func (*Tiresias) Name() string { return "least attained" }

// Decide serves the queues one after the other, and asks to be asked when the next job changes queues.
func (p *Tiresias) Decide(_ context.Context, state *sim.State) (sim.Orders, error) {
	if err := p.book.open(state); err != nil {
		return sim.Orders{}, err
	}
	threshold := cmp.Or(p.threshold, defaultThreshold)
	order := make([]int, 0, len(state.Jobs))
	for i := range state.Jobs {
		order = append(order, i)
	}
	second := func(i int) int {
		if p.book.jobs[state.Jobs[i].ID].service >= threshold {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int { return second(a) - second(b) })
	orders := p.serve(state, order)
	orders.Next = p.next(state, &orders, threshold)
	p.book.close(state, &orders)
	return orders, nil
}

// serve gives containers in an order. Who runs and is among those that fit stays where it is.
// Two passes, since a job behind in the order may stay only if those before it fit beside it: the first
// decides who runs, the second moves as few of them as it can.
func (p *Tiresias) serve(state *sim.State, order []int) sim.Orders {
	chosen := newSeats(&p.book, state)
	var wants []want
	for _, i := range order {
		job := &state.Jobs[i]
		w := want{i, job.Fixed, p.book.kind(job)}
		switch {
		// Who runs keeps its type where there is room left by those before it: to change it would cost a restart.
		case w.kind >= 0 && chosen.fits(w):
			chosen.seat(w)
		case chosen.seatFastest(i, w.n):
			places := chosen.orders.Places
			w.kind = p.book.kindOf[places[len(places)-1].On[0].Server]
		default:
			continue
		}
		wants = append(wants, w)
	}
	return settle(&p.book, state, wants)
}

// next returns when the first of those that run from now on has attained the threshold; 0: none will.
func (p *Tiresias) next(state *sim.State, orders *sim.Orders, threshold float64) time.Duration {
	containers := make(map[string]int64, len(state.Jobs))
	for i := range state.Jobs {
		containers[state.Jobs[i].ID] = state.Jobs[i].Containers
	}
	for _, place := range orders.Places {
		n := int64(0)
		for _, on := range place.On {
			n += on.Count
		}
		containers[place.Job] = n
	}
	next := time.Duration(0)
	for i := range state.Jobs {
		job := &state.Jobs[i]
		left := threshold - p.book.jobs[job.ID].service
		if n := containers[job.ID]; n > 0 && left > 0 {
			// A microsecond later the sum has reached the threshold, however it was rounded.
			at := state.Now + time.Duration(left/float64(n)*float64(time.Second)) + time.Microsecond
			if next == 0 || at < next {
				next = at
			}
		}
	}
	return next
}
