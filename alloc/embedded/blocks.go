// This file solves the root bound of a cluster where nothing may stay to the end: Dantzig-Wolfe
// decomposition with a block for each type of demand, [Dantzig60].

package embedded

import (
	"context"
	"math"
)

const (
	// mostBlockRows bounds the rows of the program: a pivot costs their square.
	mostBlockRows = 400
	// blockPivots bounds its pivots.
	blockPivots = 4000
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
type blocks struct {
	d     *dual
	lp    master
	row   []int     // of gk, -1 where there is none of it
	chose []float64 // what a type's choice uses, by gk, then its loss
}

// closeBlocks improves desc, which must be about d with every application free, until its bound is
// proven to be the least, or the pivots are used up, or the bound is at most stop.
func closeBlocks(ctx context.Context, desc *descent, stop float64) {
	d := desc.f.(*dual)
	b := &blocks{d: d, row: make([]int, len(d.have)), chose: make([]float64, d.dim())}
	if !b.open() {
		return
	}
	// The program starts with the choices at the best prices so far.
	desc.back()
	b.price(desc)
	for b.lp.pivots < blockPivots && desc.bound > stop && ctx.Err() == nil {
		b.lp.optimize()
		for gk, row := range b.row {
			if row >= 0 {
				desc.x[gk] = math.Max(0, b.lp.dual[row]) / d.have[gk]
			}
		}
		desc.x[len(desc.x)-1] = math.Max(0, b.lp.dual[b.lossRow()])
		if !b.price(desc) || desc.bound-b.lp.objective() <= closeEnough {
			return
		}
	}
}

func (b *blocks) lossRow() int { return b.lp.rows - len(b.d.p.types) - 1 }

// open starts the program without any choice, at a cost far above what one can be worth.
func (b *blocks) open() bool {
	d := b.d
	var right []float64
	for gk, have := range d.have {
		b.row[gk] = -1
		if have > 0 {
			b.row[gk] = len(right)
			right = append(right, 1)
		}
	}
	right = append(right, d.allowed)
	types := len(d.p.types)
	rows := len(right) + types
	if rows > mostBlockRows || d.allowed < 0 {
		return false
	}
	sign, cost := make([]float64, rows), make([]float64, rows)
	for row := range sign {
		sign[row] = 1
	}
	for row := len(right); row < rows; row++ {
		cost[row] = -float64(shortageCost * d.p.kinds)
	}
	for range types {
		right = append(right, 1)
	}
	b.lp.reset(sign, cost, right)
	return true
}

// price evaluates the bound at desc.x, keeps it if it is better, and adds the choices that improve the
// program. Capacities count in parts of what there is.
func (b *blocks) price(desc *descent) bool {
	d := b.d
	desc.rounds++
	if bound := d.evaluate(desc.x); bound < desc.bound {
		desc.bound = bound
		copy(desc.best, desc.x)
	}
	added := false
	for t := range d.p.types {
		value := d.chosenBy(int32(t), b.chose)
		c := b.lp.add(value)
		column := b.lp.column(c)
		for gk, row := range b.row {
			if row >= 0 {
				column[row] = b.chose[gk] / d.have[gk]
			}
		}
		column[b.lossRow()] = b.chose[len(b.chose)-1]
		column[b.lossRow()+1+t] = 1
		if b.lp.reduced(c) <= reducedCost {
			b.lp.drop()
			continue
		}
		added = true
	}
	return added
}

// chosenBy returns the value of what the applications of type t chose when d was last evaluated, and sets
// into to what they use and lose.
func (d *dual) chosenBy(t int32, into []float64) float64 {
	clear(into)
	var value float64
	for _, i := range d.p.types[t].members {
		d.useFree(i, into)
		value += float64(d.p.types[t].value * float64(d.count[i]))
	}
	for c := range into {
		into[c] = -into[c]
	}
	return value
}
