// This file finds the best choice of ways in Totals exactly: by dynamic programming on what is used and on the loss (2), where
// nobody takes a way that loses more at the prices than the best choice can, [Pisinger95].

package lagrange

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

const (
	// firstRegret is the first part of the bound that a choice may lose at the prices, and wider by what it grows when there
	// is none.
	firstRegret, wider = 1e-5, 2
	// mostLedger bounds the states of a ledger at any effort: they take about 170 bytes each with what finds them again.
	mostLedger = 500_000
	// contextEvery is how many states lie between two looks at a context.
	contextEvery = 64
)

// Wanted says which choices Best looks for: those that are worth more than Above, and of the best so many at most.
type Wanted struct {
	Above float64
	Most  int
}

// Found is what Best has found. Choices are by application, numbers of containers or Stays.
type Found struct {
	// Bound is no less than what any choice within the limits and (15) is worth, or Above.
	Bound float64
	// Choices are within these, the best first, which attains the bound, then some of the next best, each of which uses or loses
	// something else. nil where none is known.
	Choices [][]int64
	// Priced is the best choice where losses have their price and may be more than (15) allows; nil where it is not known.
	Priced []int64
}

// Best bounds what all ways together bring within the limits and (15), and finds the best choices. work is how many pairs of a state
// and a way, and of two states that use the same, are looked at.
//
// A choice that is worth B - d or more, where B is the bound of the prices, is one whose ways lose no more than d
// together, against the best of each application, with what is left of the limits at its price. All of these are
// visited, for a small d first; first of all with losses at their price alone, which takes far fewer states.
// work is shared by all values of d that are tried. An error of the context is no error here: what is
// known then is a bound.
func (t *Totals) Best(ctx context.Context, work int64, want Wanted) Found {
	f := Found{Bound: t.descent.Back()}
	if math.IsInf(f.Bound, 0) {
		return f // somebody has no way at all
	}
	b := budgeted{Totals: t, priced: f.Bound, work: work, want: want}
	l, best := b.widen(ctx, &f.Bound, false)
	if l == nil {
		return f
	}
	f.Priced = l.counts(best[0])
	// Where that loses all of the budget, or loss has no price, no choice within the budget is better.
	if !l.keeps(best[0]) {
		l, best = b.widen(ctx, &f.Bound, true)
	}
	for _, at := range best {
		if l.within(at) {
			f.Choices = append(f.Choices, l.counts(at))
		}
	}
	return f
}

// budgeted is one call of Best.
type budgeted struct {
	*Totals
	priced float64 // the bound of the prices
	work   int64   // that is left
	want   Wanted
}

// widen visits the choices of one d after the other, within the budget (15) or with losses at their price alone, and lowers the bound.
// It returns the ledger of the last d and its best choices, nil where none is known.
func (b *budgeted) widen(ctx context.Context, bound *float64, within bool) (*ledger, []int) {
	// rounding is what sums of losses at prices may be off by. No choice loses more than widest, and one that loses more than
	// last is not worth as much as was asked for.
	rounding := equal * max(1, math.Abs(b.priced))
	last := min(b.priced-b.want.Above, b.widest()+rounding)
	for lose := max(rounding, firstRegret*math.Abs(b.priced), b.priced-*bound+rounding); ; lose *= wider {
		// last may be below nothing: then the prices alone prove that nothing is worth more than Above.
		lose = min(lose, last)
		if lose <= 0 || ctx.Err() != nil {
			return nil, nil
		}
		l := b.newLedger(lose)
		l.within15 = within
		if !l.run(ctx, &b.work) {
			return nil, nil
		}
		// The best of those within d is the best of all: whatever else there is loses more than d.
		if best, value := l.best(b.priced, b.want.Most); len(best) > 0 {
			*bound = min(*bound, value+rounding)
			return l, best
		}
		// No choice loses d or less, so that none is worth more than priced - d.
		if *bound = min(*bound, b.priced-lose+rounding); lose >= last {
			return nil, nil
		}
	}
}

// widest returns what any choice within the limits loses at the prices at most: limits of which nothing is used, a budget (15) of
// which nothing is lost, and the worst way of each. With it a search ends by itself where no choice is within the limits. O(ways x rows).
// Beyond it a larger d lets no more ways in, and the search is over whatever it has found.
func (t *Totals) widest() float64 {
	x := t.descent.Best
	sum := float64(x[len(t.limits)] * t.losses)
	for r, limit := range t.limits {
		sum += float64(x[r] * float64(limit))
	}
	for a := range t.takers {
		_, best := t.takers[a].best(x)
		worst := best
		for w := range t.takers[a].ways {
			worst = min(worst, t.takers[a].ways[w].priced(x))
		}
		sum += best - worst
	}
	return sum
}

