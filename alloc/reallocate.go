// This file takes the decision at an arrival or a completion, [Dorm §III-C1, §IV-B].

package alloc

import (
	"context"
	"errors"
	"fmt"

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
	servable := r.servable()
	first, err := r.solve(ctx, servable, by)
	if err != nil {
		return nil, err
	}
	if first.solution.Status.HasSolution() {
		return r.decided(first, nil)
	}
	reason := r.reason(first)
	if p.Options.AdmitPrefix {
		for _, apps := range r.prefixes(servable) {
			next, err := r.solve(ctx, apps, by)
			if err != nil {
				return nil, err
			}
			if next.solution.Status.HasSolution() {
				return r.decided(next, reason)
			}
		}
	}
	return r.kept(first, reason)
}

// attempt is one P2 and its answer.
type attempt struct {
	apps     []int
	instance *solver.Instance
	solution *solver.Solution
}

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

// referee recomputes what a solver claims.
func referee(inst *solver.Instance, s *solver.Solution) error {
	if !s.Status.HasSolution() {
		return nil
	}
	if err := inst.Check(s.Counts); err != nil {
		return fmt.Errorf("%w: %w", ErrSolver, err)
	}
	objective := inst.Objective(s.Counts)
	if d := objective - s.Objective; d > solver.ObjectiveTolerance || d < -solver.ObjectiveTolerance {
		return fmt.Errorf("%w: objective %g is %g", ErrSolver, s.Objective, objective)
	}
	if objective > s.Bound+solver.ObjectiveTolerance {
		return fmt.Errorf("%w: objective %g is above its bound %g", ErrSolver, objective, s.Bound)
	}
	return nil
}

// prefixes returns the applications of P2 with ever fewer newcomers, the last ones left out first;
// the full list itself is not among them.
func (r *resolved) prefixes(servable []int) [][]int {
	var lists [][]int
	for cut := len(servable) - 1; cut >= 0; cut-- {
		if r.running(servable[cut]) {
			continue
		}
		var apps []int
		for s, i := range servable {
			if s < cut || r.running(i) {
				apps = append(apps, i)
			}
		}
		lists = append(lists, apps)
	}
	return lists
}

// decided builds the decision from an attempt that has a solution. shut is why newcomers outside
// the attempt were not let in.
func (r *resolved) decided(a *attempt, shut *Reason) (*Decision, error) {
	metrics, err := r.measure(a.instance, a.apps, a.solution.Counts)
	if err != nil {
		return nil, err
	}
	d := &Decision{
		Status:      Decided,
		Allocation:  r.allocation(a.apps, a.solution.Counts),
		Objective:   a.solution.Objective,
		Bound:       a.solution.Bound,
		Gap:         a.solution.Gap(),
		Proven:      a.solution.Proven,
		Metrics:     metrics,
		Shares:      r.sharesOf(a.instance, a.apps, a.solution.Counts),
		Interrupted: a.solution.Interrupted,
		attempt:     a,
	}
	d.Waiting = r.waiting(d.Allocation, a.apps, shut)
	return d, nil
}

// kept builds the decision that changes nothing.
func (r *resolved) kept(a *attempt, reason *Reason) (*Decision, error) {
	inst, apps := r.instanceOfAll(), everyone(r.problem)
	metrics, err := r.measure(inst, apps, r.previous)
	if err != nil {
		return nil, err
	}
	d := &Decision{
		Status:      Kept,
		Allocation:  r.allocation(apps, r.previous),
		Objective:   metrics.ResourceUtilization,
		Metrics:     metrics,
		Shares:      r.sharesOf(inst, apps, r.previous),
		Reason:      reason,
		Interrupted: a.solution.Interrupted,
		attempt:     &attempt{apps, inst, &solver.Solution{Counts: r.previous}},
	}
	d.Waiting = r.waiting(d.Allocation, apps, reason)
	return d, nil
}

// sharesOf returns how every application of the problem fares under counts, which has one entry
// for each of apps. Applications outside apps have no share.
func (r *resolved) sharesOf(inst *solver.Instance, apps []int, counts solver.Counts) []Share {
	shares := make([]Share, len(r.problem.Applications))
	for i := range shares {
		shares[i].ID = r.problem.Applications[i].ID
	}
	for a, i := range apps {
		app := &inst.Apps[a]
		n := solver.Containers(counts[a])
		shares[i].Containers = n
		shares[i].Actual = app.Delta * float64(n)
		shares[i].Theoretical = app.Share
		shares[i].Loss = app.Loss(n)
		shares[i].Adjusted = app.Adjusted(counts[a])
	}
	return shares
}
