// This file answers leaves where the servers as they are hold too much for lists of patterns: with most
// applications kept, what is left of them is small.

package leaf

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// Rests answers sets by an instance of their own: the free applications, all of them new, on what
// the kept ones leave, with what loss budget they leave. Its residual problem is that of the set.
//
// It costs lists of patterns for every set, and is taken only where lists for all sets together would be
// too long. Applications, servers and kinds are those of the whole problem; types are numbered anew.
type Rests struct {
	Answers
	Best     problem.Incumbent
	Patterns int // that the lists of one leaf may have
	// The instance of the last set, its capacities in one piece, and what has answered it: their memory is that of the next ones.
	rest  rest
	left  []int64
	inner Leaves
}

// NewRests answers sets of p, of which it knows nothing yet.
func NewRests(p *problem.Problem) *Rests {
	return &Rests{Answers: newAnswers(p), Patterns: pattern.MostPatterns}
}

// Learn takes notice of the best solution that others have found, and reports whether that is news.
// Only the figure is taken over, since a better cut is all that a leaf needs of it.
func (l *Rests) Learn(best *problem.Incumbent) bool {
	if !best.Found || l.Found && best.Objective <= l.Value {
		return false
	}
	l.Found, l.Value = true, best.Objective
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
// O(applications + servers x kinds + placements). The total stays that of the whole,
// so that values and dominant shares, which are parts of it, keep their meaning.
func (l *Rests) restOf(free func(i int32) bool) *rest {
	p, r := l.Problem, &l.rest
	*r = rest{inst: solver.Instance{Total: p.Total, Capacity: r.inst.Capacity[:0], Apps: r.inst.Apps[:0]}, apps: r.apps[:0]}
	// One copy of all capacities: the rows of the instance are parts of it, so that the loop below lowers
	// both.
	l.left = append(l.left[:0], p.Capacity...)
	left := l.left
	for j := range p.Servers {
		// The third index keeps an append to one server from writing into the next.
		r.inst.Capacity = append(r.inst.Capacity, left[j*p.Kinds:(j+1)*p.Kinds:(j+1)*p.Kinds])
	}
	for i := range p.Apps {
		a, source := &p.Apps[i], &p.Inst.Apps[i]
		if !a.Pinnable || free(int32(i)) {
			// As a new application it has no place that it is tied to: it is adjusted already, and
			// paid for.
			app := *source
			app.Running, app.Displaced, app.Previous, app.Stay = false, false, nil, 0
			r.inst.Apps = append(r.inst.Apps, app)
			r.apps = append(r.apps, int32(i))
			continue
		}
		// fixed = sum over the kept of v_i n_i, and loss the same for theirs: constants of the set.
		r.fixed += float64(p.Types[a.Type].Value*float64(a.Held)) + a.HeldExtra
		r.loss += a.HeldLoss
		for _, placed := range source.Previous {
			for k, q := range p.DemandOf(a.Type) {
				// Below 0 the kept ones overfill a server, and the set has no solution.
				if left[placed.Server*p.Kinds+k] -= placed.Count * q; left[placed.Server*p.Kinds+k] < 0 {
					return nil
				}
			}
		}
	}
	// AdjustBudget stays 0: nobody runs, so nobody can be adjusted.
	r.inst.LossBudget = p.Inst.LossBudget - r.loss
	return r
}

// Judge implements answerer.
// Value and bound are one number: what is packed becomes the incumbent, and a search
// over sets, which needs more, is not run on Rests.
func (l *Rests) Judge(free func(i int32) bool) Judgement {
	freed := l.Identify(free)
	if j, known := l.Seen[string(l.Key)]; known {
		return j
	}
	// Key is overwritten where the inner problem is answered: the name is copied first.
	key := string(l.Key)
	bound := l.answer(free, freed, func(inner *Leaves) float64 { return inner.Judge(everyone).bound })
	j := Judgement{Value: bound, bound: bound}
	l.note(key, j)
	return j
}

// Settle implements answerer.
func (l *Rests) Settle(ctx context.Context, free func(i int32) bool) float64 {
	return l.answer(free, l.Identify(free), func(inner *Leaves) float64 { return inner.Settle(ctx, everyone) })
}

// everyone frees all: within the instance of a set everyone is free.
func everyone(int32) bool { return true }

// answer lets ask answer the instance of a set, and takes over a better solution. It returns the bound
// that ask returns, in terms of the whole; +Inf where the lists of patterns are too long.
// The value of the incumbent is handed in less what the kept are worth, and bounds
// come back with it.
func (l *Rests) answer(free func(i int32) bool, freed int, ask func(inner *Leaves) float64) float64 {
	l.Judged++
	r := l.restOf(free)
	if r == nil {
		return math.Inf(-1)
	}
	p := problem.New(&r.inst)
	for i := range p.Apps {
		// Residual problems assume that each minimum fits the servers when they are empty.
		if p.Apps[i].Min > p.Apps[i].Max {
			return math.Inf(-1)
		}
	}
	// Capped is right here, as no bound of single copies is computed over these lists.
	s := pattern.Of(pattern.NewLists(p, l.Patterns).Capped())
	if s == nil {
		return math.Inf(1)
	}
	inner := &l.inner
	inner.over(s)
	// The lattice is that of the whole problem: shifted by fixed, differences between
	// utilizations stay multiples.
	inner.step, inner.Gap, inner.States = l.step, l.Gap, l.States
	// A loss of +Inf lets any solution of equal utilization be taken by inner; below it
	// has to be better.
	if l.Found {
		inner.Found, inner.Value = true, l.Value-r.fixed
		inner.standing.Accept(inner.Value, math.Inf(1))
	}
	before := inner.Value
	bound := ask(inner)
	l.Work += inner.Work + int64(s.Lists.Total/patternsPerSubproblem)
	if inner.Found && (!l.Found || inner.Value > before+solver.ObjectiveTolerance) {
		l.take(p, Unpack(s, &inner.Best), freed)
	}
	return bound + r.fixed
}

// take makes the solution of a set, whose instance was compiled to seen, the incumbent.
// Types are translated back by their first member, whose application is known in both
// numberings.
func (l *Rests) take(seen *problem.Problem, inc *problem.Incumbent, freed int) {
	p, r := l.Problem, &l.rest
	types := make([]int32, 0, len(r.apps)) // by type of the instance: that of the problem
	for t := range seen.Types {
		types = append(types, p.Apps[r.apps[seen.Types[t].Members[0]]].Type)
	}
	l.Best = problem.Incumbent{
		Found: true, On: inc.On, Free: make([]bool, len(p.Apps)),
		Objective: inc.Objective + r.fixed, Loss: inc.Loss + r.loss, Freed: int64(freed),
	}
	for j := range l.Best.On {
		for n := range l.Best.On[j] {
			l.Best.On[j][n].Type = types[l.Best.On[j][n].Type]
		}
	}
	for _, i := range r.apps {
		l.Best.Free[i] = true
	}
	l.Found, l.Value = true, l.Best.Objective
}
