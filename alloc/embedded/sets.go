// This file searches the sets of freed applications: an iterated local search whose moves are ranked by
// a priced bound and judged by the residual problem itself.

package embedded

import (
	"cmp"
	"context"
	"math"
	"slices"
)

const (
	// mostIn and mostOut bound the candidates of each kind and price that swaps are made of.
	mostIn, mostOut = 40, 20
	// mostKick bounds the members that one kick exchanges, mostRanked the moves tried from one set.
	mostKick, mostRanked = 3, 40
	// setSlack is how far below the best a set may be and still be searched from, relative.
	setSlack = 0.003
)

// pricedSets values sets of free applications F at prices of one point:
//
//	U(F) = lambda L + sum_kept keep_i + sum_free phi_i + sum_j best pattern of what F leaves on j
//
// bounds every F, and one more or one less member changes it by what its own servers show.
type pricedSets struct {
	best []float64 // by class of patterns
	gain []float64 // phi_i - keep_i by application
}

// price sets the prices: worth of a container by type in patterns, lambda on loss.
func (u *pricedSets) price(s *split, worth []float64, lambda float64) {
	p := s.p
	u.best, u.gain = resize(u.best, len(s.ps.classes)), resize(u.gain, len(p.apps))
	for g := range u.best {
		_, u.best[g] = s.ps.best(int32(g), worth)
	}
	for i := range p.apps {
		if a := &p.apps[i]; a.keepable {
			_, phi := p.wanted(int32(i), p.types[a.typ].value-worth[a.typ], lambda)
			u.gain[i] = phi - p.keepWorth(int32(i), lambda)
		}
	}
}

// setSearch is a set of freed applications with what its moves need.
type setSearch struct {
	*leaves
	rng       rng
	free      []bool
	members   []int32
	mask      []int32 // by cell: its lodgers in the set
	cellAt    []int32 // entry -> cell
	rootWorth []float64
	root      pricedSets // at the prices of the root
	local     pricedSets // at those of the set judged last
	worth     []float64
	moves     []swap
	at        float64 // value of the set
}

// swap frees in and keeps out; either may be -1.
type swap struct {
	in, out int32
	bound   float64 // gain of U
}

func newSetSearch(l *leaves, x []float64, seed uint64) *setSearch {
	s, types := l.s, len(l.s.p.types)
	q := &setSearch{
		leaves: l, rng: rng(seed), free: make([]bool, len(s.p.apps)), mask: make([]int32, len(s.cells)),
		cellAt: make([]int32, len(s.entryApp)), rootWorth: make([]float64, types), worth: make([]float64, types),
	}
	for c := range s.cells {
		for b := range s.cells[c].lodgers {
			q.cellAt[s.cells[c].entry+b] = int32(c)
		}
	}
	for t := range q.rootWorth {
		q.rootWorth[t] = math.Max(0, s.p.types[t].value-x[t])
	}
	q.root.price(s, q.rootWorth, x[types])
	return q
}

func (q *setSearch) load(set []bool) {
	q.members = q.members[:0]
	clear(q.mask)
	clear(q.free)
	for i, in := range set {
		if in && q.s.p.apps[i].keepable {
			q.toggle(int32(i))
		}
	}
}

// toggle adds i to the set or takes it out.
func (q *setSearch) toggle(i int32) {
	s := q.s
	q.free[i] = !q.free[i]
	for _, e := range s.entriesOf[s.firstEntry[i]:s.firstEntry[i+1]] {
		c := q.cellAt[e]
		q.mask[c] ^= 1 << (e - s.cells[c].entry)
	}
	if q.free[i] {
		q.members = append(q.members, i)
		return
	}
	for at, m := range q.members {
		if m == i {
			q.members = append(q.members[:at], q.members[at+1:]...)
		}
	}
}

// change returns what toggling i changes of U, -Inf where a server cannot hold the rest.
func (q *setSearch) change(u *pricedSets, i int32) float64 {
	s := q.s
	gain := u.gain[i]
	if q.free[i] {
		gain = -gain
	}
	for _, e := range s.entriesOf[s.firstEntry[i]:s.firstEntry[i+1]] {
		cell := q.cellAt[e]
		c := &s.cells[cell]
		from, to := q.mask[cell], q.mask[cell]^1<<(e-c.entry)
		before, after := s.classOfMask[c.table+from], s.classOfMask[c.table+to]
		if after == noClass {
			return math.Inf(-1)
		}
		if before != noClass {
			gain += u.best[after] - u.best[before]
		}
	}
	return gain
}

// rank lists the swaps of the best to come in with the best to go out, and additions where there is
// room, by the smaller of both bounds.
func (q *setSearch) rank() {
	q.moves = q.moves[:0]
	ins, outs := q.candidates()
	if int64(len(q.members)) < q.s.p.budget {
		outs = append(outs, -1)
	}
	for _, out := range outs {
		var byRoot, byLocal float64
		if out >= 0 {
			byRoot, byLocal = q.change(&q.root, out), q.change(&q.local, out)
			if math.IsInf(byRoot, -1) {
				byRoot, byLocal = 0, 0 // whoever comes in must make room
			}
			q.toggle(out)
		}
		for _, in := range ins {
			bound := math.Min(byRoot+q.change(&q.root, in), byLocal+q.change(&q.local, in))
			q.moves = append(q.moves, swap{in, out, bound})
		}
		if out >= 0 {
			q.toggle(out)
		}
	}
	sortSwaps(q.moves)
}

