// This file holds what is known of a search over time, and when it was good enough.

package main

import (
	"math"
	"time"

	"github.com/apportion/apportion/alloc/solver"
)

// point is what a search had after some time.
type point struct {
	after time.Duration
	// objective is that of the best allocation, NaN before the first; bound is proven.
	objective, bound float64
	// proven says that the search had ended with a proof.
	proven bool
}

// gap returns (bound - objective) / bound, infinite where either is missing.
// It is never negative: a bound below the objective is rounding.
func (p point) gap() float64 {
	if math.IsNaN(p.objective) || math.IsInf(p.bound, 0) {
		return math.Inf(1)
	}
	return math.Max(0, p.bound-p.objective) / math.Max(math.Abs(p.bound), solver.ObjectiveTolerance)
}

// trace is the points of one search, or of several of the same kind that were given different times,
// by time.
type trace []point

// never is the time of what did not happen.
const never = time.Duration(math.MaxInt64)

// first returns the time of the first point for which ok holds, or never.
func (t trace) first(ok func(point) bool) time.Duration {
	for _, p := range t {
		if ok(p) {
			return p.after
		}
	}
	return never
}

// found returns when an allocation was there with at least this utilization.
func (t trace) found(objective float64) time.Duration {
	return t.first(func(p point) bool { return p.objective >= objective-solver.ObjectiveTolerance })
}

// certified returns when the search itself could say that it was within the gap.
func (t trace) certified(gap float64) time.Duration {
	return t.first(func(p point) bool { return p.gap() <= gap })
}

// proven returns when the search ended with a proof.
func (t trace) proven() time.Duration {
	return t.first(func(p point) bool { return p.proven })
}

// last returns what the longest search had in the end.
func (t trace) last() point { return t[len(t)-1] }

// add appends a point, unless it says nothing new.
// Engines log more often than anything changes.
func (t trace) add(p point) trace {
	if n := len(t); n > 0 && !p.proven && same(t[n-1].objective, p.objective) && same(t[n-1].bound, p.bound) {
		return t
	}
	return append(t, p)
}

// same says whether two numbers are equal, or both none.
// NaN is no number's equal, not even its own.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
