// This file answers the leaves of a tree: for a set of freed applications, the residual problem's bound
// and its packing.

package leaf

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/colgen"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

const (
	// unpacked is how far below its bound a set counts that has not been packed.
	unpacked = 1000
	// StatesPerSubproblem is how many states of an exact answer one subproblem is worth, patternsPerSubproblem how
	// many patterns listed for it.
	StatesPerSubproblem, patternsPerSubproblem = 50, 100
)

// Leaves answers sets by lists of patterns, and keeps the best packing.
type Leaves struct {
	Answers
	S    *pattern.Cells
	R    *colgen.Residual
	K    *packing
	Best Packed
	// standing is that of all packings that have been the best.
	standing problem.Standing
}

// NewLeaves answers sets over the cells of s, of which it knows nothing yet.
func NewLeaves(s *pattern.Cells) *Leaves {
	l := &Leaves{Answers: newAnswers(s.Problem), S: s, R: colgen.NewResidual(s)}
	l.K = newPacking(l.R)
	return l
}

// Judge implements answerer: it bounds and packs the residual problem of the set.
func (l *Leaves) Judge(free func(i int32) bool) Judgement {
	freed := l.Identify(free)
	if j, known := l.Seen[string(l.Key)]; known {
		return j
	}
	l.Judged++
	j := Judgement{math.Inf(-1), math.Inf(-1)}
	if l.R.Fix(free) {
		l.Work++
		l.R.Solve(math.Inf(-1))
		j.bound = l.R.Bound
		j.Value = j.bound - unpacked
		if j.bound > -ProofMargin {
			l.K.pack(l.R.Bound - l.Least())
		}
		if l.K.Found && j.bound > -ProofMargin {
			if j.Value = l.K.BestValue; j.Value+l.Least() >= j.bound {
				j.bound = j.Value
			}
			l.take(freed)
		}
	}
	l.note(string(l.Key), j)
	return j
}

// Settle implements answerer.
func (l *Leaves) Settle(ctx context.Context, free func(i int32) bool) float64 {
	freed := l.Identify(free)
	if j, known := l.Seen[string(l.Key)]; known && j.bound <= l.Cut() {
		return j.bound
	}
	l.Judged++
	if !l.R.Fix(free) {
		return math.Inf(-1)
	}
	subproblems := l.States / StatesPerSubproblem
	return l.settleWithin(ctx, freed, &subproblems)
}

// settleWithin does so for the counts within the bounds of the residual problem: it branches on a type whose
// count is not whole in the program's solution, and where all are whole, searches by slack.
func (l *Leaves) settleWithin(ctx context.Context, freed int, subproblems *int) float64 {
	l.Work++
	l.R.Solve(l.Cut())
	if l.R.Bound <= l.Cut() {
		return l.unsought(l.R.Bound)
	}
	l.K.pack(l.R.Bound - l.Least())
	l.take(freed)
	bound := l.R.Bound
	if bound <= l.Cut() {
		return l.unsought(bound)
	}
	if ctx.Err() != nil {
		return bound
	}
	t, count := l.R.Fractional()
	if *subproblems--; *subproblems <= 0 || t < 0 {
		l.K.Found = false
		cut := l.Cut()
		settled := l.K.SettleExactly(ctx, cut, l.States)
		l.Work += int64(l.K.states / StatesPerSubproblem)
		if !settled {
			return bound
		}
		if !l.K.Found {
			return l.unsought(cut)
		}
		l.take(freed)
		return math.Inf(-1)
	}
	lo, hi := l.R.Lo[t], l.R.Hi[t]
	l.R.Hi[t] = int64(math.Floor(count))
	below := l.settleWithin(ctx, freed, subproblems)
	l.R.Lo[t], l.R.Hi[t] = l.R.Hi[t]+1, hi
	above := l.settleWithin(ctx, freed, subproblems)
	l.R.Lo[t] = lo
	return math.Min(bound, math.Max(below, above))
}

// take makes the packing the incumbent if it is preferred: more utilization, less loss, fewer freed.
func (l *Leaves) take(freed int) {
	if !l.K.Found {
		return
	}
	order := l.standing.Compare(l.K.BestValue, l.K.totalLoss())
	if order > 0 || order == 0 && freed >= l.Best.freed {
		return
	}
	l.standing.Accept(l.K.BestValue, l.K.totalLoss())
	l.Found, l.Value = true, math.Max(l.Value, l.K.BestValue)
	l.Best.keep(l.K, freed)
}
