// This file shifts room between two applications whose numbers of containers come in jumps, which moves of single containers hardly
// cross, [Schrimpf00].

package embedded

import (
	"cmp"
	"context"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/solver"
)

// shift gives an application its next larger number, and mostly another one its next smaller, as long as what gains most so can be
// placed. O(applications^2 x kinds) and the placing of a few choices for each.
func (r *run) shift(ctx context.Context) {
	if r.p.Plain || r.p.Spreads || len(r.p.Ceilings) > 0 || r.opts.Effort <= Quick {
		return
	}
	q := packer{r.p.Inst, r.tune, r.opts.Seed}
	for r.a.Best.Found && !r.reached() && ctx.Err() == nil {
		placed := q.first(ctx, newShifts(r.p.Inst, r.p.Decode(&r.a.Best)).best(r.tune.Packed))
		if placed == nil {
			return
		}
		before := r.a.Best.Objective
		if r.a.Load(placed); r.a.Best.Objective <= before+solver.ObjectiveTolerance {
			return
		}
	}
}

// shifts are the numbers of a solution, and what it leaves of the joined servers and of the budgets.
type shifts struct {
	inst    *solver.Instance
	numbers []int64
	left    []int64
	loss    float64
	adjust  int64
}

// newShifts returns what counts, a solution, leave.
func newShifts(inst *solver.Instance, counts solver.Counts) *shifts {
	s := &shifts{inst: inst, left: slices.Clone(inst.Total), loss: inst.LossBudget, adjust: inst.AdjustBudget}
	for i := range inst.Apps {
		n := solver.Containers(counts[i])
		if app := &inst.Apps[i]; app.Running && !app.Adjusted(counts[i]) {
			n = lagrange.Stays
		}
		s.numbers = append(s.numbers, n)
		s.take(i, n, 1)
	}
	return s
}

// containers returns how many application i has where its number is n.
func (s *shifts) containers(i int, n int64) int64 {
	if n == lagrange.Stays {
		return solver.Containers(s.inst.Apps[i].Previous)
	}
	return n
}

// take takes what application i uses with a number from what is left, or gives it back with sign -1.
func (s *shifts) take(i int, n, sign int64) {
	app, have := &s.inst.Apps[i], s.containers(i, n)
	for k, q := range app.Demand {
		s.left[k] -= sign * have * q
	}
	s.loss -= float64(float64(sign) * app.Loss(have))
	if n != lagrange.Stays && app.Running {
		s.adjust -= sign * min(app.Cost, app.CostOf(n))
	}
}

// brings returns what application i is worth with a number.
func (s *shifts) brings(i int, n int64) float64 {
	app, have := &s.inst.Apps[i], s.containers(i, n)
	extra := app.Extra(have)
	if n == lagrange.Stays {
		extra = app.Kept()
	}
	return float64(app.Value*float64(have)) + extra - float64(s.inst.LossPrice*app.Loss(have))
}

// fits reports whether what is left is enough.
func (s *shifts) fits() bool {
	return s.adjust >= 0 && s.loss >= -solver.LossTolerance/2 && !slices.ContainsFunc(s.left, func(q int64) bool { return q < 0 })
}

// next returns the number of application i after its own, up or down, and whether it may have another.
func (s *shifts) next(i int, up bool) (int64, bool) {
	app, n := &s.inst.Apps[i], s.containers(i, s.numbers[i])
	if up {
		n = app.AtLeast(n + 1)
	} else {
		n = app.AtMost(n - 1)
	}
	return n, n >= 0 && !app.Pinned
}

// best returns the numbers after the shifts that gain most, the best first.
func (s *shifts) best(most int) [][]int64 {
	type found struct {
		gain     float64
		up, down int
	}
	var all []found
	for i := range s.numbers {
		more, ok := s.next(i, true)
		if !ok {
			continue
		}
		s.take(i, s.numbers[i], -1)
		s.take(i, more, 1)
		gain := s.brings(i, more) - s.brings(i, s.numbers[i])
		if gain > solver.ObjectiveTolerance && s.fits() {
			all = append(all, found{gain, i, -1})
		}
		for j := range s.numbers {
			less, ok := s.next(j, false)
			if !ok || j == i {
				continue
			}
			s.take(j, s.numbers[j], -1)
			s.take(j, less, 1)
			if gain := gain + s.brings(j, less) - s.brings(j, s.numbers[j]); gain > solver.ObjectiveTolerance && s.fits() {
				all = append(all, found{gain, i, j})
			}
			s.take(j, less, -1)
			s.take(j, s.numbers[j], 1)
		}
		s.take(i, more, -1)
		s.take(i, s.numbers[i], 1)
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(b.gain, a.gain) })
	var choices [][]int64
	for _, f := range all[:min(most, len(all))] {
		numbers := slices.Clone(s.numbers)
		numbers[f.up], _ = s.next(f.up, true)
		if f.down >= 0 {
			numbers[f.down], _ = s.next(f.down, false)
		}
		choices = append(choices, numbers)
	}
	return choices
}
