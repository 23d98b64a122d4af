// This file implements progressive filling of divisible containers, [Ghodsi11] §4.1 and §4.3 with
// the rounds of [Parkes15] and bounds on the number of containers.

package drf

import (
	"cmp"
	"math"
	"slices"

	"github.com/apportion/apportion"
)

// levelTolerance is the relative distance within which two kinds count as used up at the same
// level: the rounding of a handful of float operations, so that an exact tie stays one.
const levelTolerance = 0x1p-48

// Fill raises the weighted dominant share of all claims together, as water rises in a vessel. A
// claim i with dominant share delta[i] a container has
//
//	n[i] = clamp(level * Weight[i] / delta[i], Min[i], Max[i])
//
// containers, until a kind that it demands is used up; then it keeps what it has, and the others
// go on. Kinds of capacity zero take no part in shares, and a claim that demands one gets nothing.
// If all Min together do not fit, they are dropped (see [Filling].ShortOf).
//
// The result is exact up to the rounding of a handful of float operations: it is an exact filling of
// a cluster whose capacities differ by less than a relative 1e-12 from the given ones, for all
// weights and quantities. Precision is therefore relative to the capacity, not to the claim. Where
// two kinds are used up at nearly the same level, a claim that has less than a millionth of the
// cluster (for instance because of a weight a million times smaller than another) may be farther
// than a relative 1e-9 from what it has in rational numbers; [FillWhole] is exact. The order of the
// claims has no influence, not even on the last bit. The error is [apportion.Faults] with every
// fault of the input.
//
// The time is O(K² n) for n claims and K kinds: each claim meets at most two events, and each of
// the K kinds that may be used up looks at every claim once. The scratch is O(n).
//
// Source: [Ghodsi11] §4.1 (progressive filling), §4.3 (weights); [Parkes15] (zero demands).
func Fill(capacity apportion.Resources, claims []Claim) (*Filling[float64], error) {
	if err := validate(capacity, claims); err != nil {
		return nil, err
	}
	w := newWater(capacity, claims)
	// 1. Every claim is put into the water at level 0. 2. The next thing that happens is looked for, and
	// done. 3. With the last claim the filling ends.
	w.start()
	for w.active > 0 {
		level, kind := w.nextUsedUp()
		switch event := w.nextEvent(); {
		// At one level events come before a kind that is used up: who reaches Max there is stopped by Max.
		case event.level <= level && event.leaves:
			w.leaveFloor(event)
		case event.level <= level && event.claim >= 0:
			w.reachCap(event)
		default:
			w.freeze(level, kind)
		}
	}
	return w.finish(), nil
}

// The states of a claim during the filling.
const (
	stopped = iota
	atFloor
	growing
)

// water is the state of a filling at one level.
type water struct {
	capacity apportion.Resources
	claims   []Claim
	out      *Filling[float64]

	tub    []inTub
	active int // claims that are not stopped
	// floors says that every Min is honoured.
	floors bool

	leave, cap []event // by level, those to come
	// level is the height of the water: it never falls.
	level float64

	kinds []kindLevel
}

// inTub is one claim in the water.
type inTub struct {
	pace  float64 // containers for each unit of level: Weight/delta
	delta float64 // dominant share of one container
	state int
}

// kindLevel is the use of one kind: what is fixed, and what grows with the level.
type kindLevel struct {
	// room is the capacity less what claims at Min or Max hold, which is exact.
	room int64
	// frozen is what claims hold that a used-up kind stopped between two containers.
	frozen float64
	// rate is the use for each unit of level by the claims that grow.
	rate, freezing exactSum
	used           bool // up
}

// event is a level at which a claim leaves its floor or reaches its cap.
// It takes 16 bytes, as sorting moves all of them about: hence the position in 32 bits.
type event struct {
	level  float64
	claim  int32 // -1: no event is left
	leaves bool
}

// newWater returns the state before the first claim is in the water: what is left of each kind once every
// Min is taken, or all of it where these do not fit together. Kinds that the cluster has none of count as
// used up.
// A claim that cannot be served does not count among the minima.
func newWater(capacity apportion.Resources, claims []Claim) *water {
	w := &water{
		capacity: capacity,
		claims:   claims,
		out: &Filling[float64]{
			Claims:   make([]Filled[float64], len(claims)),
			Unused:   make([]float64, len(capacity)),
			HaltedBy: -1,
		},
		tub:   make([]inTub, len(claims)),
		kinds: make([]kindLevel, len(capacity)),
	}
	room, short := afterFloors(capacity, claims)
	w.out.ShortOf, w.floors = short, short < 0
	for k := range w.kinds {
		w.kinds[k].room = room[k]
		w.kinds[k].used = capacity[k] == 0
	}
	return w
}