// ledger is the dynamic program of one d.
// A ledger is made anew for each d, as a larger one lets more ways in.
type ledger struct {
	t    *Totals
	x    []float64
	lose float64
	// within15: only choices within the budget (15) count; else losses have their price and no more.
	within15 bool
	// rows are the takers with the ways that lose no more than d, those with most of them first.
	rows []ledgerRow
	// states of each row: what is used up to it, what that loses, and where it came from.
	layers [][]ledgerState
}

// ledgerRow is an application in the ledger.
type ledgerRow struct {
	taker int
	ways  []ledgerWay // those that lose least first
	// least and most is what this and the later ones use, by row of Totals.
	least, most [mostRows]int64
	// leastLoss and mostLoss are the same of (2).
	leastLoss, mostLoss float64
}

// ledgerWay is one of its ways, by position, and what that loses at the prices against the best of them.
type ledgerWay struct {
	way  int
	lose float64
}

// ledgerState is what some choices for the first rows come to: of all that use the same those of which none is worth more and
// loses less. What is used is an array, so that a state is one piece of memory.
type ledgerState struct {
	use    [mostRows]int64 // by row of Totals
	lose   float64         // at the prices
	loss   float64         // of (2)
	before int32           // the state of the layer before
	way    int32           // and the way that led from there
	next   int32           // another state of the layer that uses the same, -1 where there is none
}

// newLedger lists the ways that lose no more than lose. O(ways x rows + takers log takers). An application always has its best
// way, which loses nothing.
func (t *Totals) newLedger(lose float64) *ledger {
	l := &ledger{t: t, x: t.descent.Best, lose: lose}
	for a := range t.takers {
		_, best := t.takers[a].best(l.x)
		row := ledgerRow{taker: a}
		for w := range t.takers[a].ways {
			if d := best - t.takers[a].ways[w].priced(l.x); d <= lose {
				row.ways = append(row.ways, ledgerWay{w, d})
			}
		}
		slices.SortStableFunc(row.ways, func(a, b ledgerWay) int { return cmp.Compare(a.lose, b.lose) })
		l.rows = append(l.rows, row)
	}
	// Whoever has a single way left comes last: by then most states are settled, and hopes knows exactly what comes.
	slices.SortStableFunc(l.rows, func(a, b ledgerRow) int { return cmp.Compare(len(b.ways), len(a.ways)) })
	l.sum()
	return l
}

// sum adds up, from the last row back, what each uses and loses at least and at most.
func (l *ledger) sum() {
	t := l.t
	var least, most [mostRows]int64
	var leastLoss, mostLoss float64
	for at := len(l.rows) - 1; at >= 0; at-- {
		row := &l.rows[at]
		low, high := math.Inf(1), 0.0
		for _, way := range row.ways {
			loss := t.takers[row.taker].ways[way.way].loss
			low, high = min(low, loss), max(high, loss)
		}
		leastLoss, mostLoss = leastLoss+low, mostLoss+high
		row.leastLoss, row.mostLoss = leastLoss, mostLoss
		for r := range t.limits {
			low, high := int64(math.MaxInt64), int64(0)
			for _, way := range row.ways {
				q := t.takers[row.taker].ways[way.way].use[r]
				low, high = min(low, q), max(high, q)
			}
			least[r], most[r] = problem.AddSaturated(least[r], low), problem.AddSaturated(most[r], high)
		}
		row.least, row.most = least, most
	}
}

// run visits all states, and reports whether it has: neither work, mostLedger nor ctx has stopped it. A layer keeps states
// while it is made, so that mostLedger counts each as it comes.
func (l *ledger) run(ctx context.Context, work *int64) bool {
	// The first state is that of nobody: it uses and loses nothing.
	states, visited := []ledgerState{{way: -1, next: -1}}, 0
	for at := range l.rows {
		// After the last row nothing comes.
		var rest ledgerRow
		if at+1 < len(l.rows) {
			rest = l.rows[at+1]
		}
		layer := ledgerLayer{ledger: l, rest: &rest}
		ways := l.t.takers[l.rows[at].taker].ways
		for s := range states {
			if s%contextEvery == 0 && ctx.Err() != nil {
				return false
			}
			for _, way := range l.rows[at].ways {
				if *work--; *work < 0 {
					return false
				}
				state := ledgerState{use: states[s].use, lose: states[s].lose + way.lose, loss: states[s].loss + ways[way.way].loss, before: int32(s), way: int32(way.way)}
				if state.lose > l.lose {
					break // the others lose more
				}
				for r, q := range ways[way.way].use {
					state.use[r] = problem.AddSaturated(state.use[r], q)
				}
				if !l.hopes(&state, &rest) {
					continue
				}
				*work -= layer.add(&state)
			}
			if visited+len(layer.states) > mostLedger {
				return false
			}
		}
		visited += len(layer.states)
		// All layers stay, since counts goes back through them.
		l.layers, states = append(l.layers, layer.states), layer.states
	}
	return true
}

