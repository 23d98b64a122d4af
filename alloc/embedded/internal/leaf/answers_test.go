package leaf

import (
	"fmt"
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// The judgements remembered are bounded in bytes.
func TestSeenIsBounded(t *testing.T) {
	l := newAnswers(problem.New(alloctest.Table2(1, 2, 3, false)))
	const size = 1 << 16
	for n := range 2 * mostSeenBytes / size {
		l.note(fmt.Sprintf("%0*d", size, n), Judgement{})
		if held := len(l.Seen) * size; held > mostSeenBytes {
			t.Fatalf("%d bytes after %d judgements", held, n)
		}
	}
	if len(l.Seen) == 0 {
		t.Error("nothing is remembered")
	}
}

// The cut is the least that a better solution must exceed; what a gap rules out keeps its bound.
func TestCut(t *testing.T) {
	l := newAnswers(problem.New(alloctest.Table2(1, 2, 3, false)))
	if got := l.Cut(); got != -ProofMargin {
		t.Errorf("cut %g without a solution, want %g", got, -ProofMargin)
	}
	if got := l.unsought(3); !math.IsInf(got, -1) {
		t.Errorf("%g is left without a solution", got)
	}
	l.Found, l.Value, l.step = true, 2, 0
	if got := l.Cut(); got != 2+solver.ObjectiveTolerance {
		t.Errorf("cut %.12g, want just above 2", got)
	}
	l.step = 0.25
	if got := l.Cut(); got != 2.25-solver.ObjectiveTolerance {
		t.Errorf("cut %.12g, want just below 2.25", got)
	}
	if l.Gap = 0.5; l.Cut() != 3 {
		t.Errorf("cut %g with a gap of 0.5, want 3", l.Cut())
	}
	for bound, want := range map[float64]float64{2.1: math.Inf(-1), 2.25 - solver.ObjectiveTolerance: math.Inf(-1), 2.5: 2.5} {
		if got := l.unsought(bound); got != want {
			t.Errorf("unsought(%g) = %g, want %g", bound, got, want)
		}
	}
}

// Different sets of pinnable applications have different names, and the others do not count.
func TestIdentify(t *testing.T) {
	l := newAnswers(problem.New(alloctest.Table2(1, 6, 8, true)))
	names := make(map[string]bool)
	pinnable := 0
	for i := range l.Problem.Apps {
		if l.Problem.Apps[i].Pinnable {
			pinnable++
		}
	}
	for set := range 1 << len(l.Problem.Apps) {
		l.Identify(func(i int32) bool { return set>>i&1 != 0 })
		names[string(l.Key)] = true
	}
	if pinnable == 0 || len(names) != 1<<pinnable {
		t.Errorf("%d names for the sets of %d", len(names), pinnable)
	}
	if n := l.Identify(everyone); n != pinnable {
		t.Errorf("all are %d, want %d", n, pinnable)
	}
}
