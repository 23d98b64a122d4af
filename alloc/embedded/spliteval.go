// This file evaluates the Lagrangean decomposition at given multipliers and choices, with its subgradient,
// [Guignard87], [Geoffrion74].

package embedded

import (
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

// splitEval is one evaluation of a split and what it leaves behind.
type splitEval struct {
	selection
	s         *split
	bound     float64
	slope     []float64 // the subgradient of the bound
	worth     []float64 // of a container by type, in patterns
	bestAt    []int     // by class: its best pattern
	bestOf    []float64
	available []bool    // by type: some application of it may be free
	toll      []float64 // by type: what the limits charge for a container
	total     []int64   // by type: containers of the choices
}

func newEval(s *split) *splitEval {
	return &splitEval{
		selection: newSelection(s.p), s: s, slope: make([]float64, splitDim(s)),
		worth: make([]float64, len(s.p.types)), bestAt: make([]int, len(s.ps.classes)),
		bestOf: make([]float64, len(s.ps.classes)), available: make([]bool, len(s.p.types)),
		toll: make([]float64, len(s.p.types)), total: make([]int64, len(s.p.types)),
	}
}

// decide takes over the choices of a node.
func (ev *splitEval) decide(choices []choice) {
	ev.selection.decide(ev.s.p, choices)
	clear(ev.available)
	for i := range ev.s.p.apps {
		a := &ev.s.p.apps[i]
		if !a.keepable || ev.choice[i] == freed || ev.choice[i] == open && ev.budget > 0 {
			ev.available[a.typ] = true
		}
	}
}

// evaluate returns the bound at x for the choices last decided; -Inf where some server cannot hold
// those that must stay. O(patterns x types + subsets + applications log applications).
func (ev *splitEval) evaluate(x []float64) float64 {
	s, p := ev.s, ev.s.p
	types := len(p.types)
	clear(ev.slope)
	lambda := x[types]
	ev.slope[types] = p.inst.LossBudget + solver.LossTolerance
	ev.bound = float64(lambda * ev.slope[types])
	for t := range p.types {
		ev.worth[t] = 0
		if ev.available[t] {
			ev.worth[t] = math.Max(0, p.types[t].value-x[t])
		}
	}
	for g := range ev.bestOf {
		ev.bestAt[g], ev.bestOf[g] = s.ps.best(int32(g), ev.worth)
	}
	if !ev.servers(x[types+1:]) {
		ev.bound = math.Inf(-1)
		return ev.bound
	}
	ev.charge(x[limitsAt(s):])
	ev.applications(x)
	ev.heed(x[limitsAt(s):], ev.slope[limitsAt(s):])
	return ev.bound
}

// servers adds sum_j a_j.
func (ev *splitEval) servers(mu []float64) bool {
	s, types := ev.s, len(ev.s.p.types)
	for at := range s.cells {
		c := &s.cells[at]
		var never uint32
		for b := range c.lodgers {
			i := s.entryApp[c.entry+b]
			if ev.choice[i] == kept || ev.choice[i] == open && ev.budget <= 0 {
				never |= 1 << b
			}
		}
		best, most := int32(-1), math.Inf(-1)
		for n := c.first; n < c.last; n++ {
			sub := s.subsets[n]
			if sub.mask&never != 0 {
				continue
			}
			value := ev.bestOf[sub.class]
			for mask, e := sub.mask, c.entry; mask != 0; mask, e = mask>>1, e+1 {
				if mask&1 != 0 && ev.choice[s.entryApp[e]] == open {
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
		ev.bound += float64(c.size * most)
		sub := s.subsets[best]
		for mask, e := sub.mask, c.entry; mask != 0; mask, e = mask>>1, e+1 {
			if mask&1 != 0 && ev.choice[s.entryApp[e]] == open {
				ev.slope[types+1+int(e)]--
			}
		}
		for t, n := range s.ps.pattern(sub.class, ev.bestAt[sub.class]) {
			if ev.worth[t] > 0 {
				ev.slope[t] -= float64(c.size * float64(n))
			}
		}
	}
	return true
}

// applications adds phi, keep and the best scores.
func (ev *splitEval) applications(x []float64) {
	s, p := ev.s, ev.s.p
	types := len(p.types)
	lambda, mu := x[types], x[types+1:]
	ev.clear()
	for i := range p.apps {
		a := &p.apps[i]
		if !a.keepable || ev.choice[i] == freed {
			n, phi := p.wanted(int32(i), x[a.typ]-ev.toll[a.typ], lambda)
			ev.bound += phi
			ev.want(int32(i), n)
			continue
		}
		keep := p.keepWorth(int32(i), lambda) - float64(ev.toll[a.typ]*float64(a.held))
		ev.bound += keep
		ev.total[a.typ] += a.held
		ev.slope[types] -= a.heldLoss
		if ev.choice[i] == kept {
			continue
		}
		_, phi := p.wanted(int32(i), x[a.typ]-ev.toll[a.typ], lambda)
		gain := phi - keep
		for _, e := range s.entriesOf[s.firstEntry[i]:s.firstEntry[i+1]] {
			gain += mu[e]
		}
		ev.add(int32(i), gain)
	}
	ev.choose()
	for _, sc := range ev.chosen {
		a := &p.apps[sc.app]
		n, _ := p.wanted(sc.app, x[a.typ]-ev.toll[a.typ], lambda)
		ev.bound += sc.gain
		ev.total[a.typ] -= a.held
		ev.slope[types] += a.heldLoss
		ev.want(sc.app, n)
		for _, e := range s.entriesOf[s.firstEntry[sc.app]:s.firstEntry[sc.app+1]] {
			ev.slope[types+1+int(e)]++
		}
	}
}

func (ev *splitEval) want(i int32, n int64) {
	p := ev.s.p
	t := p.apps[i].typ
	ev.slope[t] += float64(n)
	ev.total[t] += n
	ev.slope[len(p.types)] -= p.loss(i, n)
}

// wanted returns the n in [min, max] with the largest price n - lambda loss_i(n), and that value.
// The loss falls by delta a container up to fair, and rises by delta beyond fair + 1.
func (p *problem) wanted(i int32, price, lambda float64) (int64, float64) {
	a := &p.apps[i]
	slope := float64(lambda * p.types[a.typ].delta)
	n := a.min
	if price > -slope {
		n = max(n, a.fair)
	}
	if n == a.fair && n < a.max && price > float64(lambda*(p.loss(i, n+1)-p.loss(i, n))) {
		n++
	}
	if price > slope {
		n = a.max
	}
	return n, float64(price*float64(n)) - float64(lambda*p.loss(i, n))
}

func (p *problem) keepWorth(i int32, lambda float64) float64 {
	a := &p.apps[i]
	return float64(p.types[a.typ].value*float64(a.held)) - float64(lambda*a.heldLoss)
}

func (ev *splitEval) gradient() []float64 { return ev.slope }

// newSplitDescent starts at no price on containers and loss, and at multipliers that share what freeing
// all lodgers of a server would bring there, by their footprint. It has not been started.
func newSplitDescent(ev *splitEval) *descent {
	s, p := ev.s, ev.s.p
	types := len(p.types)
	d := newDescent(ev, splitDim(s), types)
	d.last = limitsAt(s)
	d.firstStep, d.patience = 0.2, 5
	for t := range p.types {
		d.scale[t] = p.types[t].value / (2 * math.Sqrt(float64(p.servers)))
		ev.worth[t] = p.types[t].value
	}
	d.scale[types] = keptLossScale
	for g := range ev.bestOf {
		ev.bestAt[g], ev.bestOf[g] = s.ps.best(int32(g), ev.worth)
	}
	for j := range p.servers {
		c := &s.cells[s.cellOf[j]]
		if c.lodgers == 0 || c.first == c.last { // in the latter case the bound is -Inf anyway
			continue
		}
		var most, foot float64
		none := ev.bestOf[s.subsets[c.first].class]
		for n := c.first; n < c.last; n++ {
			most = math.Max(most, ev.bestOf[s.subsets[n].class]-none)
		}
		for b, i := range p.lodgers[j] {
			foot += p.types[p.apps[i].typ].delta * float64(p.holding[j][b])
		}
		for b, i := range p.lodgers[j] {
			e := types + 1 + int(c.entry) + b
			d.x[e] = most * p.types[p.apps[i].typ].delta * float64(p.holding[j][b]) / foot
			d.scale[e] = math.Max(most, 1e-6) / float64(c.lodgers)
		}
	}
	return d
}
