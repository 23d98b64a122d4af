// This file proves that an instance has no solution and says why: by counting before the search,
// by prices after it, by enumeration where the instance is small.

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

// Plain enumerates inst without prices.
func Plain(ctx context.Context, inst *solver.Instance, limit int64) (*Enumeration, bool) {
	d := lagrange.NewDual(problem.New(inst), false)
	x := make([]float64, d.Dim())
	d.Evaluate(x)
	return Run(ctx, d, x, nil, limit)
}

// lookEvery is how many nodes pass between two looks at the context; a power of two.
const lookEvery = 1024

// Enumeration visits every x row by row, application by application, in lexicographic order. Two
// servers of equal capacity and equal previous allocation are interchangeable: of their columns
// only the ascending order is visited, which the lexicographically smallest x has.
type Enumeration struct {
	p     *problem.Problem
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
	Nodes  int64
	Limit  int64
	Found  bool
	// Ordered says that best was met here, so that any later equal is lexicographically larger.
	Ordered bool
	Best    Rank
	// standing is that of all that have been the best.
	standing problem.Standing
	bestX    []int64
}

// Run visits everything and reports whether it could finish within limit nodes. The prices
// of d, as last evaluated at x, serve as bounds; incumbent may be nil.
func Run(ctx context.Context, d *lagrange.Dual, x []float64, incumbent solver.Counts, limit int64) (*Enumeration, bool) {
	p := d.Problem
	e := &Enumeration{
		p: p, ctx: ctx, left: slices.Clone(p.Capacity), x: make([]int64, len(p.Apps)*p.Servers),
		tied: make([]bool, (len(p.Apps)+1)*p.Servers), Limit: limit, lambda: d.Lambda(x),
	}
	for _, g := range d.ClassOf {
		e.price = append(e.price, x[int(g)*p.Kinds:(int(g)+1)*p.Kinds]...)
	}
	e.findTwins()
	e.boundSuffixes(d)
	if incumbent != nil {
		e.Found = true
		e.accept(RankOf(p.Inst, incumbent))
	}
	return e, e.app(0, Rank{})
}

// findTwins links every server to the last one before it with equal capacity and residents.
func (e *Enumeration) findTwins() {
	p := e.p
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
		e.tied[j] = true
		for h := j - 1; h >= 0 && e.twin[j] < 0; h-- {
			if p.Inst.Capacity[h].Equal(p.Inst.Capacity[j]) && slices.Equal(held[h], held[j]) {
				e.twin[j] = h
			}
		}
	}
}

// boundSuffixes fills after, spare and must from the free and keep values of d.
func (e *Enumeration) boundSuffixes(d *lagrange.Dual) {
	p := e.p
	n := len(p.Apps)
	e.after, e.spare, e.must = make([][]float64, n+1), make([]float64, n+1), make([]int64, n+1)
	var base float64
	var gains []float64
	for i := n; i >= 0; i-- {
		if i < n {
			a := &p.Apps[i]
			e.spare[i] = e.spare[i+1] + p.LeastLoss(int32(i), true)
			e.must[i] = e.must[i+1]
			if a.Pinnable {
				base += d.Keep[i]
				gains = append(gains, math.Max(0, d.Free[i]-d.Keep[i]))
				slices.SortFunc(gains, func(x, y float64) int { return cmp.Compare(y, x) })
			} else {
				base += d.Free[i]
				if p.Inst.Apps[i].Running {
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
func (e *Enumeration) app(i int, at Rank) bool {
	if e.hopeless(i, &at) {
		return true
	}
	if i == len(e.p.Apps) {
		e.Found, e.Ordered = true, true
		e.accept(at)
		e.bestX = append(e.bestX[:0], e.x...)
		return true
	}
	return e.cell(i, 0, 0, at)
}

// hopeless reports whether nothing preferred to best can follow, or nothing feasible at all.
func (e *Enumeration) hopeless(i int, at *Rank) bool {
	inst := e.p.Inst
	spareAdjust := inst.AdjustBudget - at.Adjusted - e.must[i]
	least := at.Loss + e.spare[i]
	if spareAdjust < 0 || least > inst.LossBudget+solver.LossTolerance/2 {
		return true
	}
	if !e.Found {
		return false
	}
	if i == len(e.p.Apps) {
		return e.beaten(at)
	}
	bound := at.Objective + float64(e.lambda*(inst.LossBudget+solver.LossTolerance-at.Loss))
	for jk, price := range e.price {
		bound += float64(price * float64(e.left[jk]))
	}
	after := e.after[i]
	bound += after[min(spareAdjust, int64(len(after)-1))]
	hope := Rank{bound, least, at.Adjusted, at.Moved}
	return e.beaten(&hope)
}

// beaten reports whether at is not preferred to best, be it by order only.
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
func (e *Enumeration) cell(i, j int, n int64, at Rank) bool {
	e.Nodes++
	if e.Nodes > e.Limit || e.Nodes%lookEvery == 0 && e.ctx.Err() != nil {
		return false
	}
	p := e.p
	a := &p.Apps[i]
	if j == p.Servers {
		return n < a.Min || e.row(i, n, at)
	}
	row := i * p.Servers
	most := a.Max - n
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
	for c := least; c <= most; c++ {
		e.x[row+j] = c
		e.tied[row+p.Servers+j] = tied && c == least
		e.use(j, a.Type, c)
		done := e.cell(i, j+1, n+c, at)
		e.use(j, a.Type, -c)
		if !done {
			e.x[row+j] = 0
			return false
		}
	}
	e.x[row+j] = 0
	return true
}

func (e *Enumeration) use(j int, t int32, n int64) {
	for k, q := range e.p.DemandOf(t) {
		e.left[j*e.p.Kinds+k] -= n * q
	}
}

// row closes the row of application i and goes on with the next one.
func (e *Enumeration) row(i int, n int64, at Rank) bool {
	p := e.p
	source := &p.Inst.Apps[i]
	at.Objective += float64(p.Types[p.Apps[i].Type].Value * float64(n))
	at.Loss += p.Loss(int32(i), n)
	if source.Running {
		counts := solver.Counts{placedRow(e.x[i*p.Servers : (i+1)*p.Servers])}
		alone := solver.Instance{Apps: p.Inst.Apps[i : i+1]}
		at.Adjusted += alone.AdjustedApps(counts)
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
func (e *Enumeration) Counts() solver.Counts {
	counts := make(solver.Counts, len(e.p.Apps))
	for i := range counts {
		counts[i] = placedRow(e.bestX[i*e.p.Servers : (i+1)*e.p.Servers])
	}
	return counts
}