// floor returns the number of containers that claim i starts with.
func (w *water) floor(i int32) int64 {
	if w.floors {
		return w.claims[i].Min
	}
	return 0
}

// start puts every claim into the water at level 0 and lists the events in order.
func (w *water) start() {
	// Both lists lie in one array: leave in its first half and cap in the second, neither longer than
	// the claims.
	events := make([]event, 0, 2*len(w.claims))
	w.leave, w.cap = events[:0:len(w.claims)], events[len(w.claims):len(w.claims)]
	for i := range int32(len(w.claims)) {
		claim, in := &w.claims[i], &w.tub[i]
		w.out.Claims[i].ID = claim.ID
		if k := unservable(w.capacity, claim.Demand); k >= 0 {
			w.out.Claims[i].StoppedBy = Stop{Cause: Unservable, Kind: k}
			continue
		}
		w.active++
		// delta is positive: the claim demands something, and all that it demands exists.
		in.delta, _ = claim.Demand.DominantShare(w.capacity)
		in.pace = claim.Weight / in.delta
		in.state = atFloor
		// A claim without a floor grows from level 0; one that is at Max already waits for its cap alone.
		switch floor := w.floor(i); {
		case floor == 0 && claim.Max > 0:
			w.grow(i)
		case floor < claim.Max:
			w.leave = append(w.leave, event{float64(floor) / in.pace, i, true})
		}
		// A cap that does not fit by itself is never reached: a kind is used up before.
		if claim.Max <= claim.Demand.CountIn(w.capacity) {
			w.cap = append(w.cap, event{float64(claim.Max) / in.pace, i, false})
		}
	}
	// The order within a level does not matter: every sum is exact.
	scratch := make([]event, len(w.claims))
	sortByLevel(w.leave, scratch)
	sortByLevel(w.cap, scratch)
}

// sortByLevel sorts events in linear time, digit by digit from the lowest: the bits of floats that
// are not negative are in the order of the floats. An even number of passes brings the events back
// from scratch. Short lists are sorted by comparison.
func sortByLevel(events, scratch []event) {
	const digit, passes, base = 11, 6, 1 << 11
	if len(events) < base { // the tables would cost more than they save
		slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.level, b.level) })
		return
	}
	var start [passes][base + 1]int32
	for i := range events {
		key := math.Float64bits(events[i].level)
		for pass := range passes {
			start[pass][key>>(digit*pass)%base+1]++
		}
	}
	from, to := events, scratch[:len(events)]
	for pass := range passes {
		place := &start[pass]
		for d := range base {
			place[d+1] += place[d]
		}
		for i := range from {
			d := math.Float64bits(from[i].level) >> (digit * pass) % base
			to[place[d]] = from[i]
			place[d]++
		}
		from, to = to, from
	}
}

// rate returns the use of kind k for each unit of level by claim i while it grows.
func (w *water) rate(i int32, k int) float64 {
	return w.tub[i].pace * float64(w.claims[i].Demand[k])
}

// grow lets claim i follow the level from here on: it uses each kind at its rate. Rates are summed without
// rounding, so that they can be taken off again in any order.
// O(K).
func (w *water) grow(i int32) {
	w.tub[i].state = growing
	for k := range w.kinds {
		w.kinds[k].rate.add(w.rate(i, k))
	}
}

// nextUsedUp returns the level at which the next kind is used up if nothing else happens before,
// and that kind; +Inf and -1 where none will be.
func (w *water) nextUsedUp() (level float64, kind int) {
	level, kind = math.Inf(1), -1
	for k := range w.kinds {
		if w.kinds[k].used {
			continue
		}
		if at := w.usedUpAt(k); at < level {
			level, kind = at, k
		}
	}
	return level, kind
}

// usedUpAt returns the level at which kind k is used up if nothing else happens before.
// O(1), whatever the number of claims: every event books what it changes.
func (w *water) usedUpAt(k int) float64 {
	kind := &w.kinds[k]
	// room is exact and frozen rounded once for each level at which something froze.
	left := float64(kind.room) - kind.frozen
	if left <= 0 {
		return w.level
	}
	return max(w.level, left/kind.rate.value()) // +Inf where nothing grows
}

// nextEvent returns the first event that concerns a claim still active, without taking it off its
// list. Leaving a floor comes before reaching a cap at the same level.
// Each event is skipped or taken once, O(n) in the whole filling.
func (w *water) nextEvent() event {
	// Events of claims that a kind has stopped are skipped when their turn comes; to search for them would
	// cost more.
	for len(w.leave) > 0 && w.tub[w.leave[0].claim].state == stopped {
		w.leave = w.leave[1:]
	}
	for len(w.cap) > 0 && w.tub[w.cap[0].claim].state == stopped {
		w.cap = w.cap[1:]
	}
	switch {
	case len(w.leave) > 0 && (len(w.cap) == 0 || w.leave[0].level <= w.cap[0].level):
		return w.leave[0]
	case len(w.cap) > 0:
		return w.cap[0]
	default:
		return event{level: math.Inf(1), claim: -1}
	}
}

