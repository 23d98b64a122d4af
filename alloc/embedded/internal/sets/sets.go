// This file searches the sets of freed applications: an iterated local search whose moves are ranked by
// a priced bound and judged by the residual problem itself.

package sets

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/rng"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
)

// Search is a set of freed applications with what its moves need.
// Invariants: members lists those i with free[i], in the order in which they came in,
// and mask says the same cell by cell; only pinnable applications are members. at is
// the value of the set after climb.
type Search struct {
	*leaf.Leaves
	tune    *tuning.Numbers
	rng     rng.Source
	free    []bool
	members []int32
	mask    []int32 // by cell: its residents in the set
	cellAt  []int32 // entry -> cell
	// rootWorth is max(0, v_t - p_t) by type, and worth that of the set judged last.
	rootWorth []float64
	// Both bound every set; the smaller of two bounds is a bound as well.
	root  pricedSets // at the prices of the root
	local pricedSets // at those of the set judged last
	worth []float64
	// moves is scratch: the swaps ranked last.
	moves []swap
	at    float64 // value of the set
}

// swap frees in and keeps out; either may be -1.
// The values are applications.
type swap struct {
	in, out int32
	bound   float64 // gain of U
}

// New returns a search without a set yet, which prices moves at the multipliers x of the root.
// The seed alone decides what perturb does: the same seed gives the same search.
func New(l *leaf.Leaves, x []float64, seed uint64, tune *tuning.Numbers) *Search {
	s, types := l.S, len(l.S.Problem.Types)
	q := &Search{
		tune:   tune,
		Leaves: l, rng: rng.Source(seed), free: make([]bool, len(s.Problem.Apps)), mask: make([]int32, len(s.Cells)),
		cellAt: make([]int32, len(s.EntryApp)), rootWorth: make([]float64, types), worth: make([]float64, types),
	}
	for c := range s.Cells {
		for b := range s.Cells[c].Residents {
			q.cellAt[s.Cells[c].Entry+b] = int32(c)
		}
	}
	for t := range q.rootWorth {
		q.rootWorth[t] = math.Max(0, s.Problem.Types[t].Value-x[t])
	}
	q.root.price(s, q.rootWorth, x[types])
	return q
}

// Load makes set the one to start from: those of them that may be pinned.
// More than the budget may be loaded; swaps keep
// their number then, and only trim lowers it.
// O(applications + entries).
func (q *Search) Load(set []bool) {
	q.members = q.members[:0]
	clear(q.mask)
	clear(q.free)
	for i, in := range set {
		if in && q.S.Problem.Apps[i].Pinnable {
			q.toggle(int32(i))
		}
	}
}

