// This file enumerates small instances: depth first over the containers of every application on
// every server, with bounds, in lexicographic order. It proves the whole preference among optima.

package embedded

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

const (
	// mostCells is the number of pairs of application and server up to which enumeration is tried.
	mostCells = 60
	// nodeWork is the number of nodes that one unit of effort pays for.
	nodeWork = 2000
	// lookEvery is how many nodes pass between two looks at the context; a power of two.
	lookEvery = 1024
)

// rank is what the preference compares before x itself.
type rank struct {
	objective, loss float64
	adjusted, moved int64
}

// rankOf returns the rank of a solution.
func rankOf(inst *solver.Instance, counts solver.Counts) rank {
	return rank{inst.Objective(counts), inst.FairnessLoss(counts), inst.AdjustedApps(counts), inst.Moved(counts)}
}

// compare returns a negative number if a is preferred to b, 0 if they are equal but for x: more
// utilization, less loss, fewer adjusted, fewer moved.
func (a *rank) compare(b *rank) int {
	switch {
	case math.Abs(a.objective-b.objective) > solver.ObjectiveTolerance:
		return cmp.Compare(b.objective, a.objective)
	case math.Abs(a.loss-b.loss) > solver.LossTolerance:
		return cmp.Compare(a.loss, b.loss)
	case a.adjusted != b.adjusted:
		return int(a.adjusted - b.adjusted)
	}
	return cmp.Compare(a.moved, b.moved)
}

// enumeration visits every x row by row, application by application, in lexicographic order. Two
// servers of equal capacity and equal previous allocation are interchangeable: of their columns
// only the ascending order is visited, which the lexicographically smallest x has.
type enumeration struct {
	p     *problem
	ctx   context.Context
	left  []int64
	x     []int64 // application i, server j at i*servers+j
	twin  []int   // the server before j that is interchangeable with it, or -1
	tied  []bool  // server i*servers+j: column j equals its twin's above row i
	price []float64
	// after[i][r] bounds the priced value of applications i and later with r adjustments left.
	after  [][]float64
	spare  []float64 // least loss of applications i and later
	must   []int64   // of applications i and later: those that must move
	lambda float64
	nodes  int64
	limit  int64
	found  bool
	// ordered says that best was met here, so that any later equal is lexicographically larger.
	ordered bool
	best    rank
	bestX   []int64
}

// enumerate visits everything and reports whether it could finish within limit nodes. The prices
// of d, as last evaluated at x, serve as bounds; incumbent may be nil.
func enumerate(ctx context.Context, d *dual, x []float64, incumbent solver.Counts, limit int64) (*enumeration, bool) {
	p := d.p
	e := &enumeration{
		p: p, ctx: ctx, left: slices.Clone(p.capacity), x: make([]int64, len(p.apps)*p.servers),
		tied: make([]bool, (len(p.apps)+1)*p.servers), limit: limit, lambda: d.lambda(x),
	}
	for _, g := range d.classOf {
		e.price = append(e.price, x[int(g)*p.kinds:(int(g)+1)*p.kinds]...)
	}
	e.findTwins()
	e.boundSuffixes(d)
	if incumbent != nil {
		e.found = true
		e.best = rankOf(p.inst, incumbent)
	}
	return e, e.app(0, rank{})
}

// findTwins links every server to the last one before it with equal capacity and lodgers.
func (e *enumeration) findTwins() {
	p := e.p
	held := make([][]int64, p.servers) // column j of the previous allocation
	for j := range held {
		held[j] = make([]int64, len(p.apps))
	}
	for i := range p.apps {
		for _, placed := range p.inst.Apps[i].Previous {
			held[placed.Server][i] = placed.Count
		}
	}
	e.twin = make([]int, p.servers)
	for j := range e.twin {
		e.twin[j] = -1
		e.tied[j] = true
		for h := j - 1; h >= 0 && e.twin[j] < 0; h-- {
			if p.inst.Capacity[h].Equal(p.inst.Capacity[j]) && slices.Equal(held[h], held[j]) {
				e.twin[j] = h
			}
		}
	}
}

// boundSuffixes fills after, spare and must from the free and keep values of d.
func (e *enumeration) boundSuffixes(d *dual) {
	p := e.p
	n := len(p.apps)
	e.after, e.spare, e.must = make([][]float64, n+1), make([]float64, n+1), make([]int64, n+1)
	var base float64
	var gains []float64
	for i := n; i >= 0; i-- {
		if i < n {
			a := &p.apps[i]
			e.spare[i] = e.spare[i+1] + p.leastLoss(int32(i), true)
			e.must[i] = e.must[i+1]
			if a.keepable {
				base += d.keep[i]
				gains = append(gains, math.Max(0, d.free[i]-d.keep[i]))
				slices.SortFunc(gains, func(x, y float64) int { return cmp.Compare(y, x) })
			} else {
				base += d.free[i]
				if p.inst.Apps[i].Running {
					e.must[i]++
				}
			}
		}
		e.after[i] = append(e.after[i], base)
		for _, gain := range gains {
			e.after[i] = append(e.after[i], e.after[i][len(e.after[i])-1]+gain)
		}
	}
}

