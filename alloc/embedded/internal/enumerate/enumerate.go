// This file visits every allocation of a tiny instance, by depth-first search with bounds by prices.

package enumerate

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// lookEvery is how many nodes pass between two looks at the context; a power of two.
const lookEvery = 1024

// Enumeration visits every x row by row, application by application, in lexicographic order. Two
// servers of equal capacity and equal previous allocation are interchangeable: of their columns
// only the ascending order is visited, which the lexicographically smallest x has.
//
// This is exact for the whole preference: utilization, loss, adjusted, moved, then the smallest x in
// lexicographic order. Depth-first in ascending order meets the smallest x of equal rank first, which is
// why an equal later one never replaces it. Memory is 8 bytes x applications x servers, a few times.
type Enumeration struct {
	p   *problem.Problem
	ctx context.Context
	// left is what servers have beside the cells visited so far, kind k of server j at
	// j*kinds+k.
	left []int64
	// below is what the ceilings (G) leave, and belowPrice what a unit of each costs.
	below      []int64
	belowPrice []float64
	x          []int64 // application i, server j at i*servers+j
	twin       []int   // the server before j that is interchangeable with it, or -1
	tied       []bool  // server i*servers+j: column j equals its twin's above row i
	// price is p_jk, spread from classes to servers as left is.
	price []float64
	// after[i][r] bounds the priced value of applications i and later with r adjustments left.
	after [][]float64
	spare []float64 // least loss of applications i and later
	must  []int64   // of applications i and later: what those cost that must move
	// cheapest is the least cost, above 0, of one that may be freed, and unpaid how many cost nothing.
	cheapest, unpaid int64
	lambda           float64
	Nodes            int64
	limit            int64
	Found            bool
	// Ordered says that best was met here, so that any later equal is lexicographically larger.
	Ordered bool
	Best    Rank
	last    lastRow
	// standing is that of all that have been the best.
	standing problem.Standing
	bestX    []int64
}

// Run visits everything and reports whether it could finish within limit nodes. The prices
// of d, as last evaluated at x, serve as bounds; incumbent may be nil.
//
// False means that nothing is proven: Best is then only the best met. Nodes are cells of x that were
// entered, each in O(kinds), but for the last of a row, in O(servers x kinds).
func Run(ctx context.Context, d *lagrange.Dual, x []float64, incumbent solver.Counts, limit int64) (*Enumeration, bool) {
	p := d.Problem
	e := &Enumeration{
		p: p, ctx: ctx, left: slices.Clone(p.Capacity), below: p.Limits(), belowPrice: d.CeilingPrices(x), x: make([]int64, len(p.Apps)*p.Servers),
		tied: make([]bool, (len(p.Apps)+1)*p.Servers), limit: limit, lambda: d.Lambda(x),
	}
	for _, g := range d.ClassOf {
		// Prices are by server here, as left is, so that hopeless adds both up in one loop.
		e.price = append(e.price, x[int(g)*p.Kinds:(int(g)+1)*p.Kinds]...)
	}
	e.findTwins()
	e.boundSuffixes(d)
	e.last = newLastRow(e)
	// Ordered stays false: an equal solution with a smaller x must still be found.
	if incumbent != nil {
		e.Found = true
		e.accept(RankOf(p.Inst, incumbent))
	}
	return e, e.app(0, Rank{})
}

// findTwins links every server to the last one before it with equal capacity and residents.
// Links to the last one before make chains, and x ascending along every link is x ascending along the
// chain. O(servers^2 x (kinds + applications)), for tiny instances.
func (e *Enumeration) findTwins() {
	p := e.p
	// Twins must be alike in what they hold, or exchanging them would change who is adjusted.
	held := make([][]int64, p.Servers) // column j of the previous allocation
	for j := range held {
		held[j] = make([]int64, len(p.Apps))
	}
	for i := range p.Apps {
		for _, placed := range p.Inst.Apps[i].Previous {
			held[placed.Server][i] = placed.Count
		}
	}
	e.twin = make([]int, p.Servers)
	for j := range e.twin {
		e.twin[j] = -1
		// Above row 0 all columns are equal: empty.
		e.tied[j] = true
		for h := j - 1; h >= 0 && e.twin[j] < 0; h-- {
			sameClass := p.Inst.Class == nil || p.Inst.Class[h] == p.Inst.Class[j]
			if sameClass && p.Inst.Capacity[h].Equal(p.Inst.Capacity[j]) && slices.Equal(held[h], held[j]) {
				// A link to the nearest twin alone: x ascends along the chain.
				e.twin[j] = h
			}
		}
	}
}

