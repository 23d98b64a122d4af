// This file implements progressive filling with whole containers, [Ghodsi11] Algorithm 1.

package drf

import (
	"github.com/apportion/apportion"
)

// WholeOptions are the choices of [FillWhole]; nil means all zero.
type WholeOptions struct {
	// StopAtFirst ends the whole filling at the first container that does not fit, as printed in
	// [Ghodsi11] Algorithm 1. False: only the claim that it is for stops, and the others go on,
	// which leaves less unused and is what schedulers do.
	StopAtFirst bool
}

// FillWhole hands out containers one by one, each to the claim with the least weighted dominant
// share so far; equal ones by ID, equality decided exactly.
//
// Every claim first gets its Min containers, all of them at once. If all Min together do not fit,
// they are dropped (see [Filling].ShortOf). A claim at Max leaves the order. Kinds of capacity
// zero take no part in shares, and a claim that demands one gets nothing. The order of the claims
// has no influence. The error is [apportion.Faults] with every fault of the input.
//
// The time is O(K n + c (K + log n)) for n claims, K kinds and c containers handed out above Min.
// Where c is many times n, containers are taken in bulk up to just before the next refusal, so that
// c counts only about 10 n containers for each claim that is refused one. The time does not depend
// on how many containers fit, nor on how much larger one is than another.
//
// Source: [Ghodsi11] Algorithm 1; weights §4.3.
func FillWhole(capacity apportion.Resources, claims []Claim, options *WholeOptions) (*Filling[int64], error) {
	if err := validate(capacity, claims); err != nil {
		return nil, err
	}
	if options == nil {
		options = &WholeOptions{}
	}
	p := newProgress(capacity, claims)
	for client := p.next(); client != nil; client = p.next() {
		lacking := p.give(client)
		if lacking < 0 {
			continue
		}
		p.stop(client, Stop{Exhausted, lacking})
		if options.StopAtFirst {
			p.out.HaltedBy = client.claim
			p.halt(lacking)
		}
	}
	return p.finish(), nil
}

// progress is the state of a whole filling. Its sorter holds the claims that may get more.
type progress struct {
	claims  []Claim
	clients []Client // one for each claim
	sorter  Sorter
	room    apportion.Resources
	unit    []level             // the weighted share of one container of each claim
	scratch apportion.Resources // of leap
	single  int                 // containers handed out since the last leap
	out     *Filling[int64]
}

func newProgress(capacity apportion.Resources, claims []Claim) *progress {
	p := &progress{
		claims:  claims,
		clients: make([]Client, len(claims)),
		unit:    make([]level, len(claims)),
		sorter:  Sorter{total: capacity, queue: make(queue, 0, len(claims))},
		out:     &Filling[int64]{Claims: make([]Filled[int64], len(claims)), HaltedBy: -1},
	}
	p.room, p.out.ShortOf = afterFloors(capacity, claims)
	p.scratch = make(apportion.Resources, len(capacity))
	held := make(apportion.Resources, len(claims)*len(capacity))
	for i := range claims {
		claim, client := &claims[i], &p.clients[i]
		*client = newClient(&p.sorter, claim.ID, claim.Weight, held[i*len(capacity):(i+1)*len(capacity)])
		client.claim = i
		p.out.Claims[i].ID = claim.ID
		if k := unservable(capacity, claim.Demand); k >= 0 {
			p.stop(client, Stop{Unservable, k})
			continue
		}
		_, k := claim.Demand.DominantShare(capacity)
		p.unit[i] = level{claim.Demand[k], capacity[k], client.exact.weight}
		if p.out.ShortOf < 0 {
			p.grant(client, claim.Min)
		}
		if p.out.Claims[i].Containers < claim.Max {
			p.sorter.queue.push(client)
		} else {
			p.stop(client, Stop{AtMax, -1})
		}
	}
	return p
}

// next returns the client that is due, nil at the end, after a leap if many containers were handed
// out one by one.
func (p *progress) next() *Client {
	p.single++
	if n := len(p.sorter.queue); n > 0 && p.single > leapEvery*(n+1) {
		p.single = 0
		p.leap()
	}
	return p.sorter.Next()
}

// give gives a client its next container and returns -1, or returns the first kind that lacks for
// it.
func (p *progress) give(client *Client) int {
	claim := &p.claims[client.claim]
	for k, q := range claim.Demand {
		if q > p.room[k] {
			return k
		}
	}
	p.withdraw(claim.Demand, 1)
	p.grant(client, 1)
	if p.out.Claims[client.claim].Containers == claim.Max {
		p.stop(client, Stop{AtMax, -1})
	} else {
		p.sorter.queue.fix(client)
	}
	return -1
}

// grant books n containers that fit in the capacity, and so cannot overflow.
func (p *progress) grant(client *Client, n int64) {
	for k, q := range p.claims[client.claim].Demand {
		client.held[k] += n * q
	}
	client.rate()
	p.out.Claims[client.claim].Containers += n
}

// stop takes a claim out of the order.
func (p *progress) stop(client *Client, why Stop) {
	p.sorter.queue.remove(client)
	p.out.Claims[client.claim].StoppedBy = why
}

// halt stops all claims that are left.
func (p *progress) halt(lacking int) {
	for client := p.sorter.Next(); client != nil; client = p.sorter.Next() {
		p.stop(client, Stop{Halted, lacking})
	}
}

// finish returns the filling once no claim is left in the order.
func (p *progress) finish() *Filling[int64] {
	for i := range p.clients {
		client, filled := &p.clients[i], &p.out.Claims[i]
		filled.Share, _ = client.Share()
		filled.Level = client.Level()
	}
	p.out.Unused = p.room
	return p.out
}
