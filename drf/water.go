// This file implements progressive filling of the claims of one queue, [Ghodsi11] §4.1 and §4.3 with the rounds of
// [Parkes15] and bounds on the number of containers.

package drf

import (
	"cmp"
	"math"
	"slices"

	"github.com/apportion/apportion"
)

// The states of a claim during a filling.
const (
	stopped = iota // for good
	aside          // until the next pass
	waiting        // for the level at which it begins to grow
	growing
)

// drop is one claim in the water.
type drop struct {
	state int
	n     float64 // containers while it does not grow
	pace  float64 // containers for each unit of level: Weight/delta
	delta float64 // dominant share of one container
}

// water holds the claims of one queue, or those of no queue: all that grow have one weighted dominant share, its level.
type water struct {
	claims []Claim
	drops  []drop
	list   []int // positions in claims, by ID

	level float64
	// join and cap are the levels at which claims begin to grow, and those at which they have Max, ascending.
	join, cap []event
	growing   int
	kinds     []waterKind
}

// waterKind is the use of one kind: what is fixed, and what grows with the level.
type waterKind struct {
	// held is what claims hold that do not grow, by whole or given numbers of containers.
	held exactSum
	// frozen is what claims hold that a limit has stopped while they grew.
	frozen float64
	// rate is the use for each unit of level by the claims that grow.
	rate, freezing exactSum
	// fixed and growth are held and frozen, and rate, as floats.
	fixed, growth float64
}

// event is a level at which a claim begins to grow or reaches Max.
// It takes 16 bytes, as sorting moves all of them about: hence the position in 32 bits.
type event struct {
	level float64
	claim int32
}

// start puts claims into the water at level 0, each with the containers that it has.
func (w *water) start(capacity apportion.Resources) {
	w.level, w.growing = 0, 0
	clear(w.kinds)
	events := make([]event, 0, 2*len(w.list))
	w.join, w.cap = events[:0:len(w.list)], events[len(w.list):len(w.list)]
	for _, i := range w.list {
		claim, d := &w.claims[i], &w.drops[i]
		w.hold(i, d.n, true)
		if d.state != waiting {
			continue
		}
		if d.n == 0 {
			w.grow(i)
		} else {
			w.join = append(w.join, event{d.n / d.pace, int32(i)})
		}
		// A Max that does not fit by itself is never reached: a kind is used up before.
		if claim.Max <= claim.Demand.CountIn(capacity) {
			w.cap = append(w.cap, event{float64(claim.Max) / d.pace, int32(i)})
		}
	}
	// The order within a level does not matter: every sum is exact.
	var scratch []event
	if len(w.list) >= radixLeast {
		scratch = make([]event, len(w.list))
	}
	sortByLevel(w.join, scratch)
	sortByLevel(w.cap, scratch)
	w.skip()
}

// radixLeast is the length from which a list is sorted digit by digit: that of one of the tables.
const radixLeast = 1 << 11

