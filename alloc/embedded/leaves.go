// This file answers the leaves of the tree: for a set of freed applications, the residual problem's bound
// and its packing.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

const (
	// unpacked is how far below its bound a set counts that has not been packed.
	unpacked = 1000
	// statesPerBox is how many states of an exact answer one box of counts is worth, patternsPerBox how
	// many patterns listed for it.
	statesPerBox, patternsPerBox = 50, 100
)

// mostSeenBytes is about what is remembered of the sets that were judged.
const mostSeenBytes = 32 << 20

// judgement is what is known about a set of free applications: the best value found, or, far below
// any, how near it is to one; and a bound.
type judgement struct{ value, bound float64 }

// answerer answers the leaves of a tree.
type answerer interface {
	// judge bounds a set, and looks for a solution that frees just it.
	judge(free func(i int32) bool) judgement
	// settle answers a set for good, unless that takes too long or ctx ends. It returns a bound on what
	// the set holds that is better than the incumbent, -Inf where there is nothing.
	settle(ctx context.Context, free func(i int32) bool) float64
	known() *answers
}

// answers is what is known so far: the sets judged, and the value of the best solution met.
type answers struct {
	p     *problem
	seen  map[string]judgement
	bytes int // of seen, about
	key   []byte
	found bool
	value float64
	// step is the lattice of the utilization, gap the relative gap that is enough.
	step, gap float64
	states    int // that an exact answer may take
	judged    int64
	// work is what the answers cost: residual problems solved, and what takes about as long as one.
	work int64
}

func newAnswers(p *problem) answers {
	return answers{p: p, seen: make(map[string]judgement), step: p.step, value: math.Inf(-1)}
}

func (l *answers) known() *answers { return l }

// note remembers the judgement of the set that key names; it forgets all others when these take
// mostSeenBytes.
func (l *answers) note(key string, j judgement) {
	const each = 64 // bytes, beside the key
	if l.bytes += len(key) + each; l.bytes > mostSeenBytes {
		clear(l.seen)
		l.bytes = len(key) + each
	}
	l.seen[key] = j
}

// leaves answers sets by lists of patterns, and keeps the best packing.
type leaves struct {
	answers
	s    *split
	r    *residual
	k    *packing
	best packed
}

func newLeaves(s *split) *leaves {
	l := &leaves{answers: newAnswers(s.p), s: s, r: newResidual(s)}
	l.k = newPacking(l.r)
	return l
}

// cut is the bound up to which there is nothing better than the incumbent, or, without one, no
// solution at all: the utilization is not negative.
func (l *answers) cut() float64 {
	if !l.found {
		return -proofMargin
	}
	return l.value + math.Max(l.least(), float64(l.gap*math.Abs(l.value)))
}

// unsought returns the bound on what nobody looks for because cut rules it out: a gap that is enough
// leaves something better than the incumbent there.
func (l *answers) unsought(bound float64) float64 {
	if !l.found || bound <= l.value+l.least() {
		return math.Inf(-1)
	}
	return bound
}

// least is by how much a better utilization is better at least, less rounding.
func (l *answers) least() float64 {
	return math.Max(l.step-solver.ObjectiveTolerance, solver.ObjectiveTolerance)
}

// judge implements answerer: it bounds and packs the residual problem of the set.
func (l *leaves) judge(free func(i int32) bool) judgement {
	freed := l.identify(free)
	if j, known := l.seen[string(l.key)]; known {
		return j
	}
	l.judged++
	j := judgement{math.Inf(-1), math.Inf(-1)}
	if l.r.fix(free) {
		l.work++
		l.r.solve(math.Inf(-1))
		j.bound = l.r.bound
		j.value = j.bound - unpacked
		if j.bound > -proofMargin {
			l.k.pack(l.r.bound - l.least())
		}
		if l.k.found && j.bound > -proofMargin {
			if j.value = l.k.bestValue; j.value+l.least() >= j.bound {
				j.bound = j.value
			}
			l.take(freed)
		}
	}
	l.note(string(l.key), j)
	return j
}

// settle implements answerer.
func (l *leaves) settle(ctx context.Context, free func(i int32) bool) float64 {
	freed := l.identify(free)
	if j, known := l.seen[string(l.key)]; known && j.bound <= l.cut() {
		return j.bound
	}
	l.judged++
	if !l.r.fix(free) {
		return math.Inf(-1)
	}
	boxes := l.states / statesPerBox
	return l.settleBox(ctx, freed, &boxes)
}

// settleBox does so for the counts within the box of the residual problem: it branches on a type whose
// count is not whole in the program's solution, and where all are whole, searches by slack.
func (l *leaves) settleBox(ctx context.Context, freed int, boxes *int) float64 {
	l.work++
	l.r.solve(l.cut())
	if l.r.bound <= l.cut() {
		return l.unsought(l.r.bound)
	}
	l.k.pack(l.r.bound - l.least())
	l.take(freed)
	bound := l.r.bound
	if bound <= l.cut() {
		return l.unsought(bound)
	}
	if ctx.Err() != nil {
		return bound
	}
	t, count := l.r.fractional()
	if *boxes--; *boxes <= 0 || t < 0 {
		l.k.found = false
		cut := l.cut()
		settled := l.k.settleExactly(ctx, cut, l.states)
		l.work += int64(l.k.states / statesPerBox)
		if !settled {
			return bound
		}
		if !l.k.found {
			return l.unsought(cut)
		}
		l.take(freed)
		return math.Inf(-1)
	}
	lo, hi := l.r.lo[t], l.r.hi[t]
	l.r.hi[t] = int64(math.Floor(count))
	below := l.settleBox(ctx, freed, boxes)
	l.r.lo[t], l.r.hi[t] = l.r.hi[t]+1, hi
	above := l.settleBox(ctx, freed, boxes)
	l.r.lo[t] = lo
	return math.Min(bound, math.Max(below, above))
}

// identify makes key the name of a set of keepable applications, and counts them.
func (l *answers) identify(free func(i int32) bool) int {
	l.key = l.key[:0]
	n := 0
	for i := range l.p.apps {
		if l.p.apps[i].keepable && free(int32(i)) {
			l.key = append(l.key, byte(i), byte(i>>8), byte(i>>16), byte(i>>24))
			n++
		}
	}
	return n
}

// take makes the packing the incumbent if it is preferred: more utilization, less loss, fewer freed.
func (l *leaves) take(freed int) {
	if !l.k.found {
		return
	}
	if l.found {
		better := l.k.bestValue - l.best.value
		less := l.best.loss - l.k.totalLoss()
		if better < -leastRise || better < leastRise && (less < -leastRise || less < leastRise && freed >= l.best.freed) {
			return
		}
	}
	l.found, l.value = true, math.Max(l.value, l.k.bestValue)
	l.best.keep(l.k, freed)
}
