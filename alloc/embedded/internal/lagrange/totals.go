// This file bounds an instance by what all applications use together: servers that have an application in common are one
// large server, and every application has one of its ways, [Geoffrion74].

package lagrange

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

const (
	// mostListed bounds the ways of all applications together, mostWide the kinds of all cells, and mostRows the quantities
	// that are kept exactly.
	mostListed, mostWide, mostRows = 20_000, 64, 6
	// totalCuts is how many cuts the descent of Totals keeps: it has few components.
	totalCuts = 20
	// Stays in place of a number of containers is what an application holds, where it is.
	Stays = -1
)

// Totals is an instance whose servers are joined, the relaxation of (6) by cells: servers are in one cell where some
// application may use both. What an application holds elsewhere it may keep there. It is an Oracle: its prices, on what a
// cell has of a kind, on (16) and on (15), are few.
type Totals struct {
	p       *problem.Problem
	takers  []taker
	limits  []int64 // by row: a kind of a cell, and last (16), as far as it can be exceeded
	losses  float64 // the budget (15)
	descent *Descent
	slope   []float64
}

// taker is an application, with all its options.
type taker struct{ ways []totalWay }

// totalWay is one way that an application may have: n containers of an entry in Apps, or Stays; n = 0 for none.
type totalWay struct {
	app         int32
	n           int64
	value, loss float64
	use         []int64 // by row
}

// NewTotals joins the servers of p, an instance with every option apart, of which choices are the applications with
// options and losses the budget (15) of the instance that has them; nil where that has too many ways or ceilings.
func NewTotals(p *problem.Problem, choices []solver.Choice, losses float64) *Totals {
	t := &Totals{p: p, losses: losses + solver.LossTolerance}
	if len(p.Ceilings) > 0 || !t.list(choices) || !t.compress() {
		return nil
	}
	t.slope = make([]float64, len(t.limits)+1)
	t.descent = newDescent(t, len(t.slope), 0, totalCuts)
	for r, limit := range t.limits {
		t.descent.Scale[r] = p.Scale / math.Max(1, float64(limit))
	}
	t.descent.Scale[len(t.limits)] = p.Scale
	t.descent.Start()
	return t
}

// list lists the ways of all applications in rows of cells and of (16), and reports whether they are few enough.
func (t *Totals) list(choices []solver.Choice) bool {
	p := t.p
	cells := newCells(p.Inst)
	if cells.count*p.Kinds > mostWide {
		return false
	}
	t.limits = make([]int64, cells.count*p.Kinds+1)
	for j := range p.Servers {
		for k := range p.Kinds {
			at := cells.ofServer(j)*p.Kinds + k
			t.limits[at] = problem.AddSaturated(t.limits[at], p.Capacity[j*p.Kinds+k])
		}
	}
	t.limits[len(t.limits)-1] = p.Inst.AdjustBudget
	l := lister{t: t, cells: cells}
	inChoice := make([]bool, len(p.Apps))
	for c := range choices {
		var one taker
		for _, i := range choices[c].Apps {
			inChoice[i] = true
			l.some(&one, i)
		}
		// The entry that runs, if any, says what it takes to have nothing.
		if head := headOf(p.Inst, &choices[c]); !choices[c].Required {
			l.none(&one, head)
		}
		for _, i := range choices[c].Apps {
			l.leave(&one, i)
		}
		t.takers = append(t.takers, one)
	}
	for i := range p.Apps {
		if !inChoice[i] {
			var one taker
			if p.Inst.Apps[i].Allows(0) {
				l.none(&one, i)
			}
			l.some(&one, i)
			t.takers = append(t.takers, one)
		}
	}
	return l.listed <= mostListed
}

// headOf returns the option of a choice that runs, or its first one.
func headOf(inst *solver.Instance, choice *solver.Choice) int {
	for _, i := range choice.Apps {
		if inst.Apps[i].Running {
			return i
		}
	}
	return choice.Apps[0]
}

// compress leaves out the rows that no choice of ways exceeds, and reports whether few enough are left and everybody has
// a way.
func (t *Totals) compress() bool {
	most := make([]int64, len(t.limits))
	for a := range t.takers {
		if len(t.takers[a].ways) == 0 {
			return false
		}
		for r := range most {
			largest := int64(0)
			for w := range t.takers[a].ways {
				largest = max(largest, t.takers[a].ways[w].use[r])
			}
			most[r] = problem.AddSaturated(most[r], largest)
		}
	}
	var kept []int
	for r := range most {
		if most[r] > t.limits[r] {
			kept = append(kept, r)
		}
	}
	for a := range t.takers {
		for w := range t.takers[a].ways {
			t.takers[a].ways[w].use = pick(t.takers[a].ways[w].use, kept)
		}
	}
	t.limits = pick(t.limits, kept)
	return len(kept) <= mostRows
}

// pick returns some entries.
func pick(all []int64, which []int) []int64 {
	some := make([]int64, len(which))
	for to, from := range which {
		some[to] = all[from]
	}
	return some
}

// Lower lowers the bound by so many rounds.
func (t *Totals) Lower(ctx context.Context, rounds int) float64 {
	t.descent.Run(ctx, rounds, BlindTarget*t.descent.Bound, math.Inf(-1))
	return t.descent.Bound
}

// Evaluate implements Oracle:
//
//	bound = sum_r x_r limit_r + lambda L + sum_i max over its ways of value - lambda loss - sum_r x_r use_r
//
// O(ways rows).
func (t *Totals) Evaluate(x []float64) float64 {
	last := len(t.limits)
	bound := float64(x[last] * t.losses)
	for r, limit := range t.limits {
		t.slope[r] = float64(limit)
		bound += float64(x[r] * float64(limit))
	}
	t.slope[last] = t.losses
	for a := range t.takers {
		at, value := t.takers[a].best(x)
		bound += value
		way := &t.takers[a].ways[at]
		for r, q := range way.use {
			t.slope[r] -= float64(q)
		}
		t.slope[last] -= way.loss
	}
	return bound
}

func (t *Totals) gradient() []float64 { return t.slope }

// best returns the way that brings most at prices, and what it brings.
func (a *taker) best(x []float64) (at int, value float64) {
	value = math.Inf(-1)
	for w := range a.ways {
		if v := a.ways[w].priced(x); v > value {
			at, value = w, v
		}
	}
	return at, value
}

// priced returns what a way brings less what it pays.
func (w *totalWay) priced(x []float64) float64 {
	v := w.value - float64(x[len(w.use)]*w.loss)
	for r, q := range w.use {
		v -= float64(x[r] * float64(q))
	}
	return v
}