// app visits the rows from application i on; at is what the rows before it add up to. It reports
// false when the nodes ran out or the context ended.
func (e *enumeration) app(i int, at rank) bool {
	if e.hopeless(i, &at) {
		return true
	}
	if i == len(e.p.apps) {
		e.found, e.ordered, e.best = true, true, at
		e.bestX = append(e.bestX[:0], e.x...)
		return true
	}
	return e.cell(i, 0, 0, at)
}

// hopeless reports whether nothing preferred to best can follow, or nothing feasible at all.
func (e *enumeration) hopeless(i int, at *rank) bool {
	inst := e.p.inst
	spareAdjust := inst.AdjustBudget - at.adjusted - e.must[i]
	least := at.loss + e.spare[i]
	if spareAdjust < 0 || least > inst.LossBudget+solver.LossTolerance/2 {
		return true
	}
	if !e.found {
		return false
	}
	if i == len(e.p.apps) {
		return e.beaten(at)
	}
	bound := at.objective + float64(e.lambda*(inst.LossBudget+solver.LossTolerance-at.loss))
	for jk, price := range e.price {
		bound += float64(price * float64(e.left[jk]))
	}
	after := e.after[i]
	bound += after[min(spareAdjust, int64(len(after)-1))]
	hope := rank{bound, least, at.adjusted, at.moved}
	return e.beaten(&hope)
}

// beaten reports whether at is not preferred to best, be it by order only.
func (e *enumeration) beaten(at *rank) bool {
	order := at.compare(&e.best)
	return order > 0 || order == 0 && e.ordered
}

// cell visits the values of x[i][j], the smallest first; n is what application i has so far.
func (e *enumeration) cell(i, j int, n int64, at rank) bool {
	e.nodes++
	if e.nodes > e.limit || e.nodes%lookEvery == 0 && e.ctx.Err() != nil {
		return false
	}
	p := e.p
	a := &p.apps[i]
	if j == p.servers {
		return n < a.min || e.row(i, n, at)
	}
	row := i * p.servers
	most := a.max - n
	for k, q := range p.demandOf(a.typ) {
		if q > 0 {
			most = min(most, e.left[j*p.kinds+k]/q)
		}
	}
	least := int64(0)
	tied := e.twin[j] >= 0 && e.tied[row+j]
	if tied {
		least = e.x[row+e.twin[j]]
	}
	for c := least; c <= most; c++ {
		e.x[row+j] = c
		e.tied[row+p.servers+j] = tied && c == least
		e.use(j, a.typ, c)
		done := e.cell(i, j+1, n+c, at)
		e.use(j, a.typ, -c)
		if !done {
			e.x[row+j] = 0
			return false
		}
	}
	e.x[row+j] = 0
	return true
}

func (e *enumeration) use(j int, t int32, n int64) {
	for k, q := range e.p.demandOf(t) {
		e.left[j*e.p.kinds+k] -= n * q
	}
}

// row closes the row of application i and goes on with the next one.
func (e *enumeration) row(i int, n int64, at rank) bool {
	p := e.p
	source := &p.inst.Apps[i]
	at.objective += float64(p.types[p.apps[i].typ].value * float64(n))
	at.loss += p.loss(int32(i), n)
	if source.Running {
		counts := solver.Counts{placedRow(e.x[i*p.servers : (i+1)*p.servers])}
		alone := solver.Instance{Apps: p.inst.Apps[i : i+1]}
		at.adjusted += alone.AdjustedApps(counts)
		at.moved += alone.Moved(counts)
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

// counts returns the best x.
func (e *enumeration) counts() solver.Counts {
	counts := make(solver.Counts, len(e.p.apps))
	for i := range counts {
		counts[i] = placedRow(e.bestX[i*e.p.servers : (i+1)*e.p.servers])
	}
	return counts
}

// enumerable reports whether the instance is small enough to try.
func (r *run) enumerable() bool { return r.p.servers*len(r.p.apps) <= mostCells }

// enumerate replaces sol by the proven answer if it can finish.
func (r *run) enumerate(ctx context.Context, sol *solver.Solution) {
	e, done := enumerate(ctx, r.root.d, r.root.descent.best, sol.Counts, mulSaturated(nodeWork, int64(r.opts.Effort)))
	r.extra += e.nodes
	if e.ordered {
		counts := e.counts()
		if err := r.p.inst.Check(counts); err != nil {
			panic("embedded: the enumeration's own answer: " + err.Error())
		}
		sol.Status, sol.Counts, sol.Objective = solver.Feasible, counts, r.p.inst.Objective(counts)
	}
	switch {
	case done && e.found:
		sol.Status, sol.Proven, sol.Bound, sol.Searched = solver.Optimal, solver.ByOrder, sol.Objective, true
	case done:
		*sol = *infeasible(smallConflict(ctx, r.p, e.limit))
	}
}
