// This file holds what is known about sets of freed applications while a search goes on.

package leaf

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// ProofMargin is how far below zero a bound on zero must come: well above rounding.
const ProofMargin = 1e-7

// mostSeenBytes is about what is remembered of the sets that were judged.
const mostSeenBytes = 32 << 20

// Judgement is what is known about a set of free applications: the best value found, or, far below
// any, how near it is to one; and a bound.
// Both in utilization of the whole instance, the kept applications included.
type Judgement struct{ Value, bound float64 }

// Answerer answers the leaves of a tree.
type Answerer interface {
	// judge bounds a set, and looks for a solution that frees just it.
	Judge(free func(i int32) bool) Judgement
	// settle answers a set for good, unless that takes too long or ctx ends. It returns a bound on what
	// the set holds that is better than the incumbent, -Inf where there is nothing.
	Settle(ctx context.Context, free func(i int32) bool) float64
	Known() *Answers
}

// Answers is what is known so far: the sets judged, and the value of the best solution met.
type Answers struct {
	Problem *problem.Problem
	// Seen is by Key, the name of a set that Identify wrote last.
	Seen  map[string]Judgement
	bytes int // of seen, about
	Key   []byte
	// Without Found, Value is -Inf.
	Found bool
	Value float64
	// step is the lattice of the utilization, gap the relative gap that is enough.
	step, Gap float64
	States    int // that an exact answer may take
	// Judged counts sets answered afresh, not those remembered.
	Judged int64
	// Work is what the answers cost: residual problems solved, and what takes about as long as one.
	Work int64
}

func newAnswers(p *problem.Problem) Answers {
	return Answers{Problem: p, Seen: make(map[string]Judgement), step: p.Step, Value: math.Inf(-1)}
}

// Known returns l: the part of an Answerer that a tree looks at.
func (l *Answers) Known() *Answers { return l }

// note remembers the judgement of the set that key names; it forgets all others when these take
// mostSeenBytes.
// Forgetting all is simple and deterministic; what comes up again is judged again,
// with the same answer.
func (l *Answers) note(key string, j Judgement) {
	const each = 64 // bytes, beside the key
	if l.bytes += len(key) + each; l.bytes > mostSeenBytes {
		clear(l.Seen)
		l.bytes = len(key) + each
	}
	l.Seen[key] = j
}

// Cut is the bound up to which there is nothing better than the incumbent, or, without one, no
// solution at all: the utilization is not negative.
//
//	cut = value + max(least, gap |value|)
//
// Sets whose bound is at most this need no further work.
func (l *Answers) Cut() float64 {
	if !l.Found {
		return -ProofMargin
	}
	return l.Value + max(l.Least(), float64(l.Gap*math.Abs(l.Value)))
}

// unsought returns the bound on what nobody looks for because cut rules it out: a gap that is enough
// leaves something better than the incumbent there.
// It keeps the final bound honest: with a Gap above 0 a set is dropped although it may
// hold more than the incumbent, and its own bound then has to enter the bound of the
// whole.
func (l *Answers) unsought(bound float64) float64 {
	if !l.Found || bound <= l.Value+l.Least() {
		return math.Inf(-1)
	}
	return bound
}

// Least is by how much a better utilization is better at least, less rounding.
// Utilizations are multiples of step; without a lattice, step = 0, only the tolerance
// separates them.
func (l *Answers) Least() float64 {
	return max(l.step-solver.ObjectiveTolerance, solver.ObjectiveTolerance)
}

// Identify makes key the name of a set of pinnable applications, and counts them.
// Four bytes an application, ascending, so that equal sets have equal names and others
// do not.
func (l *Answers) Identify(free func(i int32) bool) int {
	l.Key = l.Key[:0]
	n := 0
	for i := range l.Problem.Apps {
		if l.Problem.Apps[i].Pinnable && free(int32(i)) {
			l.Key = append(l.Key, byte(i), byte(i>>8), byte(i>>16), byte(i>>24))
			n++
		}
	}
	return n
}
