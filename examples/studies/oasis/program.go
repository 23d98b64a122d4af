// This file states what could be earned in a window as a linear program, for a solver of package milp.

package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/apportion/apportion/alloc/milp"
)

// interval is a stretch of slots in which no job arrives and none has a deadline.
type interval struct{ first, last int }

// intervals returns the stretches between the window's arrivals and deadlines, ascending.
func (w *window) intervals() []interval {
	starts := []int{w.last() + 1}
	for i := range w.jobs {
		starts = append(starts, w.jobs[i].arrival)
		for _, d := range w.jobs[i].Deadlines {
			starts = append(starts, d.By+1)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	out := make([]interval, len(starts)-1)
	for i := range out {
		out[i] = interval{starts[i], starts[i+1] - 1}
	}
	return out
}

// program states the program of bound with intervals in place of slots:
//
//	max sum v_jk y_jk; sum_I x_jkI = W_j y_jk; x_jkI <= w_j |I| y_jk; sum_k y_jk <= 1; sum_jk x_jkI <= sum_I C_t.
//
// Its optimum is that of the slots where the capacity is the same in all slots of an interval, as their mean is a solution too; else
// it is no less.
func (w *window) program(h hardship) (*milp.Model, error) {
	b := milp.NewBuilder("window")
	pieces := w.intervals()
	taken := make([][]milp.Term, len(pieces))
	var worth []milp.Term
	for i := range w.jobs {
		j := &w.jobs[i]
		var chosen []milp.Term
		for _, d := range j.Deadlines {
			y := b.Continuous(0, 1, "")
			chosen, worth = append(chosen, milp.Term{Var: y, Coef: 1}), append(worth, milp.Term{Var: y, Coef: d.Value})
			work := []milp.Term{{Var: y, Coef: -float64(j.Work)}}
			for at, piece := range pieces {
				if piece.first < j.arrival || piece.last > d.By {
					continue
				}
				most := float64(j.Width * int64(piece.last-piece.first+1))
				x := b.Continuous(0, min(most, float64(j.Work)), "")
				work, taken[at] = append(work, milp.Term{Var: x, Coef: 1}), append(taken[at], milp.Term{Var: x, Coef: 1})
				if most < float64(j.Work) {
					b.AtMost("", []milp.Term{{Var: x, Coef: 1}, {Var: y, Coef: -most}}, 0)
				}
			}
			b.Equal("", work, 0)
		}
		b.AtMost("", chosen, 1)
	}
	capacity := w.capacities(h)
	for now, at := 1, 0; at < len(pieces); at++ {
		room := int64(0)
		for ; now <= pieces[at].last; now++ {
			if c := capacity(now); now >= pieces[at].first {
				room += c
			}
		}
		b.AtMost("", taken[at], float64(room))
	}
	b.Maximize(worth, 0)
	return b.Build()
}

// optimum returns the optimum of the program by a solver.
func (w *window) optimum(ctx context.Context, solver milp.Solver, h hardship) (float64, error) {
	model, err := w.program(h)
	if err != nil {
		return 0, err
	}
	solution, err := milp.Solve(ctx, solver, model, nil)
	if err == nil && solution.Status != milp.Optimal {
		err = fmt.Errorf("%s, seed %d: the linear program: %v", w.family, w.seed, solution.Status)
	}
	return solution.Objective, err
}