// boundSuffixes fills after, spare and must from the free and keep values of d.
//
//	after[i][r] = sum_{i' >= i} base_i' + the r largest positive free - keep of those that may stay
//
// so that after[i][r] for all r comes from one sorted list. O(applications^2 log applications).
func (e *Enumeration) boundSuffixes(d *lagrange.Dual) {
	p := e.p
	n := len(p.Apps)
	e.after, e.spare, e.must = make([][]float64, n+1), make([]float64, n+1), make([]int64, n+1)
	e.cheapest = math.MaxInt64
	var base float64
	var gains []float64
	// From the last application backward, so that each suffix extends the one after it.
	for i := n; i >= 0; i-- {
		if i < n {
			a := &p.Apps[i]
			e.spare[i] = e.spare[i+1] + p.LeastLoss(int32(i))
			e.must[i] = e.must[i+1]
			if a.Pinnable {
				// cheapest turns what is left of AdjustBudget into a number of applications; those that cost
				// nothing come on top.
				if cost := p.Inst.Apps[i].Cost; !p.Inst.Apps[i].MayGrow() {
					e.cheapest = min(e.cheapest, cost)
				} else {
					e.unpaid++
				}
				base += d.Keep[i]
				// A gain below 0 is not taken: whoever may stay is kept then.
				gains = append(gains, math.Max(0, d.Free[i]-d.Keep[i]))
				slices.SortFunc(gains, func(x, y float64) int { return cmp.Compare(y, x) })
			} else {
				base += d.Free[i]
				if p.Inst.Apps[i].Running {
					// A running application that cannot stay costs an adjustment, whatever it gets.
					if !p.Inst.Apps[i].MayGrow() {
						e.must[i] += p.Inst.Apps[i].Cost
					}
				}
			}
		}
		// after_i0 is with nobody freed; each further entry adds the next largest gain.
		e.after[i] = append(e.after[i], base)
		for _, gain := range gains {
			e.after[i] = append(e.after[i], e.after[i][len(e.after[i])-1]+gain)
		}
	}
}

// app visits the rows from application i on; at is what the rows before it add up to. It reports
// false when the nodes ran out or the context ended.
// Invariant: left is the capacity less rows 0 to i-1 of x, and rows from i on are 0.
func (e *Enumeration) app(i int, at Rank) bool {
	if e.hopeless(i, &at) {
		return true
	}
	// Everything is placed: hopeless has passed it, and so it is preferred to all before it.
	if i == len(e.p.Apps) {
		e.Found, e.Ordered = true, true
		e.accept(at)
		e.bestX = append(e.bestX[:0], e.x...)
		return true
	}
	return e.cell(i, 0, 0, at)
}

// hopeless reports whether nothing preferred to best can follow, or nothing feasible at all.
//
//	hope = at + lambda (L - loss so far) + sum_jk p_jk left_jk + sum_c nu_c below_c + after[i][adjustments left]
//
// is the bound of lagrange.Dual for the rows to come on what the rows so far have left, and hence bounds
// the utilization of every completion; loss and adjustments have bounds of their own.
func (e *Enumeration) hopeless(i int, at *Rank) bool {
	inst := e.p.Inst
	spareAdjust := inst.AdjustBudget - at.Cost - e.must[i]
	// The other half of the tolerance is left to the referee, who sums in another order.
	least := at.Loss + e.spare[i]
	if spareAdjust < 0 || least > inst.LossBudget+solver.LossTolerance/2 {
		return true
	}
	// Without a solution there is nothing to be beaten by, whatever the bound is.
	if !e.Found {
		return false
	}
	// A finished row has its own figures; the bound would blur them by the tolerance.
	if i == len(e.p.Apps) {
		return e.beaten(at)
	}
	bound := at.Objective + float64(e.lambda*(inst.LossBudget+solver.LossTolerance-at.Loss))
	for jk, price := range e.price {
		bound += float64(price * float64(e.left[jk]))
	}
	for c, price := range e.belowPrice {
		bound += float64(price * float64(e.below[c]))
	}
	// More adjustments than there are applications left are worth no more.
	after := e.after[i]
	bound += after[min(problem.AddSaturated(spareAdjust/e.cheapest, e.unpaid), int64(len(after)-1))]
	// Moved can only grow from row to row, so what it is already is a bound.
	hope := Rank{Objective: bound, Loss: least, Adjusted: at.Adjusted, Moved: at.Moved}
	return e.beaten(&hope)
}