// candidates lists those that come in and those that go out at the best change of either bound, each
// by application.
func (q *setSearch) candidates() (ins, outs []int32) {
	for _, u := range [...]*pricedSets{&q.root, &q.local} {
		var in, out []score
		for i := range q.s.p.apps {
			if !q.s.p.apps[i].keepable {
				continue
			}
			sc := score{gain: q.change(u, int32(i)), app: int32(i)}
			if q.free[i] {
				out = append(out, sc)
			} else {
				in = append(in, sc)
			}
		}
		sortScores(in)
		sortScores(out)
		for _, sc := range in[:min(mostIn, len(in))] {
			ins = append(ins, sc.app)
		}
		for _, sc := range out[:min(mostOut, len(out))] {
			outs = append(outs, sc.app)
		}
	}
	slices.Sort(ins)
	slices.Sort(outs)
	return slices.Compact(ins), slices.Compact(outs)
}

// sortSwaps orders by bound, largest first, then by who comes in, then by who goes out.
func sortSwaps(moves []swap) {
	slices.SortFunc(moves, func(a, b swap) int {
		switch {
		case a.bound != b.bound:
			return cmp.Compare(b.bound, a.bound)
		case a.in != b.in:
			return int(a.in) - int(b.in)
		}
		return int(a.out) - int(b.out)
	})
}

func (q *setSearch) apply(m swap) {
	if m.out >= 0 {
		q.toggle(m.out)
	}
	if m.in >= 0 {
		q.toggle(m.in)
	}
}

func (q *setSearch) revert(m swap) {
	if m.in >= 0 {
		q.toggle(m.in)
	}
	if m.out >= 0 {
		q.toggle(m.out)
	}
}

// worthNow judges the set.
func (q *setSearch) worthNow() float64 {
	return q.judge(func(i int32) bool { return q.free[i] }).value
}

// climb goes to better sets until none of the best ranked is; it spends at most tries judgements.
func (q *setSearch) climb(ctx context.Context, tries *int64) {
	q.at = q.worthNow()
	for *tries > 0 && ctx.Err() == nil {
		q.takePrices()
		q.rank()
		improved := false
		for at := 0; at < len(q.moves) && at < mostRanked && *tries > 0; at++ {
			m := q.moves[at]
			if m.bound <= 0 && at > 8 {
				break
			}
			*tries--
			q.apply(m)
			if v := q.worthNow(); v > q.at+leastRise {
				q.at, improved = v, true
				break
			}
			q.revert(m)
		}
		if !improved {
			return
		}
	}
}

// takePrices values moves at the prices of the set; a type without free applications has none and keeps
// the root's.
func (q *setSearch) takePrices() {
	copy(q.worth, q.rootWorth)
	if q.r.fix(func(i int32) bool { return q.free[i] }) {
		q.r.solve(math.Inf(-1))
		for _, t := range q.r.types {
			q.worth[t] = q.r.pi[t]
		}
	}
	q.local.price(q.s, q.worth, q.r.lambda)
}

// kick swaps a few members, or frees lodgers that sit together and keeps the cheapest others.
func (q *setSearch) kick() {
	s := q.s
	if q.rng.below(2) == 0 {
		c := &s.cells[q.rng.below(len(s.cells))]
		if c.lodgers > 0 {
			sub := s.subsets[int(c.first)+q.rng.below(int(c.last-c.first))]
			for b := range c.lodgers {
				if i := s.entryApp[c.entry+b]; sub.mask>>b&1 != 0 && !q.free[i] {
					q.toggle(i)
				}
			}
			q.trim(c, sub.mask)
			return
		}
	}
	for range 1 + q.rng.below(mostKick) {
		if len(q.members) == 0 {
			return
		}
		out := q.members[q.rng.below(len(q.members))]
		q.toggle(out)
		best, most := int32(-1), math.Inf(-1)
		for range 4 {
			i := int32(q.rng.below(len(s.p.apps)))
			if !s.p.apps[i].keepable || q.free[i] {
				continue
			}
			if u := q.change(&q.root, i); u > most {
				best, most = i, u
			}
		}
		if best >= 0 {
			q.toggle(best)
		}
	}
}

// trim keeps the members that U misses least, but not those of mask on c, until the budget holds.
func (q *setSearch) trim(c *cell, mask uint32) {
	for int64(len(q.members)) > q.s.p.budget {
		best, most := int32(-1), math.Inf(-1)
		for _, i := range q.members {
			protected := false
			for b := range c.lodgers {
				protected = protected || mask>>b&1 != 0 && q.s.entryApp[c.entry+b] == i
			}
			if u := q.change(&q.root, i); !protected && u > most {
				best, most = i, u
			}
		}
		if best < 0 {
			best = q.members[0]
		}
		q.toggle(best)
	}
}

// run searches with the given number of judgements.
func (q *setSearch) run(ctx context.Context, tries int64) {
	if len(q.members) == 0 && q.s.p.budget == 0 {
		return
	}
	q.climb(ctx, &tries)
	at, best := append([]bool(nil), q.free...), q.at
	for tries > 0 && ctx.Err() == nil && q.s.p.keepable > 0 {
		tries--
		q.kick()
		q.climb(ctx, &tries)
		if q.at > best-setSlack*math.Abs(best)*q.rng.float() {
			best = q.at
			copy(at, q.free)
		} else {
			q.load(at)
		}
	}
}