// sortByLevel sorts events in linear time, digit by digit from the lowest: the bits of floats that
// are not negative are in the order of the floats. An even number of passes brings the events back
// from scratch. Short lists are sorted by comparison.
func sortByLevel(events, scratch []event) {
	const digit, passes, base = 11, 6, 1 << 11
	if len(events) < radixLeast { // the tables would cost more than they save
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

// hold books what n containers of claim i use, or takes it off again. Numbers below 2^53 that are whole lose nothing: their
// products are at most the capacity. What is too small for a sum counts as nothing.
func (w *water) hold(i int, n float64, book bool) {
	whole := int64(min(n, 1<<53))
	isWhole := whole < 1<<53 && float64(whole) == n
	for k, q := range w.claims[i].Demand {
		held, used := &w.kinds[k].held, n*float64(q)
		switch {
		case isWhole && book:
			held.addWhole(whole * q)
		case isWhole:
			held.subWhole(whole * q)
		case used < leastTerm:
		case book:
			held.add(used)
		default:
			held.sub(used)
		}
	}
}

// rate returns the use of kind k for each unit of level by claim i while it grows.
func (w *water) rate(i int, k int) float64 {
	return w.drops[i].pace * float64(w.claims[i].Demand[k])
}

// grow lets claim i follow the level from here on.
func (w *water) grow(i int) {
	w.hold(i, w.drops[i].n, false)
	for k := range w.kinds {
		w.kinds[k].rate.add(w.rate(i, k))
	}
	w.drops[i].state = growing
	w.growing++
}

// skip takes events off their lists that concern claims which wait or grow no more, and raises the level to the next
// claim where none grows.
func (w *water) skip() {
	defer w.total()
	for {
		for len(w.join) > 0 && w.drops[w.join[0].claim].state != waiting {
			w.join = w.join[1:]
		}
		for len(w.cap) > 0 && w.drops[w.cap[0].claim].state < waiting {
			w.cap = w.cap[1:]
		}
		if w.growing > 0 || len(w.join) == 0 {
			return
		}
		w.level = max(w.level, w.join[0].level)
		w.admit()
	}
}

// total adds up what claims hold and how it grows.
func (w *water) total() {
	for k := range w.kinds {
		kind := &w.kinds[k]
		kind.fixed, kind.growth = kind.held.value()+kind.frozen, kind.rate.value()
	}
}

// admit lets the claims grow that wait for the present level.
func (w *water) admit() {
	for ; len(w.join) > 0 && w.join[0].level <= w.level; w.join = w.join[1:] {
		if i := int(w.join[0].claim); w.drops[i].state == waiting {
			w.grow(i)
		}
	}
}

// next returns the level of the next event, +Inf where there is none.
func (w *water) next() float64 {
	next := math.Inf(1)
	if len(w.join) > 0 {
		next = w.join[0].level
	}
	if len(w.cap) > 0 {
		next = min(next, w.cap[0].level)
	}
	return max(next, w.level)
}

// pass carries out the events at the present level.
func (w *water) pass(out []Filled[float64]) {
	w.admit()
	for len(w.cap) > 0 && w.cap[0].level <= w.level {
		if i := int(w.cap[0].claim); w.drops[i].state == growing {
			w.reachMax(i, &out[i])
		}
		w.cap = w.cap[1:]
	}
	w.skip()
}

// reachMax stops a claim that grows at Max.
func (w *water) reachMax(i int, out *Filled[float64]) {
	claim, d := &w.claims[i], &w.drops[i]
	n := float64(claim.Max)
	for k := range w.kinds {
		w.kinds[k].rate.sub(w.rate(i, k))
	}
	w.hold(i, n, true)
	w.growing--
	d.state, d.n = stopped, n
	out.Share, out.Level, out.StoppedBy = n*d.delta, w.level, Stop{Cause: AtMax, Kind: -1}
}

// freeze ends the growth of claim i at the present level; settle must follow.
func (w *water) freeze(i int, state int) {
	claim, d := &w.claims[i], &w.drops[i]
	if d.state == growing {
		for k := range w.kinds {
			rate := w.rate(i, k)
			w.kinds[k].rate.sub(rate)
			w.kinds[k].freezing.add(rate)
		}
		w.growing--
		// Rounding may carry the product past either bound by a unit in the last place.
		d.n = min(max(d.pace*w.level, d.n), float64(claim.Max))
	}
	d.state = state
}

// settle books what was frozen at the present level: it is added up exactly first and multiplied once, so that the
// order of the claims leaves no trace in the rounding.
func (w *water) settle() {
	for k := range w.kinds {
		kind := &w.kinds[k]
		kind.frozen += float64(w.level * kind.freezing.value())
		kind.freezing = exactSum{}
	}
	w.skip()
}

// used returns the use of kind k at the present level.
func (w *water) used(k int) float64 {
	kind := &w.kinds[k]
	return kind.fixed + float64(kind.growth*w.level)
}

// left returns what the use of kind k leaves of a limit.
func (w *water) left(k int, limit int64) float64 {
	kind := &w.kinds[k]
	return kind.held.below(limit) - kind.frozen - float64(kind.growth*w.level)
}

// reaches returns the level at which the use of kind k comes to a limit if nothing else happens before.
func (w *water) reaches(k int, limit int64) float64 {
	kind := &w.kinds[k]
	left := max(0, kind.held.below(limit)-kind.frozen)
	return max(w.level, left/kind.growth) // +Inf where nothing grows
}