// beaten reports whether at is not preferred to best, be it by order only.
// Standing compares with the best of all that were accepted, not with the last one,
// since equality within a tolerance is not transitive.
func (e *Enumeration) beaten(at *Rank) bool {
	order := e.standing.Compare(at.Objective, at.Loss)
	if order == 0 {
		order = at.compareMoves(&e.Best)
	}
	return order > 0 || order == 0 && e.Ordered
}

// accept makes at the best.
func (e *Enumeration) accept(at Rank) {
	e.Best = at
	e.standing.Accept(at.Objective, at.Loss)
}

// cell visits the values of x[i][j], the smallest first; n is what application i has so far.
//
// The twin rule prunes columns that are a permutation of earlier ones: as long as two twins' columns are equal
// above this row, x[i][j] starts at x[i][twin]; a larger value breaks the tie for the rows below.
func (e *Enumeration) cell(i, j int, n int64, at Rank) bool {
	e.Nodes++
	if e.Nodes > e.limit || e.Nodes%lookEvery == 0 && e.ctx.Err() != nil {
		return false
	}
	p := e.p
	if i == len(p.Apps)-1 && e.last.repeats(e.x[i*p.Servers:], e.tied[i*p.Servers:], j, n) {
		return true
	}
	a := &p.Apps[i]
	// A row below its minimum is no solution, but that is no reason to stop.
	if j == p.Servers {
		return n < a.Min || e.row(i, n, at)
	}
	row := i * p.Servers
	// The cell holds no more than the maximum and the ceilings leave, nor than fits beside the rows above.
	most := min(a.Max-n, p.Below(a.Type, e.below))
	for k, q := range p.DemandOf(a.Type) {
		if q > 0 {
			most = min(most, e.left[j*p.Kinds+k]/q)
		}
	}
	least := int64(0)
	tied := e.twin[j] >= 0 && e.tied[row+j]
	if tied {
		least = e.x[row+e.twin[j]]
	}
	// Ascending, which is what makes the first of equal solutions the lexicographically
	// smallest.
	for c := least; c <= most; c++ {
		e.x[row+j] = c
		e.tied[row+p.Servers+j] = tied && c == least
		e.use(j, a.Type, c)
		done := e.cell(i, j+1, n+c, at)
		e.use(j, a.Type, -c)
		// x is left as it was, whatever ended the visit.
		if !done {
			e.x[row+j] = 0
			return false
		}
	}
	e.x[row+j] = 0
	return true
}

// use takes n containers of type t from server j and the ceilings; a negative n gives them back.
func (e *Enumeration) use(j int, t int32, n int64) {
	for k, q := range e.p.DemandOf(t) {
		e.left[j*e.p.Kinds+k] -= n * q
	}
	for _, use := range e.p.Types[t].Uses {
		e.below[use.Ceiling] -= n * use.Units
	}
}

// row closes the row of application i and goes on with the next one.
// Objective and loss are summed in the order of the applications, as the referee does.
func (e *Enumeration) row(i int, n int64, at Rank) bool {
	p := e.p
	source := &p.Inst.Apps[i]
	// Most rows fail by their number alone, and the referee's reasons take time to word.
	if !source.Allows(n) {
		return true
	}
	// CheckApp sees what the flat bounds do not know.
	placed := placedRow(e.x[i*p.Servers : (i+1)*p.Servers])
	// Steps, lists, and the servers that are open to it are for the referee to know.
	if p.Inst.CheckApp(i, placed) != nil {
		return true
	}
	loss := p.Loss(int32(i), n)
	at.Objective += source.WorthOf(placed) - float64(p.Inst.LossPrice*loss)
	at.Loss += loss
	// The referee's own functions judge what is adjusted and moved, on an instance of this
	// one application.
	if source.Running {
		counts := solver.Counts{placed}
		alone := solver.Instance{Apps: p.Inst.Apps[i : i+1]}
		at.Adjusted += alone.AdjustedApps(counts)
		at.Cost += alone.AdjustCost(counts)
		at.Moved += alone.Moved(counts)
	}
	return e.app(i+1, at)
}

// placedRow returns the sparse form of a row of x.
func placedRow(row []int64) []apportion.Placement {
	var placed []apportion.Placement
	for j, n := range row {
		if n > 0 {
			placed = append(placed, apportion.Placement{Server: j, Count: n})
		}
	}
	return placed
}

// Counts returns the best x.
// It must only be called where Ordered: of an incumbent there is no x here.
func (e *Enumeration) Counts() solver.Counts {
	counts := make(solver.Counts, len(e.p.Apps))
	for i := range counts {
		counts[i] = placedRow(e.bestX[i*e.p.Servers : (i+1)*e.p.Servers])
	}
	return counts
}
