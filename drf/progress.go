// This file holds progress, the state of a filling with whole containers, and its steps.

package drf

import (
	"github.com/apportion/apportion"
)

// progress is the state of a whole filling. Its sorter holds the claims that may get more.
type progress struct {
	// claims are those of the input; clients has one for each, in the same order, of which the sorter knows those
	// in the order.
	claims  []Claim
	clients []Client // one for each claim
	sorter  Sorter
	// room is what is left of each kind, never negative.
	room    apportion.Resources
	unit    []unit              // one container of each claim
	scratch apportion.Resources // of leap
	single  int                 // containers handed out since the last leap
	out     *Filling[int64]
}

// newProgress returns the state in which every claim that can be served has its Min, or none where all Min
// together do not fit, and those that may get more are in the order. All clients and what they hold live in two
// allocations, as a filling may have a hundred thousand claims. O(K n).
func newProgress(capacity apportion.Resources, claims []Claim) *progress {
	p := &progress{
		claims:  claims,
		clients: make([]Client, len(claims)),
		unit:    make([]unit, len(claims)),
		sorter:  Sorter{roster: roster{total: capacity}, queue: make(queue, 0, len(claims))},
		out:     &Filling[int64]{Claims: make([]Filled[int64], len(claims)), HaltedBy: -1},
	}
	// Every Min is taken at once, before anybody has more: no claim's Min depends on another's share.
	p.room, p.out.ShortOf = afterFloors(capacity, claims)
	p.scratch = make(apportion.Resources, len(capacity))
	held := make(apportion.Resources, len(claims)*len(capacity))
	for i := range claims {
		claim, client := &claims[i], &p.clients[i]
		*client = newClient(claim.ID, claim.Weight, held[i*len(capacity):(i+1)*len(capacity)])
		client.claim = i
		p.out.Claims[i].ID = claim.ID
		// It has no share at all, since one of its kinds has no capacity to be a part of.
		if k := unservable(capacity, claim.Demand); k >= 0 {
			p.stop(client, Stop{Cause: Unservable, Kind: k})
			continue
		}
		// The dominant kind of a claim never changes while all its containers are alike.
		_, k := claim.Demand.DominantShare(capacity)
		p.unit[i] = newUnit(claim.Demand[k], capacity[k], claim.Weight)
		if p.out.ShortOf < 0 {
			p.grant(client, claim.Min)
		}
		if p.out.Claims[i].Containers < claim.Max {
			p.sorter.queue.push(client)
		} else {
			p.stop(client, Stop{Cause: AtMax, Kind: -1})
		}
	}
	return p
}

// give gives a client its next container and returns -1, or returns the first kind that lacks for
// it.
func (p *progress) give(client *Client) int {
	claim := &p.claims[client.claim]
	// All kinds are looked at before any is taken: a container is given whole or not at all.
	for k, q := range claim.Demand {
		if q > p.room[k] {
			return k
		}
	}
	p.withdraw(claim.Demand, 1)
	p.grant(client, 1)
	if p.out.Claims[client.claim].Containers == claim.Max {
		p.stop(client, Stop{Cause: AtMax, Kind: -1})
	} else {
		p.sorter.queue.fix(client)
	}
	return -1
}

// grant books n containers that fit in the capacity, and so cannot overflow.
// The caller has seen that they fit, or that all Min do, and puts the client where it belongs
// afterwards.
func (p *progress) grant(client *Client, n int64) {
	for k, q := range p.claims[client.claim].Demand {
		client.held[k] += n * q
	}
	// The share is found anew from what is held, not added up: nothing is rounded on the way.
	client.rate(p.sorter.total, nil)
	p.out.Claims[client.claim].Containers += n
}

// stop takes a claim out of the order.
// A claim that never was in the order is stopped with the same call: remove leaves it out.
func (p *progress) stop(client *Client, why Stop) {
	p.sorter.queue.remove(client)
	p.out.Claims[client.claim].StoppedBy = why
}

// halt stops all claims that are left.
func (p *progress) halt(lacking int) {
	// All that are left are told the kind that has ended the filling, though it is not theirs.
	for client := p.sorter.Next(); client != nil; client = p.sorter.Next() {
		p.stop(client, Stop{Cause: Halted, Kind: lacking})
	}
}

// finish returns the filling once no claim is left in the order.
func (p *progress) finish() *Filling[int64] {
	for i := range p.clients {
		client, filled := &p.clients[i], &p.out.Claims[i]
		// Shares are rounded here, once, from exact fractions.
		filled.Share, _ = client.Share()
		filled.Level = client.Level()
	}
	p.out.Unused = p.room
	return p.out
}

// withdraw takes n containers, which fit, out of the room.
func (p *progress) withdraw(demand apportion.Resources, n int64) {
	for k, q := range demand {
		p.room[k] -= n * q
	}
}