// leaveFloor lets a claim grow: its use of each kind now follows the level.
func (w *water) leaveFloor(e event) {
	w.leave = w.leave[1:]
	w.level = max(w.level, e.level)
	for k, q := range w.claims[e.claim].Demand {
		// What the floor held goes back, since from here on the rate counts from level 0. No overflow: it
		// was taken from there.
		w.kinds[k].room += w.floor(e.claim) * q
	}
	w.grow(e.claim)
}

// reachCap stops a claim at Max.
// A claim whose Min is its Max comes here from its floor, without ever having grown.
func (w *water) reachCap(e event) {
	w.cap = w.cap[1:]
	w.level = max(w.level, e.level)
	claim := &w.claims[e.claim]
	for k, q := range claim.Demand {
		kind := &w.kinds[k]
		if w.tub[e.claim].state == growing {
			kind.rate.sub(w.rate(e.claim, k))
		} else {
			kind.room += w.floor(e.claim) * q
		}
		// Max containers fit by themselves, or there would be no event, so that the product cannot
		// overflow.
		kind.room -= claim.Max * q
	}
	w.out.Claims[e.claim].Share = float64(claim.Max) * w.tub[e.claim].delta
	// Max containers are a whole number: its use went into room exactly, and no rate of it is left.
	w.stop(e.claim, float64(claim.Max), Stop{Cause: AtMax, Kind: -1})
}

// freeze raises the level to the one where kind is used up and stops every claim that demands it,
// or another kind that is used up at that level too.
// It marks one kind at least, so that it runs at most K times, O(K n) each.
func (w *water) freeze(level float64, kind int) {
	w.kinds[kind].used = true
	for k := range w.kinds {
		// Kinds that are used up together must stop their claims together, although their levels are
		// rounded apart.
		if !w.kinds[k].used && w.usedUpAt(k) <= level*(1+levelTolerance) {
			w.kinds[k].used = true
		}
	}
	w.level = level
	// A claim is stopped by the first kind, in the order of kinds, that it demands and that is used up.
	for i := range int32(len(w.claims)) {
		if w.tub[i].state == stopped {
			continue
		}
		for k, q := range w.claims[i].Demand {
			if q > 0 && w.kinds[k].used {
				w.freezeClaim(i, k)
				break
			}
		}
	}
	for k := range w.kinds {
		kind := &w.kinds[k]
		// All that stops at this level is added up exactly first and multiplied once, so that the order of
		// the claims leaves no trace in the rounding.
		kind.frozen += float64(level * kind.freezing.value())
		kind.freezing = exactSum{}
	}
}

// freezeClaim stops claim i at the present level because kind is used up.
func (w *water) freezeClaim(i int32, kind int) {
	claim, in, floor := &w.claims[i], &w.tub[i], float64(w.floor(i))
	if in.state == atFloor { // its use is in room already
		w.out.Claims[i].Share = floor * in.delta
		w.stop(i, floor, Stop{Cause: Exhausted, Kind: kind})
		return
	}
	for k := range w.kinds {
		rate := w.rate(i, k)
		w.kinds[k].rate.sub(rate)
		w.kinds[k].freezing.add(rate)
	}
	// Rounded once, which containers times delta would not be: claims of one level and weight have one
	// share.
	w.out.Claims[i].Share = w.level * claim.Weight
	// Rounding may carry the product past either bound by a unit in the last place.
	w.stop(i, min(max(in.pace*w.level, floor), float64(claim.Max)), Stop{Cause: Exhausted, Kind: kind})
}

// stop takes claim i out of the filling at the present level.
func (w *water) stop(i int32, containers float64, why Stop) {
	w.tub[i].state = stopped
	w.active--
	filled := &w.out.Claims[i]
	filled.Containers, filled.Level, filled.StoppedBy = containers, w.level, why
}

// finish returns the filling once no claim is active.
// room lacks already what whole containers hold; frozen is what claims hold that stopped between two.
func (w *water) finish() *Filling[float64] {
	for k := range w.kinds {
		// A kind that is used up has exactly 0 left, whatever rounding says.
		if kind := &w.kinds[k]; !kind.used {
			w.out.Unused[k] = max(0, float64(kind.room)-kind.frozen)
		}
	}
	return w.out
}
