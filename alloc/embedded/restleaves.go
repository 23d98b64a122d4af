// This file answers leaves where the servers as they are hold too much for lists of patterns: with most
// applications kept, what is left of them is small.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// restLeaves answers sets by an instance of their own: the free applications, all of them new, on what
// the kept ones leave, with what loss budget they leave. Its residual problem is that of the set.
type restLeaves struct {
	answers
	best     incumbent
	patterns int // that the lists of one leaf may have
}

func newRestLeaves(p *problem) *restLeaves {
	return &restLeaves{answers: newAnswers(p), patterns: mostPatterns}
}

// learn takes notice of the best solution that others have found, and reports whether that is news.
func (l *restLeaves) learn(best *incumbent) bool {
	if !best.found || l.found && best.objective <= l.value {
		return false
	}
	l.found, l.value = true, best.objective
	return true
}

// rest is the instance of a set.
type rest struct {
	inst  solver.Instance
	apps  []int32 // of the problem, by application of inst
	fixed float64 // value of the kept
	loss  float64 // of the kept
}

// restOf returns nil where the kept applications do not fit.
func (l *restLeaves) restOf(free func(i int32) bool) *rest {
	p := l.p
	r := &rest{}
	r.inst.Total = p.total
	r.inst.Capacity = make([]apportion.Resources, p.servers)
	left := append([]int64(nil), p.capacity...)
	for j := range r.inst.Capacity {
		r.inst.Capacity[j] = left[j*p.kinds : (j+1)*p.kinds : (j+1)*p.kinds]
	}
	for i := range p.apps {
		a, source := &p.apps[i], &p.inst.Apps[i]
		if !a.keepable || free(int32(i)) {
			app := *source
			app.Running, app.Displaced, app.Previous = false, false, nil
			r.inst.Apps = append(r.inst.Apps, app)
			r.apps = append(r.apps, int32(i))
			continue
		}
		r.fixed += float64(p.types[a.typ].value * float64(a.held))
		r.loss += a.heldLoss
		for _, placed := range source.Previous {
			for k, q := range p.demandOf(a.typ) {
				if left[placed.Server*p.kinds+k] -= placed.Count * q; left[placed.Server*p.kinds+k] < 0 {
					return nil
				}
			}
		}
	}
	r.inst.LossBudget = p.inst.LossBudget - r.loss
	return r
}

// judge implements answerer.
func (l *restLeaves) judge(free func(i int32) bool) judgement {
	freed := l.identify(free)
	if j, known := l.seen[string(l.key)]; known {
		return j
	}
	key := string(l.key)
	bound := l.answer(free, freed, func(inner *leaves) float64 { return inner.judge(everyone).bound })
	j := judgement{value: bound, bound: bound}
	l.note(key, j)
	return j
}

// settle implements answerer.
func (l *restLeaves) settle(ctx context.Context, free func(i int32) bool) float64 {
	return l.answer(free, l.identify(free), func(inner *leaves) float64 { return inner.settle(ctx, everyone) })
}

func everyone(int32) bool { return true }

// answer lets ask answer the instance of a set, and takes over a better solution. It returns the bound
// that ask returns, in terms of the whole; +Inf where the lists of patterns are too long.
func (l *restLeaves) answer(free func(i int32) bool, freed int, ask func(inner *leaves) float64) float64 {
	l.judged++
	r := l.restOf(free)
	if r == nil {
		return math.Inf(-1)
	}
	p := newProblem(&r.inst)
	for i := range p.apps {
		if p.apps[i].min > p.apps[i].max {
			return math.Inf(-1)
		}
	}
	s := splitBy(newPatterns(p, l.patterns).capped())
	if s == nil {
		return math.Inf(1)
	}
	inner := newLeaves(s)
	inner.step, inner.gap, inner.states = l.step, l.gap, l.states
	if l.found {
		inner.found, inner.value = true, l.value-r.fixed
		inner.best.value, inner.best.loss = inner.value, math.Inf(1)
	}
	before := inner.value
	bound := ask(inner)
	l.work += inner.work + int64(s.ps.total/patternsPerBox)
	if inner.found && (!l.found || inner.value > before+solver.ObjectiveTolerance) {
		l.take(r, unpack(s, &inner.best), freed)
	}
	return bound + r.fixed
}

// take makes the solution of a set the incumbent.
func (l *restLeaves) take(r *rest, inc *incumbent, freed int) {
	p := l.p
	types := make([]int32, 0, len(r.apps)) // by type of the instance: that of the problem
	seen := newProblem(&r.inst)
	for t := range seen.types {
		types = append(types, p.apps[r.apps[seen.types[t].members[0]]].typ)
	}
	l.best = incumbent{
		found: true, on: inc.on, free: make([]bool, len(p.apps)),
		objective: inc.objective + r.fixed, loss: inc.loss + r.loss, freed: int64(freed),
	}
	for j := range l.best.on {
		for n := range l.best.on[j] {
			l.best.on[j][n].typ = types[l.best.on[j][n].typ]
		}
	}
	for _, i := range r.apps {
		l.best.free[i] = true
	}
	l.found, l.value = true, l.best.objective
}
