// This file evaluates the Lagrangean decomposition at given multipliers and choices, with its subgradient,
// [Guignard87], [Geoffrion74].

package lagrange

import (
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// The multipliers are one vector: types prices, then lambda, then mu by entry, then one by
// kind, of any sign, for the limits.
func Dim(s *pattern.Cells) int { return LimitsAt(s) + s.Problem.Kinds }

// LimitsAt returns where the multipliers of limits start in a vector of multipliers.
func LimitsAt(s *pattern.Cells) int { return len(s.Problem.Types) + 1 + len(s.EntryApp) }

// CopyPrices spells x out for solver.CopyBound.
func CopyPrices(s *pattern.Cells, x []float64) *solver.CopyPrices {
	p, types := s.Problem, len(s.Problem.Types)
	m := &solver.CopyPrices{Container: make([]float64, len(p.Apps)), Loss: x[types], Room: make([][]float64, len(p.Apps))}
	for i := range p.Apps {
		m.Container[i] = x[p.Apps[i].Type]
		// Entries come in the order of the servers, as those of Previous.
		for _, e := range s.EntriesOf[s.FirstEntry[i]:s.FirstEntry[i+1]] {
			m.Room[i] = append(m.Room[i], x[types+1+int(e)])
		}
	}
	return m
}

// Decomposition is one evaluation of a split and what it leaves behind.
type Decomposition struct {
	Selection
	s         *pattern.Cells
	bound     float64
	slope     []float64 // the subgradient of the bound
	worth     []float64 // of a container by type, in patterns
	bestAt    []int     // by class: its best pattern
	bestOf    []float64
	available []bool    // by type: some application of it may be free
	surcharge []float64 // by type: what the limits charge for a container
	total     []int64   // by type: containers of the choices
}

// NewDecomposition returns an evaluation over the cells of s in which every choice is open.
func NewDecomposition(s *pattern.Cells) *Decomposition {
	return &Decomposition{
		Selection: newSelection(s.Problem), s: s, slope: make([]float64, Dim(s)),
		worth: make([]float64, len(s.Problem.Types)), bestAt: make([]int, len(s.Lists.Classes)),
		bestOf: make([]float64, len(s.Lists.Classes)), available: make([]bool, len(s.Problem.Types)),
		surcharge: make([]float64, len(s.Problem.Types)), total: make([]int64, len(s.Problem.Types)),
	}
}

// Decide takes over the choices of a node.
func (ev *Decomposition) Decide(choices []problem.Choice) {
	ev.Selection.decide(ev.s.Problem, choices)
	clear(ev.available)
	for i := range ev.s.Problem.Apps {
		a := &ev.s.Problem.Apps[i]
		if !a.Pinnable || ev.choice[i] == problem.Freed || ev.choice[i] == problem.Open && ev.Budget > 0 {
			ev.available[a.Type] = true
		}
	}
}

// Evaluate returns the bound at x for the choices last decided; -Inf where some server cannot hold
// those that must stay. O(patterns x types + subsets + applications log applications).
func (ev *Decomposition) Evaluate(x []float64) float64 {
	s, p := ev.s, ev.s.Problem
	types := len(p.Types)
	clear(ev.slope)
	lambda := x[types]
	ev.slope[types] = p.Inst.LossBudget + solver.LossTolerance
	ev.bound = float64(lambda * ev.slope[types])
	for t := range p.Types {
		ev.worth[t] = 0
		if ev.available[t] {
			ev.worth[t] = math.Max(0, p.Types[t].Value-x[t])
		}
	}
	for g := range ev.bestOf {
		ev.bestAt[g], ev.bestOf[g] = s.Lists.Best(int32(g), ev.worth)
	}
	if !ev.servers(x[types+1:]) {
		ev.bound = math.Inf(-1)
		return ev.bound
	}
	ev.setSurcharges(x[LimitsAt(s):])
	ev.applications(x)
	ev.respectLimits(x[LimitsAt(s):], ev.slope[LimitsAt(s):])
	return ev.bound
}

// servers adds sum_j a_j.
func (ev *Decomposition) servers(mu []float64) bool {
	s, types := ev.s, len(ev.s.Problem.Types)
	for at := range s.Cells {
		c := &s.Cells[at]
		var never uint32
		for b := range c.Residents {
			i := s.EntryApp[c.Entry+b]
			if ev.choice[i] == problem.Kept || ev.choice[i] == problem.Open && ev.Budget <= 0 {
				never |= 1 << b
			}
		}
		best, most := int32(-1), math.Inf(-1)
		for n := c.First; n < c.Last; n++ {
			sub := s.Subsets[n]
			if sub.Mask&never != 0 {
				continue
			}
			value := ev.bestOf[sub.Class]
			for mask, e := sub.Mask, c.Entry; mask != 0; mask, e = mask>>1, e+1 {
				if mask&1 != 0 && ev.choice[s.EntryApp[e]] == problem.Open {
					value -= mu[e]
				}
			}
			if value > most {
				best, most = n, value
			}
		}
		if best < 0 {
			return false
		}
		ev.bound += float64(c.Size * most)
		sub := s.Subsets[best]
		for mask, e := sub.Mask, c.Entry; mask != 0; mask, e = mask>>1, e+1 {
			if mask&1 != 0 && ev.choice[s.EntryApp[e]] == problem.Open {
				ev.slope[types+1+int(e)]--
			}
		}
		for t, n := range s.Lists.Pattern(sub.Class, ev.bestAt[sub.Class]) {
			if ev.worth[t] > 0 {
				ev.slope[t] -= float64(c.Size * float64(n))
			}
		}
	}
	return true
}

// applications adds phi, keep and the best scores.
func (ev *Decomposition) applications(x []float64) {
	s, p := ev.s, ev.s.Problem
	types := len(p.Types)
	lambda, mu := x[types], x[types+1:]
	ev.clear()
	for i := range p.Apps {
		a := &p.Apps[i]
		if !a.Pinnable || ev.choice[i] == problem.Freed {
			n, phi := p.Wanted(int32(i), x[a.Type]-ev.surcharge[a.Type], lambda)
			ev.bound += phi
			ev.want(int32(i), n)
			continue
		}
		keep := p.KeepWorth(int32(i), lambda) - float64(ev.surcharge[a.Type]*float64(a.Held))
		ev.bound += keep
		ev.total[a.Type] += a.Held
		ev.slope[types] -= a.HeldLoss
		if ev.choice[i] == problem.Kept {
			continue
		}
		_, phi := p.Wanted(int32(i), x[a.Type]-ev.surcharge[a.Type], lambda)
		gain := phi - keep
		for _, e := range s.EntriesOf[s.FirstEntry[i]:s.FirstEntry[i+1]] {
			gain += mu[e]
		}
		ev.add(int32(i), gain)
	}
	ev.choose()
	for _, sc := range ev.Chosen {
		a := &p.Apps[sc.App]
		n, _ := p.Wanted(sc.App, x[a.Type]-ev.surcharge[a.Type], lambda)
		ev.bound += sc.Gain
		ev.total[a.Type] -= a.Held
		ev.slope[types] += a.HeldLoss
		ev.want(sc.App, n)
		for _, e := range s.EntriesOf[s.FirstEntry[sc.App]:s.FirstEntry[sc.App+1]] {
			ev.slope[types+1+int(e)]++
		}
	}
}

func (ev *Decomposition) want(i int32, n int64) {
	p := ev.s.Problem
	t := p.Apps[i].Type
	ev.slope[t] += float64(n)
	ev.total[t] += n
	ev.slope[len(p.Types)] -= p.Loss(i, n)
}

func (ev *Decomposition) gradient() []float64 { return ev.slope }
