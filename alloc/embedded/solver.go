// This file holds the Solver: options, and the order of the phases.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/p2"
)

// Effort is how much work a Solver does, in moves of the search for each server and application.
// It is never a time, so that the same problem has the same answer everywhere.
type Effort int64

// The usual efforts. Any other positive number may be used.
const (
	Quick    Effort = 20
	Default  Effort = 100
	Thorough Effort = 1000
)

const (
	// warmUp is the part of the moves made before there are prices: the step rule of the root
	// bound needs an incumbent. polishing is the part made at the end at no temperature, for what
	// is preferred among equals.
	warmUp, polishing = 0.1, 0.1
	// warmUps is how often it is repeated, with heavier penalties, while no solution is found.
	warmUps = 4
	// mostMoves is the largest budget that counts without rounding.
	mostMoves = 1 << 52
	// blindTarget is what the root bound aims at, in parts of its start, without an incumbent.
	blindTarget = 0.9
)

// Options adjusts a Solver. nil and the zero value mean the defaults.
type Options struct {
	// Effort is the budget; 0 means Default.
	Effort Effort
	// Gap stops the search early: once (bound - utilization)/bound is at most Gap, in [0, 1].
	// 0 means only a proven optimum stops it.
	Gap float64
	// Seed selects the random numbers; every seed, 0 too, gives a reproducible answer.
	Seed uint64
}

// Solver answers P2 as the package comment says. It is safe for concurrent use.
type Solver struct{ opts Options }

// New returns a Solver; nil options mean the defaults, and so do an Effort below 1 and a Gap that
// is no number in [0, 1].
func New(opts *Options) *Solver {
	s := &Solver{}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Effort < 1 {
		s.opts.Effort = Default
	}
	if !(s.opts.Gap >= 0 && s.opts.Gap <= 1) {
		s.opts.Gap = 0
	}
	return s
}

var _ p2.Solver = (*Solver)(nil)

// Solve implements p2.Solver. The error is a *apportion.FieldError for an instance that is no
// instance: vectors of unequal length, negative quantities, servers that do not exist.
func (s *Solver) Solve(ctx context.Context, inst *p2.Instance) (*p2.Solution, error) {
	if err := validate(inst); err != nil {
		return nil, err
	}
	p := newProblem(inst)
	if conflict := p.plainConflict(); conflict != nil {
		return infeasible(conflict), nil
	}
	run := &run{p: p, opts: s.opts, a: newAnnealer(newState(p), s.opts.Seed)}
	run.search(ctx)
	// Enumeration replaces the search's answer where it can finish; prices come last, because they
	// only matter when nothing was found.
	sol := run.solution()
	if run.enumerable() {
		run.enumerate(ctx, sol)
	}
	if !sol.Status.HasSolution() && sol.Status != p2.Infeasible {
		if conflict := run.pricedConflict(ctx); conflict != nil {
			sol = infeasible(conflict)
		}
	}
	sol.Effort = run.effort()
	sol.Interrupted = ctx.Err() != nil
	return sol, nil
}

func infeasible(conflict *p2.Conflict) *p2.Solution {
	return &p2.Solution{Status: p2.Infeasible, Bound: math.Inf(-1), Conflict: conflict}
}

// run is one call of Solve.
type run struct {
	p     *problem
	opts  Options
	a     *annealer
	root  *root
	extra int64 // nodes and rounds of the proofs
}

// search finds a bound and, if it can, a solution.
func (r *run) search(ctx context.Context) {
	moves := math.Min(float64(r.opts.Effort)*float64(r.p.servers+len(r.p.apps)), mostMoves)
	heat := hot * r.a.unit()
	// An incumbent first: the root bound needs one to aim at.
	r.a.construct()
	for range warmUps {
		r.a.run(ctx, int64(warmUp*moves), heat, math.Inf(1))
		if r.a.best.found {
			break
		}
		r.a.insist()
	}
	r.root = newRoot(ctx, r.p, r.opts.Effort, r.target())
	r.root.improve(ctx, r.target())
	r.a.guide(r.root.d, r.root.ascent.best)
	r.a.run(ctx, int64(moves), heat, r.goal())
	// With the better incumbent the step rule comes further down.
	r.root.improve(ctx, r.target())
	r.a.restore()
	r.a.run(ctx, int64(polishing*moves), 0, math.Inf(1))
}

// target is what the root bound should come down to.
func (r *run) target() float64 {
	if r.a.best.found {
		return r.a.best.objective
	}
	if r.root == nil {
		return blindTarget * float64(r.p.kinds)
	}
	return blindTarget * r.root.bound()
}

// goal is the utilization at which the search may stop.
func (r *run) goal() float64 {
	bound := r.root.bound()
	return bound - math.Max(p2.ObjectiveTolerance, float64(r.opts.Gap*math.Abs(bound)))
}

// solution turns the incumbent into an answer that has passed the referee.
func (r *run) solution() *p2.Solution {
	sol := &p2.Solution{Bound: r.root.bound(), Multipliers: r.root.multipliers()}
	if !r.a.best.found {
		return sol
	}
	counts := r.p.decode(&r.a.best)
	if err := r.p.inst.Check(counts); err != nil {
		panic("embedded: the search's own answer: " + err.Error())
	}
	sol.Status, sol.Counts, sol.Objective = p2.Feasible, counts, r.p.inst.Objective(counts)
	if sol.Bound-sol.Objective <= p2.ObjectiveTolerance {
		sol.Status, sol.Proven = p2.Optimal, p2.ByUtilization
	}
	return sol
}

// effort counts moves, rounds and nodes.
func (r *run) effort() int64 { return r.a.moves + r.root.rounds + r.extra }
