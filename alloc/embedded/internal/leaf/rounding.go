// This file turns the residual program's solution into whole patterns: the integer part of the
// program, then an ascent that chooses the pattern of one server after the other anew.

package leaf

import (
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/colgen"
	"github.com/apportion/apportion/alloc/solver"
)

const (
	// mostSweeps bounds the sweeps of one ascent, raises how often the weight of missing minima or
	// the price on loss is raised, by the factor raise.
	mostSweeps, raises, raise = 40, 6, 5
	// leastRise is the least gain that counts.
	leastRise = 1e-10
)

// group is the servers of a class that use one pattern; pattern -1 is the empty one.
type group struct {
	class   int32 // index in residual.class
	pattern int32
	size    int64
}

// packing is a whole solution of a residual problem: a pattern for every server.
//
// Servers of one class are alike, so that a packing counts them by pattern: its size depends on classes and
// patterns, not on servers. Invariants: the sizes of the groups of a class sum to the size of the class, and
// supply is what the patterns of all groups hold. All of it is heuristic; the bound is found elsewhere.
type packing struct {
	r      *colgen.Residual
	groups []group
	supply []int64 // by type
	// count[t] <= supply[t] is how many containers are used.
	count  []int64
	value  float64 // of the count, with the kept
	loss   float64
	weight float64 // of a missing minimum, in values of its container
	// penalty is what a unit of loss above the budget costs, in utilization.
	penalty float64
	// The best so far.
	Found bool
	// They belong to the set that r was fixed to when Found was set last.
	bestGroups []group
	bestCount  []int64
	BestValue  float64
	bestLoss   float64
	states     int // of the last exact answer
}

// over makes k the packing of r, of which none is known, in the memory that it has.
func (k *packing) over(r *colgen.Residual) {
	n := len(r.S.Problem.Types)
	*k = packing{r: r, groups: k.groups[:0], supply: slices.Grow(k.supply[:0], n)[:n], count: slices.Grow(k.count[:0], n)[:n],
		bestGroups: k.bestGroups[:0], bestCount: slices.Grow(k.bestCount[:0], n)[:n]}
	clear(k.count)
	clear(k.bestCount)
}

// pack looks for a whole solution, which it has found if found; it stops when one is worth goal.
// Two starts: the integer part of the program's solution, then servers filled at its prices. From each it climbs with a
// penalty on loss above the budget, which grows until the loss fits.
func (k *packing) pack(goal float64) {
	k.Found = false
	for _, start := range [...]func(){k.floor, k.fillPriced} {
		start()
		// A penalty above the price: else the excess would be worth its while.
		k.penalty = max(1, 3*k.r.Lambda)
		for range raises {
			k.climb()
			if k.settle() {
				break
			}
			// Loss still exceeds the budget: it weighs more from now on.
			k.penalty *= raise
		}
		// goal is the bound less the least difference: better does not exist.
		if k.Found && k.BestValue >= goal {
			return
		}
	}
}

// floor takes the integer part of the program's solution; the other servers are empty.
// At a basic solution at most as many groups as rows are fractional, so that few
// servers stay empty.
func (k *packing) floor() {
	k.clear()
	r := k.r
	for row, c := range r.Lp.Basic {
		what := r.Columns[c]
		// Columns without a class are numbers of containers, which packing decides by itself.
		if what.Class < 0 {
			continue
		}
		// 1e-9 takes a value that rounding left just below a whole number for that number.
		if n := int64(r.Lp.Value[row] + 1e-9); n > 0 {
			// Rounding may add up to one server too many.
			n = min(n, k.groups[what.Class].size)
			k.move(int(what.Class), what.Pattern, n)
		}
	}
}

// clear empties all servers: group g is then the empty servers of class g.
// The first len(Class) groups keep these places while groups are added behind them.
func (k *packing) clear() {
	k.groups = k.groups[:0]
	for g := range k.r.Class {
		k.groups = append(k.groups, group{int32(g), -1, int64(k.r.Size[g])})
	}
	clear(k.supply)
}