// worth returns what a state is worth beside others that use the same: less what it loses at the prices, but for the price of its
// loss where (15) holds.
func (l *ledger) worth(state *ledgerState) float64 {
	if !l.within15 {
		return -state.lose
	}
	return float64(l.x[len(l.t.limits)]*state.loss) - state.lose
}

// tight returns the loss of a state, or the most that cannot break (15) any more; nothing where that need not hold.
func (y *ledgerLayer) tight(state *ledgerState) float64 {
	if !y.within15 {
		return 0
	}
	return max(state.loss, y.t.losses-y.rest.mostLoss)
}

// hopes reports whether a state leaves enough for the least that comes, and little enough beside the most that comes: what is
// left of a limit for good is lost at its price, and a choice that loses more than d in all is not looked for. O(rows).
// A state that is given up wrongly would make the bound too low: use is exact, Best adds to its bound what losses at the prices
// may be off by, and those of (2) have a margin here.
func (l *ledger) hopes(state *ledgerState, rest *ledgerRow) bool {
	lose := state.lose
	if l.within15 {
		if state.loss+rest.leastLoss > l.budget() {
			return false
		}
		if unused := l.t.losses - state.loss - rest.mostLoss; unused > 0 {
			lose += float64(l.x[len(l.t.limits)] * unused)
		}
	}
	for r, limit := range l.t.limits {
		left := limit - state.use[r]
		if left < rest.least[r] {
			return false
		}
		if unused := left - rest.most[r]; unused > 0 {
			lose += float64(l.x[r] * float64(unused))
		}
	}
	return lose <= l.lose
}

// budget returns what a choice may lose, with what sums of losses may be off by.
func (l *ledger) budget() float64 { return l.t.losses + float64(equal*max(1, l.t.losses)) }

// within reports whether a last state is within the budget (15).
func (l *ledger) within(at int) bool { return l.layers[len(l.layers)-1][at].loss <= l.budget() }

// keeps reports whether a last state is within the budget (15), and leaves nothing of it that has a price.
func (l *ledger) keeps(at int) bool {
	left := l.t.losses - l.layers[len(l.layers)-1][at].loss
	return l.within(at) && float64(l.x[len(l.t.limits)]*left) <= equal
}

// best returns the last states that are worth most, the best first and most of them at most, and what the first is worth. priced is
// the bound of the prices: a choice is worth that less what its ways lose, and less what it leaves of the limits, and of (15) where that holds, at
// their prices. Of equal worth is first what loses less. O(last states x (rows + log last states)).
func (l *ledger) best(priced float64, most int) (best []int, value float64) {
	if len(l.layers) == 0 {
		return nil, math.Inf(-1)
	}
	last := l.layers[len(l.layers)-1]
	worth := make([]float64, len(last))
	for s := range last {
		worth[s] = priced - last[s].lose
		if l.within15 {
			worth[s] -= float64(l.x[len(l.t.limits)] * (l.t.losses - last[s].loss))
		}
		for r, limit := range l.t.limits {
			worth[s] -= float64(l.x[r] * float64(limit-last[s].use[r]))
		}
		best = append(best, s)
	}
	slices.SortStableFunc(best, func(a, b int) int {
		return cmp.Or(cmp.Compare(worth[b], worth[a]), cmp.Compare(last[a].loss, last[b].loss))
	})
	if len(best) == 0 {
		return nil, math.Inf(-1)
	}
	return best[:min(most, len(best))], worth[best[0]]
}

// counts returns the choice that led to a last state, by application: -1 for Stays, and 0 for options that are not in use.
func (l *ledger) counts(at int) []int64 {
	// Layers and rows are parallel; each state names its way and the state before it.
	counts := make([]int64, len(l.t.p.Apps))
	for row := len(l.layers) - 1; row >= 0; row-- {
		state := &l.layers[row][at]
		way := &l.t.takers[l.rows[row].taker].ways[state.way]
		counts[way.app] = way.n
		at = int(state.before)
	}
	return counts
}
