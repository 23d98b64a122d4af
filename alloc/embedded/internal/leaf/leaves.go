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
//
// R holds the residual problem of the set asked for last, and K its packings; both are reused, so that a
// Leaves answers one set after the other.
type Leaves struct {
	Answers
	S    *pattern.Cells
	R    colgen.Residual
	K    packing
	Best Packed
	// standing is that of all packings that have been the best.
	standing problem.Standing
}

// NewLeaves answers sets over the cells of s, of which it knows nothing yet.
func NewLeaves(s *pattern.Cells) *Leaves {
	l := &Leaves{}
	l.over(s)
	return l
}

// over makes l, in the memory that it has, answer sets over the cells of s, as NewLeaves does.
func (l *Leaves) over(s *pattern.Cells) {
	l.Answers, l.S, l.standing = newAnswers(s.Problem), s, problem.Standing{}
	l.R.Over(s)
	l.K.over(&l.R)
}

// Judge implements answerer: it bounds and packs the residual problem of the set.
// The bound is exact, the packing a heuristic. The steps: 1. what is remembered; 2. fix the set; 3. bound by
// column generation; 4. pack; 5. where both meet, the packing is proven optimal for its set.
func (l *Leaves) Judge(free func(i int32) bool) Judgement {
	freed := l.Identify(free)
	if j, known := l.Seen[string(l.Key)]; known {
		return j
	}
	l.Judged++
	// -Inf stays where the kept applications do not fit their servers.
	j := Judgement{math.Inf(-1), math.Inf(-1)}
	if l.R.Fix(free) {
		l.Work++
		// To the end, whatever the incumbent: the value of the set is remembered for later
		// incumbents.
		l.R.Solve(math.Inf(-1))
		j.bound = l.R.Bound
		// A search over sets climbs towards sets with a packing along bounds.
		j.Value = j.bound - unpacked
		// A bound below 0 proves that there is no solution, as utilization is not negative.
		// Found still speaks of an earlier set then, hence the second test.
		if j.bound > -ProofMargin {
			l.K.pack(l.R.Bound - l.Least())
		}
		if l.K.Found && j.bound > -ProofMargin {
			// Within the least difference nothing better fits in between.
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
// The answer may take States states in all, spread over the subproblems of one
// branching tree; beyond that the bound is returned as it is, which is still exact.
func (l *Leaves) Settle(ctx context.Context, free func(i int32) bool) float64 {
	freed := l.Identify(free)
	// A remembered bound that rules the set out answers at once; else the set is solved anew, since the cut is
	// now another one.
	if j, known := l.Seen[string(l.Key)]; known && j.bound <= l.Cut() {
		return j.bound
	}
	l.Judged++
	// The kept ones do not fit: the set has no solution.
	if !l.R.Fix(free) {
		return math.Inf(-1)
	}
	subproblems := l.States / StatesPerSubproblem
	return l.settleWithin(ctx, freed, &subproblems)
}

// settleWithin does so for the counts within the bounds of the residual problem: it branches on a type whose
// count is not whole in the program's solution, and where all are whole, searches by slack.
//
//  1. bound; 2. pack; 3. where a count is fractional, split it at floor(N) and answer both halves;
//  4. where none is, or the subproblems are used up, dynamic programming by slack.
//
// The halves hold every whole count, so that the larger of their bounds bounds the whole. The bounds of
// counts are those that it found, when it returns.
func (l *Leaves) settleWithin(ctx context.Context, freed int, subproblems *int) float64 {
	l.Work++
	// Column generation may stop at the cut: a bound below it is all that is asked here.
	l.R.Solve(l.Cut())
	if l.R.Bound <= l.Cut() {
		return l.unsought(l.R.Bound)
	}
	l.K.pack(l.R.Bound - l.Least())
	// A better incumbent raises the cut: look at the bound once more.
	l.take(freed)
	bound := l.R.Bound
	if bound <= l.Cut() {
		return l.unsought(bound)
	}
	// The bound is valid, so that a search that ends here loses nothing but the proof.
	if ctx.Err() != nil {
		return bound
	}
	t, count := l.R.Fractional()
	if *subproblems--; *subproblems <= 0 || t < 0 {
		// Found is cleared, so that afterwards it speaks of the exact answer alone.
		l.K.Found = false
		cut := l.Cut()
		settled := l.K.SettleExactly(ctx, cut, l.States)
		l.Work += int64(l.K.states / StatesPerSubproblem)
		if !settled {
			return bound
		}
		// The search by slack has seen everything above cut, and found nothing.
		if !l.K.Found {
			return l.unsought(cut)
		}
		l.take(freed)
		// The best of the set is the incumbent now.
		return math.Inf(-1)
	}
	// lo and hi are put back on the way, since the residual problem is one for the whole branching.
	lo, hi := l.R.Lo[t], l.R.Hi[t]
	l.R.Hi[t] = int64(math.Floor(count))
	below := l.settleWithin(ctx, freed, subproblems)
	l.R.Lo[t], l.R.Hi[t] = l.R.Hi[t]+1, hi
	above := l.settleWithin(ctx, freed, subproblems)
	l.R.Lo[t] = lo
	// The halves may have been given up with bounds of their own; neither makes the whole worse than bound.
	return min(bound, max(below, above))
}

// take makes the packing the incumbent if it is preferred: more utilization, less loss, fewer freed.
// Standing orders by tolerance without drift; freed decides among equals.
func (l *Leaves) take(freed int) {
	if !l.K.Found {
		return
	}
	order := l.standing.Compare(l.K.BestValue, l.K.totalLoss())
	if order > 0 || order == 0 && freed >= l.Best.freed {
		return
	}
	l.standing.Accept(l.K.BestValue, l.K.totalLoss())
	// A solution of equal utilization and less loss must not lower Value.
	l.Found, l.Value = true, max(l.Value, l.K.BestValue)
	l.Best.keep(&l.K, freed)
}