// move gives n servers of a group another pattern.
// It keeps both invariants. A group may be left with size 0; it is used again when
// servers come back.
func (k *packing) move(from int, pattern int32, n int64) {
	g := k.groups[from]
	k.groups[from].size -= n
	// The groups are few, so that a search through them is quicker than an index. O(groups).
	to := slices.IndexFunc(k.groups, func(o group) bool { return o.class == g.class && o.pattern == pattern })
	if to < 0 {
		to = len(k.groups)
		k.groups = append(k.groups, group{g.class, pattern, 0})
	}
	k.groups[to].size += n
	k.add(g.class, g.pattern, -n)
	k.add(g.class, pattern, n)
}

// add changes the supply by n times a pattern; the empty one, -1, supplies nothing.
func (k *packing) add(class, pattern int32, n int64) {
	if pattern < 0 {
		return
	}
	for t, c := range k.r.S.Lists.Pattern(k.r.Class[class], int(pattern)) {
		k.supply[t] += n * int64(c)
	}
}

// fillPriced fills the servers one by one with the pattern of most worth at the program's prices; a type that
// has all it may have is worth nothing.
func (k *packing) fillPriced() {
	k.clear()
	r := k.r
	for g := range r.Class {
		for k.groups[g].size > 0 {
			// Worth is by type, and types without free applications must count for nothing.
			clear(r.Worth)
			n := k.groups[g].size
			for _, t := range r.Types {
				// 1e-9 of the value lets a type of price 0 still fill room that nothing else wants.
				if k.supply[t] < r.Hi[t] {
					r.Worth[t] = max(0, r.Pi[t]) + float64(1e-9*r.S.Problem.Types[t].Value)
				}
			}
			q, _ := r.S.Lists.Best(r.Class[g], r.Worth)
			for t, c := range r.S.Lists.Pattern(r.Class[g], q) {
				if c > 0 && r.Worth[t] > 0 { // as many servers as stay below the maximum
					n = min(n, max(1, (r.Hi[t]-k.supply[t])/int64(c)))
				}
			}
			k.move(g, int32(q), n)
		}
	}
}

// worthOf returns what supply s of type t is worth, v N + weight v min(N, m), and its loss.
// Supply above the maximum is worth nothing more, and no less: it need not be used.
func (k *packing) worthOf(t int32, s int64) (worth, loss float64) {
	q, typ := &k.r.Pools[t], &k.r.S.Problem.Types[t]
	n := min(s, k.r.Hi[t])
	worth = float64(typ.Value * float64(n))
	if n < k.r.Lo[t] {
		worth -= float64(float64(k.weight*typ.Value) * float64(k.r.Lo[t]-n))
	}
	return worth, q.At(typ.Delta, n)
}

// merit is what the search climbs: worth less a penalty for loss above the budget,
//
//	worth - penalty max(0, loss - L')
func (k *packing) merit(worth, loss float64) float64 {
	return worth - float64(k.penalty*max(0, loss-k.r.Budget+solver.LossTolerance/2))
}

// climb sweeps over the groups, each time moving one server of a group to the pattern that raises the
// merit most, until nothing does. While minima are missing their weight grows.
// Every move raises merit by more than leastRise, so that a climb ends even without
// mostSweeps.
func (k *packing) climb() {
	k.weight = 1
	for range raises {
		for range mostSweeps {
			if !k.sweep() {
				break
			}
		}
		if !k.short() {
			return
		}
		// A container towards a minimum is worth weight times another one.
		k.weight *= raise
	}
}

// short reports whether the supply of some type is below its minimum.
func (k *packing) short() bool {
	return slices.ContainsFunc(k.r.Types, func(t int32) bool { return k.supply[t] < k.r.Lo[t] })
}

// sweep improves every group once, small classes first; it reports whether anything changed.
func (k *packing) sweep() bool {
	changed := false
	for at := 0; at < len(k.groups); at++ {
		for k.groups[at].size > 0 {
			q, gain := k.better(at)
			if gain <= leastRise {
				break
			}
			// Groups that this adds are reached later in the same sweep.
			changed = true
			k.move(at, q, 1)
		}
	}
	return changed
}

