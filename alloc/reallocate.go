// This file takes the decision at an arrival or a completion, [Dorm §III-C1, §IV-B].

package alloc

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
)

// ErrSolver is returned when a solver gave an answer that the referee refused: a fault of the
// solver, not of the problem.
var ErrSolver = errors.New("alloc: the solver's answer is wrong")

// Reallocate decides who has how many containers on which server from now on. A nil solver means
// the embedded one with its defaults.
//
// Where P2 has no solution, or the solver finds none, the existing allocation is kept and the
// newcomers wait ([Dorm §IV-B]); with Options.AdmitPrefix the longest prefix of the newcomers, in
// the order of p.Applications, that leaves P2 solvable is let in, by at most one attempt for each
// newcomer, longest prefix first. Keeping is a result with a Reason, not an error.
//
// Errors: what p.Validate finds; what the solver returns when it could not run; ErrSolver. When
// ctx ends, the best answer so far is returned, marked Interrupted.
func Reallocate(ctx context.Context, p *Problem, by solver.Solver) (*Decision, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if by == nil {
		by = embedded.New(nil)
	}
	r := resolve(p)
	whole, err := r.solve(ctx, r.servable(), by)
	if err != nil {
		return nil, err
	}
	admitted, refused := whole, (*attempt)(nil)
	if p.Options.AdmitPrefix {
		if admitted, refused, err = r.admitPrefix(ctx, whole, by); err != nil {
			return nil, err
		}
	}
	if admitted.solution.Status.HasSolution() {
		return r.decided(admitted, refused)
	}
	return r.kept(whole)
}

// attempt is one P2 and its answer.
type attempt struct {
	apps     []int // positions in the problem of the applications of instance
	instance *solver.Instance
	solution *solver.Solution
}

// solve makes one attempt with the given applications.
func (r *resolved) solve(ctx context.Context, apps []int, by solver.Solver) (*attempt, error) {
	inst := r.instance(apps)
	solution, err := by.Solve(ctx, inst)
	if err != nil {
		return nil, fmt.Errorf("alloc: solving P2: %w", err)
	}
	if err := referee(inst, solution); err != nil {
		return nil, err
	}
	return &attempt{apps, inst, solution}, nil
}

// referee recomputes what a solver claims, and lowers a bound to what needs no proof.
func referee(inst *solver.Instance, s *solver.Solution) error {
	if !s.Status.HasSolution() {
		return nil
	}
	if err := inst.Check(s.Counts); err != nil {
		return fmt.Errorf("%w: %w", ErrSolver, err)
	}
	objective := inst.Objective(s.Counts)
	if !(math.Abs(objective-s.Objective) <= solver.ObjectiveTolerance) {
		return fmt.Errorf("%w: objective %g is %g", ErrSolver, s.Objective, objective)
	}
	if !(objective <= s.Bound+solver.ObjectiveTolerance) {
		return fmt.Errorf("%w: objective %g is above its bound %g", ErrSolver, objective, s.Bound)
	}
	if err := s.Certificate.Check(inst); err != nil {
		return fmt.Errorf("%w: %w", ErrSolver, err)
	}
	return nil
}

// admitPrefix makes further attempts, each without one more of the newcomers, from the last one on,
// until one has a solution. admitted is that one, or the last one tried; refused is the attempt
// before it, with one newcomer more, or nil where whole has a solution.
func (r *resolved) admitPrefix(ctx context.Context, whole *attempt, by solver.Solver) (admitted, refused *attempt, err error) {
	admitted = whole
	for cut := len(whole.apps) - 1; cut >= 0 && !admitted.solution.Status.HasSolution(); cut-- {
		if r.running(whole.apps[cut]) {
			continue
		}
		refused = admitted
		if admitted, err = r.solve(ctx, r.withoutNewcomers(whole.apps, cut), by); err != nil {
			return nil, nil, err
		}
	}
	return admitted, refused, nil
}

// withoutNewcomers returns apps without the newcomers from position cut on.
func (r *resolved) withoutNewcomers(apps []int, cut int) []int {
	var kept []int
	for s, i := range apps {
		if s < cut || r.running(i) {
			kept = append(kept, i)
		}
	}
	return kept
}