// toggle adds i to the set or takes it out.
// O(servers of i + members). Toggling twice restores the set, but i is then the last
// of the members.
func (q *Search) toggle(i int32) {
	s := q.S
	q.free[i] = !q.free[i]
	for _, e := range s.EntriesOf[s.FirstEntry[i]:s.FirstEntry[i+1]] {
		c := q.cellAt[e]
		// The entries of a cell follow its residents, so that the difference is the bit.
		q.mask[c] ^= 1 << (e - s.Cells[c].Entry)
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
//
//	+-(phi_i - keep_i) + sum over the servers of i of best(class after) - best(class before)
//
// in O(servers of i): a set is never evaluated as a whole.
func (q *Search) change(u *pricedSets, i int32) float64 {
	s := q.S
	gain := u.gain[i]
	if q.free[i] {
		gain = -gain
	}
	for _, e := range s.EntriesOf[s.FirstEntry[i]:s.FirstEntry[i+1]] {
		cell := q.cellAt[e]
		c := &s.Cells[cell]
		from, to := q.mask[cell], q.mask[cell]^1<<(e-c.Entry)
		before, after := s.ClassOfMask[c.Table+from], s.ClassOfMask[c.Table+to]
		if after == pattern.NoClass {
			return math.Inf(-1)
		}
		// A server that could not hold its residents before gains all at once; no number
		// stands for that.
		if before != pattern.NoClass {
			gain += u.best[after] - u.best[before]
		}
	}
	return gain
}

// rank lists the swaps of the best to come in with the best to go out, and additions where there is
// room, by the smaller of both bounds.
// O(ins x outs) changes. The change of in is taken with out gone already, since two
// residents of one server make room together.
// The set is as before when it returns: what it takes out it puts back.
func (q *Search) rank() {
	q.moves = q.moves[:0]
	ins, outs := q.candidates()
	// An out of -1 is an addition: the budget has room for one more.
	if int64(len(q.members)) < q.S.Problem.Budget {
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
			// Both are changes of a bound; the smaller promises less, and is nearer to the truth.
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
// Each bound has its own candidates, as the prices of the set and of the root see
// different shortages.
// In all at most 2 MostIn come in and 2 MostOut go out. O(applications log
// applications).
func (q *Search) candidates() (ins, outs []int32) {
	for _, u := range [...]*pricedSets{&q.root, &q.local} {
		var in, out []lagrange.Score
		for i := range q.S.Problem.Apps {
			if !q.S.Problem.Apps[i].Pinnable {
				continue
			}
			sc := lagrange.Score{Gain: q.change(u, int32(i)), App: int32(i)}
			if q.free[i] {
				out = append(out, sc)
			} else {
				in = append(in, sc)
			}
		}
		lagrange.SortScores(in)
		lagrange.SortScores(out)
		for _, sc := range in[:min(q.tune.Sets.MostIn, len(in))] {
			ins = append(ins, sc.App)
		}
		for _, sc := range out[:min(q.tune.Sets.MostOut, len(out))] {
			outs = append(outs, sc.App)
		}
	}
	// Sorting drops duplicates, and makes the order of swaps independent of which bound
	// named them.
	slices.Sort(ins)
	slices.Sort(outs)
	return slices.Compact(ins), slices.Compact(outs)
}

// sortSwaps orders by bound, largest first, then by who comes in, then by who goes out.
// The order is total, so that it does not depend on the sorting algorithm.
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

// apply makes the swap: out leaves first, so that the budget is never exceeded on the
// way.
func (q *Search) apply(m swap) {
	if m.out >= 0 {
		q.toggle(m.out)
	}
	if m.in >= 0 {
		q.toggle(m.in)
	}
}

// revert undoes apply, in the opposite order.
func (q *Search) revert(m swap) {
	if m.in >= 0 {
		q.toggle(m.in)
	}
	if m.out >= 0 {
		q.toggle(m.out)
	}
}

// worthNow judges the set.
// It is the value of the best packing found, far below any where there is none, and
// -Inf where the kept applications do not fit.
func (q *Search) worthNow() float64 {
	return q.Judge(func(i int32) bool { return q.free[i] }).Value
}

// climb goes to better sets until none of the best ranked is; it spends at most tries judgements.
// First improvement: each judgement solves a residual problem, which is dear, so the first better
// set is taken. What is better is decided by judgement alone; a wrong rank costs tries only.
// It ends at a local optimum with respect to the MostRanked best moves, when the tries
// are used up, or with ctx; tries is counted down for the caller.
func (q *Search) climb(ctx context.Context, tries *int64) {
	q.at = q.worthNow()
	for *tries > 0 && ctx.Err() == nil {
		q.takePrices()
		q.rank()
		improved := false
		for at := 0; at < len(q.moves) && at < q.tune.Sets.MostRanked && *tries > 0; at++ {
			m := q.moves[at]
			// A bound that does not rise rules a gain out only at these prices: a few such moves
			// are tried anyway.
			if m.bound <= 0 && at > 8 {
				break
			}
			*tries--
			q.apply(m)
			// LeastRise keeps rounding from making two sets better than each other for ever.
			if v := q.worthNow(); v > q.at+leaf.LeastRise {
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
func (q *Search) takePrices() {
	copy(q.worth, q.rootWorth)
	// Judge may have answered from memory and not solved anything: hence solve again.
	if q.R.Fix(func(i int32) bool { return q.free[i] }) {
		q.R.Solve(math.Inf(-1))
		for _, t := range q.R.Types {
			q.worth[t] = q.R.Pi[t]
		}
	}
	q.local.price(q.S, q.worth, q.R.Lambda)
}

// perturb swaps a few members, or frees residents that sit together and keeps the cheapest others.
// Either kind leaves at most the budget of members where there were at most that many: exchanges add one for one
// that leaves, and trim removes the excess.
func (q *Search) perturb() {
	s := q.S
	// Residents of one server are worth most together: no single swap would free two that
	// block it.
	if q.rng.Below(2) == 0 {
		c := &s.Cells[q.rng.Below(len(s.Cells))]
		if c.Residents > 0 {
			// The listed subsets are those whose class differs: freeing just these makes room.
			sub := s.Subsets[int(c.First)+q.rng.Below(int(c.Last-c.First))]
			for b := range c.Residents {
				if i := s.EntryApp[c.Entry+b]; sub.Mask>>b&1 != 0 && !q.free[i] {
					q.toggle(i)
				}
			}
			q.trim(c, sub.Mask)
			return
		}
	}
	for range 1 + q.rng.Below(q.tune.Sets.Perturbed) {
		if len(q.members) == 0 {
			return
		}
		out := q.members[q.rng.Below(len(q.members))]
		q.toggle(out)
		best, most := int32(-1), math.Inf(-1)
		// The best of four at random: not the same one each time, and not the worst either.
		for range 4 {
			i := int32(q.rng.Below(len(s.Problem.Apps)))
			if !s.Problem.Apps[i].Pinnable || q.free[i] {
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
// O(excess x members x servers of each).
func (q *Search) trim(c *pattern.Cell, mask uint32) {
	for int64(len(q.members)) > q.S.Problem.Budget {
		best, most := int32(-1), math.Inf(-1)
		for _, i := range q.members {
			protected := false
			for b := range c.Residents {
				protected = protected || mask>>b&1 != 0 && q.S.EntryApp[c.Entry+b] == i
			}
			if u := q.change(&q.root, i); !protected && u > most {
				best, most = i, u
			}
		}
		// All are protected: the oldest member goes.
		if best < 0 {
			best = q.members[0]
		}
		q.toggle(best)
	}
}

// Run searches with the given number of judgements.
// Iterated local search: climb, perturb, climb, and go on from the new set if it is not much worse than the
// best; else from the last one that was accepted. The best packing is kept by Leaves, so nothing is lost.
// at is the set searched from, best its value.
func (q *Search) Run(ctx context.Context, tries int64) {
	if len(q.members) == 0 && q.S.Problem.Budget == 0 {
		return
	}
	q.climb(ctx, &tries)
	at, best := append([]bool(nil), q.free...), q.at
	for tries > 0 && ctx.Err() == nil && q.S.Problem.Pinnable > 0 {
		tries--
		q.perturb()
		q.climb(ctx, &tries)
		// A random part of Slack: small losses are accepted often, large ones rarely.
		if q.at > best-q.tune.Sets.Slack*math.Abs(best)*q.rng.Float() {
			best = q.at
			copy(at, q.free)
		} else {
			q.Load(at)
		}
	}
}