// better returns the pattern that one server of a group had better have, and what that gains.
// O(patterns of the class x types): a move changes supply by the difference of two patterns, and only
// types in which they differ are evaluated. -1 with a gain of 0 where none is better.
func (k *packing) better(at int) (int32, float64) {
	g := k.groups[at]
	ps, class := k.r.S.Lists, k.r.Class[g.class]
	// The empty pattern has no list: nothing is taken away.
	var from []int32
	if g.pattern >= 0 {
		from = ps.Pattern(class, int(g.pattern))
	}
	// The penalty is on the loss in all.
	var loss float64
	for _, t := range k.r.Types {
		_, l := k.worthOf(t, k.supply[t])
		loss += l
	}
	// before is the merit without any worth: gains are differences, so that the worth of what stays cancels.
	before := k.merit(0, loss)
	best, most := int32(-1), 0.0
	for q := range ps.Classes[class].Size {
		to := ps.Pattern(class, q)
		var worth, dearer float64
		for _, t := range k.r.Types {
			change := int64(to[t])
			if from != nil {
				change -= int64(from[t])
			}
			if change != 0 {
				w0, l0 := k.worthOf(t, k.supply[t])
				w1, l1 := k.worthOf(t, k.supply[t]+change)
				worth += w1 - w0
				dearer += l1 - l0
			}
		}
		// A strict comparison takes the first of equal patterns, in the order of the list.
		if gain := k.merit(worth, loss+dearer) - before; gain > most {
			best, most = int32(q), gain
		}
	}
	return best, most
}

// settle decides how much of the supply is used, less where that is what the loss budget asks for,
// and keeps the packing if it is the best; it reports whether it is a solution.
func (k *packing) settle() bool {
	r := k.r
	for _, t := range r.Types {
		k.count[t] = min(k.supply[t], r.Hi[t])
	}
	// Each drop lowers the loss or ends the loop: it is bounded by the containers.
	for k.measure(); k.loss > r.Budget-solver.LossTolerance/2 && k.drop(); {
		k.measure()
	}
	if k.short() || k.loss > r.Budget-solver.LossTolerance/2 {
		return false
	}
	// Less loss decides among packings of one utilization.
	if !k.Found || k.value > k.BestValue+leastRise || k.value > k.BestValue-leastRise && k.loss < k.bestLoss {
		k.Found, k.BestValue, k.bestLoss = true, k.value, k.loss
		k.bestGroups = append(k.bestGroups[:0], k.groups...)
		copy(k.bestCount, k.count)
	}
	return true
}

// measure computes value and loss of the count.
func (k *packing) measure() {
	k.value, k.loss = k.r.Fixed, 0
	for _, t := range k.r.Types {
		typ := &k.r.S.Problem.Types[t]
		k.value += float64(typ.Value * float64(k.count[t]))
		k.loss += k.r.Pools[t].At(typ.Delta, k.count[t])
	}
}

// drop gives up one container of the type that saves most loss for its value; false if none does.
// The ratio is min(loss saved, excess) / v_t, which is greedy, not exact: two drops of one kind may do
// with less than one of another.
func (k *packing) drop() bool {
	best, most := int32(-1), 0.0
	for _, t := range k.r.Types {
		q, typ := &k.r.Pools[t], &k.r.S.Problem.Types[t]
		// Minima are not given up for loss: both are constraints, and a packing that breaks one is none.
		if k.count[t] <= k.r.Lo[t] {
			continue
		}
		// Of what it saves only the excess counts.
		saves := q.At(typ.Delta, k.count[t]) - q.At(typ.Delta, k.count[t]-1)
		if ratio := min(saves, k.loss-k.r.Budget) / typ.Value; ratio > most {
			best, most = t, ratio
		}
	}
	if best < 0 {
		return false
	}
	k.count[best]--
	return true
}
