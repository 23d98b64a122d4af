// This file lets FillWhole take many containers at once where their order cannot matter.

package drf

import (
	"math"
	"math/bits"

	"github.com/apportion/apportion"
)

const (
	// leapMargin is the relative slack on a number of containers computed in floats: the rounding
	// of a handful of operations, with a wide margin.
	leapMargin = 0x1p-48
	// leapEvery is how many containers for each claim are handed out one by one before the next
	// leap is tried: a leap costs about as much.
	leapEvery = 4
)

// A leap to level l hands out containers whose claim has a weighted share below l before it gets
// them. Progressive filling takes all of these before any other one, so if all of them fit, none is
// refused; the outcome is the same in whatever order they are taken. The leap goes to the highest
// such level, and stops a few containers short of it, so that the rounding of l does not matter:
//
//	at least  floor(l Weight/delta (1 - margin)) - 1  containers are taken,
//	at most   floor(l Weight/delta (1 + margin)) + 2  must fit.
//
// It makes the time of FillWhole independent of how many containers fit.
func (p *progress) leap() {
	low := math.Float64bits(p.sorter.queue[0].level)
	high := low
	for _, e := range p.sorter.queue {
		// Two containers' worth above a share of 1: no claim gets there but by its Max.
		high = max(high, math.Float64bits(2*max(e.level, 1/e.client.weight)))
	}
	if p.fits(math.Float64frombits(high)) {
		low = high
	}
	for high-low > 1 { // floats that are not negative are in the order of their bits
		if middle := low + (high-low)/2; p.fits(math.Float64frombits(middle)) {
			low = middle
		} else {
			high = middle
		}
	}
	p.take(math.Float64frombits(low))
}

// fits reports whether every container below level fits in what is left, and some more.
func (p *progress) fits(level float64) bool {
	room := p.scratch
	copy(room, p.room)
	for _, e := range p.sorter.queue {
		more := p.below(e.client, level*(1+leapMargin), 2)
		for k, q := range p.claims[e.client.claim].Demand {
			over, amount := bits.Mul64(uint64(more), uint64(q))
			if over > 0 || amount > uint64(room[k]) {
				return false
			}
			room[k] -= int64(amount)
		}
	}
	return true
}

// below returns how many more containers bring a claim to floor(level Weight/delta) + slack, within
// what it has and its Max.
func (p *progress) below(client *Client, level, slack float64) int64 {
	claim, has := &p.claims[client.claim], p.out.Claims[client.claim].Containers
	delta, _ := claim.Demand.DominantShare(p.sorter.total)
	count := math.Floor(level*claim.Weight/delta) + slack
	if count >= float64(claim.Max) {
		return claim.Max - has
	}
	return max(0, int64(count)-has)
}

// take hands out the containers of a leap and orders the claims anew.
func (p *progress) take(level float64) {
	active := p.sorter.queue
	p.sorter.queue = active[:0]
	for _, e := range active {
		client := e.client
		n := p.below(client, level*(1-leapMargin), -1)
		if n > 0 {
			p.withdraw(p.claims[client.claim].Demand, n)
			p.grant(client, n)
		}
		if p.out.Claims[client.claim].Containers == p.claims[client.claim].Max {
			client.place = -1
			p.out.Claims[client.claim].StoppedBy = Stop{AtMax, -1}
			continue
		}
		client.place = len(p.sorter.queue)
		p.sorter.queue = append(p.sorter.queue, e)
	}
	p.sorter.queue.heapify()
}

// withdraw takes n containers, which fit, out of the room.
func (p *progress) withdraw(demand apportion.Resources, n int64) {
	for k, q := range demand {
		p.room[k] -= n * q
	}
}
