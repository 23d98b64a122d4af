// This file holds the Solver: its options, and what it does when the search has ended.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/conflict"
	"github.com/apportion/apportion/alloc/embedded/internal/counting"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// Name is the name under which a certificate's settings know the solver of this package.
const Name = "embedded"

// Solver answers P2 as the package comment says. It is safe for concurrent use.
type Solver struct {
	opts Options
	tune *tuning.Numbers
}

// New returns a Solver; nil options mean the defaults, and so do an Effort below 1 and a Gap that
// is no number in [0, 1].
func New(opts *Options) *Solver {
	s := &Solver{tune: tuning.Standard()}
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

var _ solver.Solver = (*Solver)(nil)

// Solve implements solver.Solver. The error is a *apportion.FieldError for an instance that is no
// instance: vectors of unequal length, negative quantities, servers that do not exist.
func (s *Solver) Solve(ctx context.Context, inst *solver.Instance) (*solver.Solution, error) {
	if err := inst.Validate(); err != nil {
		return nil, err
	}
	sol := s.answer(ctx, inst)
	sol.By = s.settings()
	return sol, nil
}

// answer answers an instance that has been checked.
func (s *Solver) answer(ctx context.Context, inst *solver.Instance) *solver.Solution {
	switch {
	case len(inst.Choices) > 0:
		return s.solveChoices(ctx, inst)
	case len(inst.Groups) > 0:
		return s.solveGroups(ctx, inst)
	}
	return s.solve(ctx, inst)
}

// settings is what the answers of s depend on beside the instance.
func (s *Solver) settings() solver.Settings {
	return solver.Settings{Solver: Name, Effort: int64(s.opts.Effort), Gap: s.opts.Gap, Seed: s.opts.Seed, Warm: s.opts.Warm != nil}
}

// solve answers an instance without options.
func (s *Solver) solve(ctx context.Context, inst *solver.Instance) *solver.Solution {
	sol, _ := s.solveBeside(ctx, inst, beside{})
	return sol
}

// solveBeside is solve, but gives up where an early answer exceeds the ceilings of known.within or cannot be had: what it
// returns then has a bound alone. It reports whether servers have lists of patterns.
func (s *Solver) solveBeside(ctx context.Context, inst *solver.Instance, known beside) (sol *solver.Solution, listed bool) {
	p := problem.New(inst)
	if conflict := counting.Conflict(p); conflict != nil {
		return infeasible(conflict), false
	}
	run := newRun(p, &s.opts, s.tune)
	run.beside = known
	run.search(ctx)
	if !run.refused {
		return s.concluded(ctx, run), run.s != nil
	}
	sol = &solver.Solution{Bound: p.Inst.Cap(), Effort: run.a.Work + run.extra}
	if run.tree != nil {
		sol.Bound = math.Min(sol.Bound, run.tree.Bound())
	}
	return sol, run.s != nil
}

// concluded returns the answer of a search that has ended.
func (s *Solver) concluded(ctx context.Context, run *run) *solver.Solution {
	// Enumeration replaces the search's answer where it can finish; prices come last, because they
	// only matter when nothing was found.
	sol := run.solution()
	if run.enumerable() {
		run.enumerate(ctx, sol)
	}
	// Whoever is in a hurry does not wait for a reason.
	if !sol.Status.HasSolution() && sol.Status != solver.Infeasible && ctx.Err() == nil {
		conflict, rounds := conflict.Priced(ctx, run.p)
		run.extra += rounds
		if conflict == nil && run.unfillable {
			conflict = &solver.Conflict{Constraints: []solver.Constraint{solver.Capacity, solver.Minimum}, Kind: -1}
		}
		if conflict == nil {
			conflict = run.searchedConflict(ctx)
		}
		if conflict != nil {
			sol = infeasible(conflict)
		}
	}
	sol.Effort = run.effort()
	sol.Interrupted = ctx.Err() != nil
	return sol
}

func infeasible(conflict *solver.Conflict) *solver.Solution {
	return &solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1), Conflict: conflict}
}
