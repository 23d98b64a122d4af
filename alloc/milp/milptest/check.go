// This file holds one check of the suite: its limits, and how an answer is held against a known one.

package milptest

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/apportion/apportion/alloc/milp"
)

// How much is asked, and how long it may take.
const (
	// Patience is how long after a time limit or a cancellation a back-end may take to return. It is
	// generous because test machines are loaded.
	Patience = 5 * time.Second
	// modelsPerFamily and modelsInShort are how many random models of a family there are.
	modelsPerFamily, modelsInShort = 150, 25
	// deadline is how long one check may take, and one instance of RunMIPLIB, before its back-end counts as hanging.
	deadline = 2 * time.Minute
)

// answerTol is what an objective may differ from the known optimum by, relative to the larger of 1
// and the optimum: gap and feasibility tolerances of the usual solvers.
// It is ten times the usual feasibility tolerance, since several rows may each be missed by that.
const answerTol = 1e-5

// check is one thing that a back-end must do right. run returns soon after ctx has ended, if the
// back-end does.
type check struct {
	// name is "group/name", as it stands in the sub-test.
	name  string
	needs milp.Capability
	run   func(ctx context.Context, solver milp.Solver) error
}

// within runs the check and returns what it finds, or after the deadline that the back-end hangs. A
// back-end that does not obey its context is left behind.
func (c check) within(deadline time.Duration, solver milp.Solver) error {
	// Only a back-end that claims to obey a context is given one that can end: others would refuse
	// the call.
	ctx := context.Background()
	if milp.Capabilities(solver)&milp.CanInterrupt != 0 {
		limited, cancel := context.WithTimeout(ctx, deadline)
		defer cancel()
		ctx = limited
	}
	// The buffer lets the goroutine of a back-end that was left behind end when it returns after
	// all.
	found := make(chan error, 1)
	go func() { found <- c.run(ctx, solver) }()
	// The timer ends the wait where the context does not reach the back-end.
	timer := time.NewTimer(deadline)
	defer timer.Stop()
	select {
	case err := <-found:
		// An answer that came only because the context had ended is the answer of a back-end that
		// hangs.
		if ctx.Err() != nil {
			return fmt.Errorf("%T hangs: %s ended only when it was stopped after %v", solver, c.name, deadline)
		}
		return err
	case <-timer.C:
		return fmt.Errorf("%T hangs: %s has not ended after %v", solver, c.name, deadline)
	}
}

// oneCase is a model with a known answer.
type oneCase struct {
	name  string
	build func(b *milp.Builder)
	opts  *milp.Options
	want  milp.Status
	// objective and values are those of the only optimum; values may be nil.
	objective float64
	values    []float64
}

// check turns the case into a check of a back-end.
func (c oneCase) check() check {
	// The model is built once, when the suite is listed: what a back-end is given is the same in
	// every run.
	model, err := build(c.name, c.build)
	if err != nil {
		panic("milptest: " + err.Error()) // a fault of the suite
	}
	return check{"model/" + c.name, model.Needs(), func(ctx context.Context, solver milp.Solver) error {
		got, err := milp.Solve(ctx, solver, model, c.opts)
		if err != nil {
			return err
		}
		return c.compare(got)
	}}
}

func build(name string, add func(b *milp.Builder)) (*milp.Model, error) {
	b := milp.NewBuilder(name)
	add(b)
	return b.Build()
}

// compare holds an answer against the known one.
func (c oneCase) compare(got milp.Solution) error {
	if got.Status != c.want {
		return fmt.Errorf("status %v (%s), want %v", got.Status, got.Reason, c.want)
	}
	if c.want != milp.Optimal {
		return nil
	}
	// Both count: a right objective with a loose bound is no proof.
	if !near(got.Objective, c.objective) || !near(got.Bound, c.objective) {
		return fmt.Errorf("objective %g and bound %g, want %g", got.Objective, got.Bound, c.objective)
	}
	// Cases that list values have one optimum only.
	for j, want := range c.values {
		if !near(got.Values[j], want) {
			return fmt.Errorf("values %v, want %v", got.Values, c.values)
		}
	}
	return nil
}

// near reports whether a number is the wanted one within answerTol.
// NaN and infinities are never near anything.
func near(got, want float64) bool {
	// A part of an infinite number is infinite, within which all numbers would be near it.
	return !math.IsInf(want, 0) && math.Abs(got-want) <= answerTol*math.Max(1, math.Abs(want))
}
