// This file measures one search: the embedded solver with an effort, a general one on a form.

package main

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
)

// effort is a setting of the embedded solver.
type effort struct {
	name   string
	effort embedded.Effort
}

// Proof is a matter of its own, see certificates.
var efforts = []effort{{"quick", embedded.Quick}, {"default", embedded.Default}, {"thorough", embedded.Thorough}}

// repeats is how often the embedded solver, whose answer is the same each time, is timed; the median
// counts.
const repeats = 3

// measureOwn times the embedded solver, from the instance to the answer.
// The budget is in moves, so that the same answer comes each time, as long as the limit does not cut it
// off.
func measureOwn(ctx context.Context, inst *solver.Instance, e effort, limit time.Duration) (trace, error) {
	s := embedded.New(&embedded.Options{Effort: e.effort})
	var times []time.Duration
	var last point
	for range repeats {
		limited, cancel := context.WithTimeout(ctx, limit)
		start := time.Now()
		solution, err := s.Solve(limited, inst)
		elapsed := time.Since(start)
		cancel()
		if err != nil {
			return nil, err
		}
		times = append(times, elapsed)
		last = pointOf(solution, 0)
	}
	slices.Sort(times)
	last.after = times[repeats/2]
	return trace{last}, nil
}

// pointOf returns what the embedded solver had in the end.
// A solution that was cut off has a bound all the same.
func pointOf(sol *solver.Solution, after time.Duration) point {
	p := point{after: after, objective: math.NaN(), bound: sol.Bound, proven: sol.Status == solver.Optimal}
	if sol.Status.HasSolution() {
		p.objective = sol.Objective
	}
	return p
}

// search is a general solver on a form of an instance.
// near is only used for solvers without a log of their own.
type search struct {
	inst    *solver.Instance
	solver  milp.Solver
	form    mip.Form
	limit   time.Duration
	workers int
	// near is a utilization from which on a shorter search is of interest.
	near float64
}

// shortest is the shortest search that is tried.
// Less than that is the time to write the program.
const shortest = 10 * time.Millisecond

// measure returns what the solver had when. An engine with a log of its own tells that itself, except
// on a form whose solutions are none of P2 until they are packed. The others are asked again with half
// the time of the last search, as long as the answer is near.
// What halving finds is late by up to a factor of two, which the README says.
func (s *search) measure(ctx context.Context) (trace, error) {
	if s.form != mip.Class && milp.Capabilities(s.solver)&milp.CanLog != 0 {
		var points trace
		last, err := s.once(ctx, s.limit, func(p point) { points = points.add(p) })
		if err != nil {
			return nil, err
		}
		return append(points, last), nil
	}
	var points trace
	for limit := s.limit; ; {
		last, err := s.once(ctx, limit, nil)
		if err != nil {
			return nil, err
		}
		points = append(points, last)
		limit = min(limit, last.after) / 2
		if limit < shortest || !(last.objective >= s.near) || ctx.Err() != nil {
			break
		}
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.after, b.after) })
	return points, nil
}

// once searches once, from the instance to the allocation, and hands on what the engine logs.
// The allocation is checked against the instance, whatever the solver says of it.
func (s *search) once(ctx context.Context, limit time.Duration, log func(point)) (point, error) {
	start := time.Now()
	model, err := mip.BuildFor(s.solver, s.inst, s.form)
	if err != nil {
		return point{}, err
	}
	opts := &milp.Options{TimeLimit: limit}
	if milp.Capabilities(s.solver)&milp.CanWorkers != 0 {
		opts.Workers = s.workers
	}
	if log != nil {
		opts.Log = func(p milp.Progress) {
			log(point{after: time.Since(start), objective: p.Objective, bound: p.Bound})
		}
	}
	answer, err := milp.Solve(ctx, s.solver, model.MILP, opts)
	if err != nil {
		return point{}, err
	}
	last := point{objective: math.NaN(), bound: answer.Bound}
	if answer.HasSolution() {
		if counts := model.Counts(answer.Values); s.inst.Check(counts) == nil {
			last.objective = s.inst.Objective(counts)
			last.proven = answer.Status == milp.Optimal && (!model.Relaxed || last.gap() <= provenGap)
		}
	}
	last.after = time.Since(start)
	return last, nil
}

// provenGap is the gap at which an allocation that was packed from a solution by server class counts
// as proven: general solvers leave as much to rounding.
const provenGap = 1e-7
