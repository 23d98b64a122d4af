// This file holds one check of the suite: its options, its deadline, and what is asked of the solver.

package solvertest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/solver"
)

// How much is asked by default, and how long it may take.
const (
	// patience is how long after the end of its context a solver may take to return. It is generous
	// because test machines are loaded.
	// It is no deadline for a search, which may take as long as Options.Deadline allows.
	patience = 5 * time.Second
	// defaultInstances and instancesInShort are how many random instances there are by default.
	defaultInstances, instancesInShort = 200, 40
	// defaultGeneral and generalInShort are how many have what the paper's P2 has not: more, since a feature
	// that a solver forgets shows in few of them, some only in one of a hundred.
	defaultGeneral, generalInShort = 300, 60
	// defaultDeadline is how long one check may take before its solver counts as hanging.
	defaultDeadline = time.Minute
)

// Size is how large a generated cluster is.
// With a previous allocation two applications are newcomers, which is why a size needs at least
// three.
type Size struct{ Servers, Apps int }

// Options says how much the suite asks. nil and the zero value mean the defaults.
type Options struct {
	// Instances is how many random instances are compared with enumeration; 0: 200, with -short 40.
	// Each takes an enumeration beside the solver's own time.
	Instances int
	// General is how many random instances of the whole program are compared with enumeration, and how many with
	// worths by number; 0: 300, with -short 60.
	General int
	// Sizes are those of the generated clusters, of every family one; nil: 6 x 8 and 12 x 15, with
	// -short 6 x 8 only. At least 3 applications each.
	Sizes []Size
	// Deadline is how long one check may take; then the solver counts as hanging; 0: one minute.
	Deadline time.Duration
	// Relaxed says that the solver may miss solutions, as one that solves a relaxation and repairs the
	// answer: what it claims is checked, but not that it finds something.
	// Infeasible where there is a solution stays a fault: a relaxation that has none proves that P2
	// has none.
	Relaxed bool
	// Tolerance is how far an optimum may be from the true one; 0: solver.ObjectiveTolerance. General
	// solvers stop at gaps of their own.
	// It widens the comparison with the optimum only: the referee's tolerances are the same for
	// all.
	Tolerance float64
}

// complete returns the options with every default filled in.
func (o *Options) complete() Options {
	full := Options{}
	if o != nil {
		full = *o
	}
	if full.Instances == 0 {
		full.Instances = defaultInstances
		if testing.Short() {
			full.Instances = instancesInShort
		}
	}
	if full.General == 0 {
		full.General = defaultGeneral
		if testing.Short() {
			full.General = generalInShort
		}
	}
	if full.Sizes == nil {
		full.Sizes = []Size{{6, 8}, {12, 15}}
		if testing.Short() {
			full.Sizes = full.Sizes[:1]
		}
	}
	if full.Deadline == 0 {
		full.Deadline = defaultDeadline
	}
	if full.Tolerance == 0 {
		full.Tolerance = solver.ObjectiveTolerance
	}
	return full
}

// check is one thing that a solver must do right.
// Every check returns its first finding as an error, not through testing.T, so that a check can be
// run in a goroutine, be given up, and be tested itself against solvers with planted faults.
type check struct {
	name string
	run  func(p *probe) error
}

// probe is a solver under one check. It knows which instance the solver is busy with.
//
// busy is atomic because the goroutine of the check writes it and the one that waits reads it.
type probe struct {
	solver.Solver
	opts Options
	ctx  context.Context
	busy atomic.Pointer[string]
}

func (p *probe) ask(name string, inst *solver.Instance) (*solver.Solution, error) {
	return p.askWithin(p.ctx, name, inst)
}

// askWithin is ask with a context of its own. A nil solution without an error is a fault.
func (p *probe) askWithin(ctx context.Context, name string, inst *solver.Instance) (*solver.Solution, error) {
	// Without this a check that was stopped would go on with its other instances, each of which
	// returns at once.
	if p.ctx.Err() != nil {
		return nil, p.ctx.Err() // the check was stopped during the instance before
	}
	p.busy.Store(&name)
	s, err := p.Solve(ctx, inst)
	if err == nil && s == nil {
		err = fmt.Errorf("neither a solution nor an error")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// within runs the check and returns what it finds, or that the solver hangs. One that does not obey its
// context is left behind patience later.
func (c check) within(opts Options, by solver.Solver) error {
	// 1. The context asks the solver to stop at the deadline. 2. patience later the check stops
	// waiting for it; a goroutine cannot be ended from outside, and it must not keep the whole test
	// from reporting.
	ctx, cancel := context.WithTimeout(context.Background(), opts.Deadline)
	defer cancel()
	p := &probe{Solver: by, opts: opts, ctx: ctx}
	// The buffer lets a solver that returns after all end its goroutine, although nobody reads any
	// more.
	found := make(chan error, 1)
	go func() { found <- c.run(p) }()
	timer := time.NewTimer(opts.Deadline + patience)
	defer timer.Stop()
	select {
	case err := <-found:
		// A check that was stopped has not seen what it should, whatever it found.
		if ctx.Err() != nil {
			return p.hangs(c, "ended only when it was stopped after")
		}
		return err
	case <-timer.C:
		return p.hangs(c, "has not ended although it was told to after")
	}
}

// hangs says where the solver hangs.
func (p *probe) hangs(c check, how string) error {
	at := "no instance"
	if busy := p.busy.Load(); busy != nil {
		at = *busy
	}
	return fmt.Errorf("%T hangs on %s: %s %s %v", p.Solver, at, c.name, how, p.opts.Deadline)
}
