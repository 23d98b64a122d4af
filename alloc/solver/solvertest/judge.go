// This file judges a solution by itself and against the truth.

package solvertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/apportion/apportion/alloc/solver"
)

// proofTolerance is how far a recomputed bound may lie above the claimed one: a solver sums up the same
// prices in another order.
// It is the tolerance of alloc.Verify, by which answers that pass here are verified.
const proofTolerance = 1e-8

// judge checks what any solution must satisfy, whatever the optimum is: the referee, the objective, the
// bound and its certificate, the status, JSON.
// It holds for every status, also Unknown and interrupted searches: that a solver ran out of time
// excuses no wrong number.
func judge(inst *solver.Instance, s *solver.Solution) error {
	// NaN compares as false with everything, so that it is asked for by name.
	if s.Bound > inst.Cap()+solver.ObjectiveTolerance || math.IsNaN(s.Bound) {
		return fmt.Errorf("bound %g is above the cap %g", s.Bound, inst.Cap())
	}
	if !s.Status.HasSolution() {
		if s.Counts != nil {
			return fmt.Errorf("%s, and yet with counts", s.Status)
		}
		// No number is an upper bound of nothing but -Inf, and -Inf is one of nothing else.
		if s.Status == solver.Infeasible != math.IsInf(s.Bound, -1) {
			return fmt.Errorf("%s with bound %g", s.Status, s.Bound)
		}
		return survives(s)
	}
	if err := inst.Check(s.Counts); err != nil {
		return err
	}
	if got := inst.Objective(s.Counts); !(math.Abs(got-s.Objective) <= solver.ObjectiveTolerance) {
		return fmt.Errorf("objective %g, recomputed %g", s.Objective, got)
	}
	if s.Objective > s.Bound+solver.ObjectiveTolerance {
		return fmt.Errorf("objective %g is above its bound %g", s.Objective, s.Bound)
	}
	// Status and rank say the same about the first level; alloc reads the one, reports the other.
	if (s.Status == solver.Optimal) != (s.Proven >= solver.ByUtilization) {
		return fmt.Errorf("%s, proven by %s", s.Status, s.Proven)
	}
	if err := certified(inst, s); err != nil {
		return err
	}
	return survives(s)
}

// certified recomputes the proof.
// Weak duality makes the recomputed bound valid for any prices, so that one below the objective
// shows prices that are not legal for this instance, or a fault of the bound itself.
func certified(inst *solver.Instance, s *solver.Solution) error {
	proven, err := s.Certified(inst)
	if err != nil {
		return err
	}
	if proven < s.Objective-solver.ObjectiveTolerance {
		return fmt.Errorf("the prices prove %g, below the objective %g", proven, s.Objective)
	}
	// A solver without prices, as a general one, claims no more than the cap, or that it has
	// searched.
	priced := s.Multipliers != nil || s.Copies != nil
	if priced && !s.Searched && proven > s.Bound+proofTolerance {
		return fmt.Errorf("bound %g without a search, the prices prove %g", s.Bound, proven)
	}
	return nil
}

// survives checks that the solution comes back from JSON as it was.
// Infinite bounds, empty lists and absent prices are what a naive form of JSON loses.
func survives(s *solver.Solution) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	again := new(solver.Solution)
	// A decision is recorded with the solution's certificate: what JSON loses could not be verified
	// later.
	if err := json.Unmarshal(text, again); err != nil {
		return err
	}
	if !reflect.DeepEqual(s, again) {
		return errors.New("JSON gives another solution back")
	}
	return nil
}

// compare holds a solution against the best one; best is nil where there is none.
// The cases stand from the worst fault to the least: a solution denied, a false bound, none found,
// a false optimum.
func (o *Options) compare(inst *solver.Instance, s *solver.Solution, best solver.Counts) error {
	if err := judge(inst, s); err != nil {
		return err
	}
	// A solver may say Unknown where there is no solution only if it may miss solutions anyway.
	if best == nil {
		if s.Status.HasSolution() || s.Status != solver.Infeasible && !o.Relaxed {
			return fmt.Errorf("%s where there is no solution", s.Status)
		}
		return nil
	}
	// best comes from enumeration, which shares no code with any solver.
	optimum := inst.Objective(best)
	switch {
	case s.Status == solver.Infeasible:
		return errors.New("infeasible where there is a solution")
	case s.Bound < optimum-o.Tolerance:
		return fmt.Errorf("bound %.12g is below the optimum %.12g", s.Bound, optimum)
	case !s.Status.HasSolution() && !o.Relaxed:
		return fmt.Errorf("%s where there is a solution", s.Status)
	case s.Status == solver.Optimal && s.Objective < optimum-o.Tolerance:
		return fmt.Errorf("optimal with %.12g, where %.12g is attained", s.Objective, optimum)
	}
	if !s.Status.HasSolution() {
		return nil // a relaxed solver that found nothing, and so has no levels to compare
	}
	return ranked(inst, s, best)
}

// rankTolerance is how far the loss of an answer that is proven by loss may be above the least: general
// solvers prove that level to a tolerance of their own.
const rankTolerance = 1e-5

// ranked checks that the levels which are proven are those of the preferred solution.
func ranked(inst *solver.Instance, s *solver.Solution, best solver.Counts) error {
	// The objective of both is the optimum, the price of loss included, within the tolerance.
	// best is preferred among all optima. Levels are compared from the first on: a level that is
	// worse than best's although it is said to be proven is a false proof, and one that is better
	// can only stand where the utilization differs within the tolerance.
	got, want := inst.FairnessLoss(s.Counts), inst.FairnessLoss(best)
	if s.Proven >= solver.ByLoss && got > want+rankTolerance {
		return fmt.Errorf("proven by %s with loss %.12g, where %.12g is attained", s.Proven, got, want)
	}
	if s.Proven >= solver.ByAdjusted && inst.AdjustedApps(s.Counts) > inst.AdjustedApps(best) {
		return fmt.Errorf("proven by %s with %d adjusted, where %d are enough", s.Proven, inst.AdjustedApps(s.Counts), inst.AdjustedApps(best))
	}
	if s.Proven >= solver.ByMoved && inst.Moved(s.Counts) > inst.Moved(best) {
		return fmt.Errorf("proven by %s with %d moved, where %d are enough", s.Proven, inst.Moved(s.Counts), inst.Moved(best))
	}
	return nil
}
