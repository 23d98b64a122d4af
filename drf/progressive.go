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
// c counts only about leapEvery n containers, and one leap, for each claim that is refused one. The
// time does not depend on how many containers fit, nor on how much larger one is than another.
//
// Source: [Ghodsi11] Algorithm 1; weights §4.3.
func FillWhole(capacity apportion.Resources, claims []Claim, options *WholeOptions) (*Filling[int64], error) {
	if err := validate(capacity, claims); err != nil {
		return nil, err
	}
	if options == nil {
		options = &WholeOptions{}
	}
	// Lines 3 to 8 of Algorithm 1, with a refusal for each claim in place of one for all.
	p := newProgress(capacity, claims)
	for client := p.next(); client != nil; client = p.next() {
		lacking := p.give(client)
		if lacking < 0 {
			continue
		}
		p.stop(client, Stop{Cause: Exhausted, Kind: lacking})
		if options.StopAtFirst {
			p.out.HaltedBy = client.claim
			p.halt(lacking)
		}
	}
	return p.finish(), nil
}

// next returns the client that is due, nil at the end, after a leap if many containers were handed
// out one by one.
// Turns that end in a refusal count as well.
func (p *progress) next() *Client {
	p.single++
	if n := len(p.sorter.queue); n > 0 && p.single > leapEvery*(n+1) {
		p.single = 0
		p.leap()
	}
	return p.sorter.Next()
}
