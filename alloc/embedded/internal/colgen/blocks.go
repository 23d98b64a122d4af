// This file solves the root bound of a cluster where nothing may stay to the end: Dantzig-Wolfe
// decomposition with a block for each type of demand, [Dantzig60].

package colgen

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
)

const (
	// mostBlockRows bounds the rows of the program: a pivot costs their square.
	mostBlockRows = 400
	// pivotsPerRow bounds its pivots, for each of its rows.
	pivotsPerRow = 20
	// columnsPerRow is how many columns the program may have for each of its rows: with more it forgets
	// the half that is worth least.
	columnsPerRow = 8
)

// blocks is the linear program behind dual where every application is free. Its columns are what all
// applications of a type choose at some prices: containers by class, loss and value. Over them
//
//	maximize   value
//	subject to what is used of kind k on the servers of class g <= what there is   price p_gk
//	           loss <= L                                                          price lambda
//	           one choice for each type
//
// Its optimum is the least bound that any prices prove.
//
// since by linear programming duality its dual is to minimize the Dual's bound over the prices. A type's
// choices are the vertices of what its members can take; the value of Dual.Evaluate at the duals prices
// them, and gives a valid bound in every round, however early the rounds end.
//
// Memory is that of a master with at most mostBlockRows rows and columnsPerRow columns a row, each of at
// most rows entries.
type blocks struct {
	d     *lagrange.Dual
	lp    master
	row   []int     // of gk, -1 where there is none of it
	chose []float64 // what a type's choice uses, by gk, then its loss
	// column is scratch: the choice as a column.
	column []entry
}

// CloseBlocks improves desc, which must be about d with every application free, until its bound is
// proven to be the least, or the pivots are used up, or the bound is at most stop. It returns the program, nil
// where that would be too large.
// Its result is no less exact when it ends early: desc keeps the best bound met.
func CloseBlocks(ctx context.Context, desc *lagrange.Descent, stop float64) *blocks {
	d := desc.F.(*lagrange.Dual)
	b := &blocks{d: d, row: make([]int, len(d.Have)), chose: make([]float64, d.Dim())}
	if !b.open() {
		return nil
	}
	// The program starts with the choices at the best prices so far.
	desc.Back()
	b.price(desc)
	b.run(ctx, desc, stop)
	return b
}

// run adds choices until the bound is at most stop, or none improves the program. Every round but the last one
// pivots, and each adds at most one column for each type.
// A round: 1. optimize the restricted program; 2. take its duals as prices; 3. evaluate there, which
// bounds the program from above; 4. add each type's choice where it has a positive reduced cost. It ends
// when program and bound meet, the optimum, or when no column improves.
func (b *blocks) run(ctx context.Context, desc *lagrange.Descent, stop float64) {
	d := b.d
	for desc.Bound > stop && ctx.Err() == nil {
		optimal := b.lp.optimize()
		for gk, row := range b.row {
			// The rows are scaled to capacity 1, so that the dual is the worth of all of the kind
			// in the class:
			// p_gk = dual / have. Rounding may leave it just below 0, where a price proves nothing.
			if row >= 0 {
				desc.X[gk] = math.Max(0, b.lp.dual[row]) / d.Have[gk]
			}
		}
		desc.X[len(desc.X)-1] = math.Max(0, b.lp.dual[b.lossRow()])
		// Without optimal the duals are no shadow prices, and more rounds could go on for
		// ever: columns would be added that no pivot is left for.
		if !b.price(desc) || !optimal || desc.Bound-b.lp.objective() <= closeEnough {
			return
		}
		// After a round there may be types more than that, hence forget at once and leave
		// half.
		if most := columnsPerRow * b.lp.rows; len(b.lp.cost) > most {
			b.lp.forget(most / 2)
		}
	}
}

// lossRow returns the row of the loss budget: after the capacities, before the choices
// of types.
func (b *blocks) lossRow() int { return b.lp.rows - len(b.d.Problem.Types) - 1 }

// open starts the program without any choice, at a cost far above what one can be worth.
// Rows, in this order: one for each (class, kind) that there is some of, right side 1; the loss, right side
// L; one for each type, right side 1, that its choices' weights sum to 1. The basic variables of the last
// ones are artificial and cost -shortageCost kinds: where the instance has a solution they are 0 in
// the optimum, since nothing that a choice is worth pays for one.
func (b *blocks) open() bool {
	d := b.d
	var right []float64
	for gk, have := range d.Have {
		b.row[gk] = -1
		if have > 0 {
			b.row[gk] = len(right)
			right = append(right, 1)
		}
	}
	right = append(right, d.Allowed)
	types := len(d.Problem.Types)
	// A negative budget would need an artificial variable in the loss row, and no
	// solution has a negative loss anyway.
	rows := len(right) + types
	if rows > mostBlockRows || d.Allowed < 0 {
		return false
	}
	sign, cost := make([]float64, rows), make([]float64, rows)
	for row := range sign {
		sign[row] = 1
	}
	for row := len(right); row < rows; row++ {
		cost[row] = -float64(shortageCost * d.Problem.Kinds)
	}
	for range types {
		right = append(right, 1)
	}
	b.lp.reset(sign, cost, right)
	b.lp.most = pivotsPerRow * rows
	return true
}

// price evaluates the bound at desc.x, keeps it if it is better, and adds the choices that improve the
// program. Capacities count in parts of what there is.
// It reports whether any column was added.
func (b *blocks) price(desc *lagrange.Descent) bool {
	d := b.d
	desc.Rounds++
	if bound := d.Evaluate(desc.X); bound < desc.Bound {
		desc.Bound = bound
		copy(desc.Best, desc.X)
	}
	added := false
	for t := range d.Problem.Types {
		// At these prices Evaluate chose for each type a maximizer of value - p use - lambda
		// loss: the column of the largest reduced cost in its block.
		value := d.ChosenBy(int32(t), b.chose)
		b.column = b.column[:0]
		for gk, row := range b.row {
			if row >= 0 && b.chose[gk] != 0 {
				b.column = append(b.column, entry{row, b.chose[gk] / d.Have[gk]})
			}
		}
		b.column = append(b.column, entry{b.lossRow(), b.chose[len(b.chose)-1]}, entry{b.lossRow() + 1 + t, 1})
		added = b.lp.offer(value, b.column) || added
	}
	return added
}
