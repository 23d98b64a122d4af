// This file lets any milp.Solver answer P2: Solver, its options, and the order of its steps.

package mip

import (
	"context"
	"fmt"
	"math"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// Solver answers P2 by writing it in one of the forms for a back-end. It is safe for concurrent use if
// the back-end is.
type Solver struct {
	backend milp.Solver
	form    Form
	opts    Options
}

// A Solver may decide in alloc.Reallocate.
var _ solver.Solver = (*Solver)(nil)

// New returns a Solver; nil options mean the defaults. With the form Class an allocation comes out only
// where the packing step succeeds; the bound holds anyway. A form that is none is apportion.ErrUnknown in Solve.
func New(backend milp.Solver, form Form, opts *Options) *Solver {
	s := &Solver{backend: backend, form: form}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Name == "" {
		s.opts.Name = fmt.Sprintf("%T", backend)
	}
	return s
}

// Solve implements solver.Solver. The error is what inst.Validate finds, apportion.ErrUnknown for
// the form, what the back-end says about a program that it could not run, or a [*milp.WrongAnswerError] if its answer
// does not hold, or its proof: the embedded solver attains more at little effort.
func (s *Solver) Solve(ctx context.Context, inst *solver.Instance) (*solver.Solution, error) {
	// 1. What is no instance never reaches a back-end: forms and back-ends need not fear their input.
	if err := inst.Validate(); err != nil {
		return nil, err
	}
	// 2. The program is built anew for each decision: capacities, bounds and shares all change
	// between two.
	model, err := BuildFor(s.backend, inst, s.form)
	if err != nil {
		return nil, err
	}
	answer, err := milp.Solve(ctx, s.backend, model.MILP, &s.opts.Search)
	if err != nil {
		return nil, fmt.Errorf("mip: P2 in the %s form: %w", s.form, err)
	}
	// 3. Infeasible is final for every form, since a relaxation without a solution leaves P2 none. A solver that stops
	// early may have no bound at all, +Inf; the cap always holds.
	bound := math.Min(answer.Bound, inst.Cap())
	if answer.Status == milp.Infeasible {
		bound = math.Inf(-1)
	}
	other, err := s.refute(ctx, inst, &answer, bound)
	if err != nil {
		return nil, err
	}
	if answer.Status == milp.Infeasible {
		return &solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1), Certificate: s.certificate()}, nil
	}
	// Within proofTolerance a proof stands, but no bound is below what is attained: what the back-end's tolerances
	// let it overlook counts as a gap.
	if other.Status.HasSolution() {
		bound = math.Max(bound, other.Objective)
	}
	solution := &solver.Solution{
		Bound:       bound,
		Effort:      answer.Nodes,
		Interrupted: answer.Status == milp.Cancelled,
		Certificate: s.certificate(),
	}
	if !answer.HasSolution() {
		return solution, nil
	}
	// 4. The rest is for the preference: taking over the counts, and asking for the lower levels.
	p := &preference{backend: s.backend, opts: s.opts, inst: inst, model: model, answer: answer, solution: solution}
	return solution, p.climb(ctx)
}

// certificate says who answered. General solvers prove by search, without prices of ours.
func (s *Solver) certificate() solver.Certificate {
	return solver.Certificate{
		Searched: true,
		By:       solver.Settings{Solver: s.opts.Name, Form: string(s.form), Gap: s.opts.Search.RelativeGap, Preference: s.opts.Preference},
	}
}
