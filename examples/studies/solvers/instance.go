// This file declares a study: its instances, and what came of each solver on them.

package main

import (
	"context"
	"math"
	"time"

	"github.com/apportion/apportion/alloc/alloctest"
)

// study is the instances and what is measured on them.
type study struct {
	limit     time.Duration
	workers   int
	instances []*instance
	// skipped says which solvers are left out, and why.
	skipped []string
}

// instance is one problem and what came of it.
// Reference holds the problem and, where it is known, the best answer.
type instance struct {
	alloctest.Reference
	// fresh says that nothing runs before.
	fresh bool
	cells []*cell
}

// cell is a solver on an instance: on a form, or with an effort for the embedded one.
// measure is called once; near is the utilization from which an answer counts as near the best, which some
// need to know beforehand.
type cell struct {
	solver, form string
	measure      func(ctx context.Context, near float64) (trace, error)
	points       trace
	// failed is why there are no points.
	failed error
}

// best returns the best utilization known: the reference's, unless it is that of a relaxation, or that
// of an answer here.
func (i *instance) best() float64 {
	best := math.Inf(-1)
	if !i.Relaxed {
		best = i.Objective
	}
	for _, c := range i.cells {
		for _, p := range c.points {
			if p.objective > best { // false for NaN
				best = p.objective
			}
		}
	}
	return best
}

// size is the number of pairs of application and server.
func (i *instance) size() int { return size(i.Instance) }
