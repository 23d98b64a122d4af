// This file implements the referee, which re-checks a solver's answer from the model alone.

package milp

import (
	"errors"
	"fmt"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// objectiveTolerance is what two computations of the objective, or a bound and an objective, may
// differ by in the wrong direction, relative to the sum of the sizes of the objective's terms (at
// least 1): back-ends sum in another order, on values within their own feasibility tolerance.
const objectiveTolerance = 1e-6

// pointTolerance is what a point that refutes a claim may miss a row or a bound by: rounding alone.
const pointTolerance = 1e-9

// WrongAnswerError reports that a back-end's answer does not hold: a bug in it or numerical
// trouble, never the caller's fault.
type WrongAnswerError struct {
	// Solver is the Go type of the back-end.
	Solver string
	// Answer is what it said.
	Answer Solution
	// Err is what is wrong with it; [apportion.Faults] for a point that is not feasible.
	Err error
}

// Error returns "milp: wrong answer of bb.Solver (optimal): row "cap": activity is out of range".
func (e *WrongAnswerError) Error() string {
	return fmt.Sprintf("milp: wrong answer of %s (%s): %v", e.Solver, e.Answer.Status, e.Err)
}

// Unwrap returns what is wrong with the answer.
func (e *WrongAnswerError) Unwrap() error { return e.Err }

// Verify checks a point against the model: a value for every variable, finite, within its bounds,
// whole where the variable is integer, and every row within its bounds. A bound b may be missed by
// feasibility*max(1, |b|), a whole number by integrality. It returns nil or every fault as
// [apportion.Faults]. O(nonzeros).
func (m *Model) Verify(values []float64, feasibility, integrality float64) error {
	var faults apportion.Faults
	// Without one value a variable no row can be summed up, so this fault is reported alone.
	if len(values) != m.Variables() {
		faults.Add(apportion.Item{ID: "point"}, "values", apportion.ErrLength,
			fmt.Sprintf("%d values for %d variables", len(values), m.Variables()))
		return faults.Err()
	}
	for j, x := range values {
		// A value has one fault at most: outside its bounds comes before not whole.
		detail, fault := misses(x, m.lower[j], m.upper[j], feasibility)
		if fault == nil && m.integer[j] && math.Abs(x-math.Round(x)) > integrality {
			detail, fault = formatNumber(x)+" is not whole", apportion.ErrRange
		}
		if fault != nil {
			faults.Add(check.Item("variable", m.VariableName(j), j), "value", fault, detail)
		}
	}
	for i := range m.rowLower {
		if detail, fault := misses(m.Activity(i, values), m.rowLower[i], m.rowUpper[i], feasibility); fault != nil {
			faults.Add(check.Item("row", m.RowName(i), i), "activity", fault, detail)
		}
	}
	return faults.Err()
}

// misses says how x misses [lower, upper]: the value and the fault; nil if it does not.
func misses(x, lower, upper, tolerance float64) (detail string, fault error) {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return formatNumber(x), apportion.ErrNotFinite
	// tolerance*max(1, |b|) is absolute for small bounds and relative for large ones. An infinite
	// bound makes the left side -Inf, and the comparison false.
	case lower-x > tolerance*math.Max(1, math.Abs(lower)):
		return formatNumber(x) + " < " + formatNumber(lower), apportion.ErrRange
	case x-upper > tolerance*math.Max(1, math.Abs(upper)):
		return formatNumber(x) + " > " + formatNumber(upper), apportion.ErrRange
	}
	return "", nil
}

// referee checks the solver's answer and completes it: whole values made exactly whole, Objective
// recomputed, Bound of a model without solutions set.
func referee(m *Model, opts *Options, s *Solution) error {
	if math.IsNaN(s.Bound) {
		return errors.New("the bound is NaN")
	}
	// Values and Status must fit together before the values are looked at.
	switch s.Status {
	case Optimal, Feasible:
		// A claim of a point needs one.
		if s.Values == nil {
			return errors.New("no values")
		}
		return checkPoint(m, opts, s)
	case Cancelled:
		if s.Values != nil {
			return checkPoint(m, opts, s)
		}
		s.Objective = math.NaN()
		return nil
	case Infeasible, Unbounded, LimitReached:
		if s.Values != nil {
			return errors.New("values without a solution")
		}
		s.Objective = math.NaN()
		return checkNoPoint(m, opts, s)
	}
	return errors.New("no outcome")
}

// checkPoint checks the values, and their objective against the bound.
func checkPoint(m *Model, opts *Options, s *Solution) error {
	// Step 1: the answer as it came, within the tolerances that were asked for.
	if err := m.Verify(s.Values, opts.FeasibilityTolerance, opts.IntegralityTolerance); err != nil {
		return err
	}
	// Step 2: whole values are made exactly whole,
	for j, integer := range m.integer {
		if integer {
			s.Values[j] = math.Round(s.Values[j]) + 0 // never -0
		}
	}
	// and the point is checked once more: a rounding by 1e-7 times a coefficient of 1e6 breaks a
	// row.
	if err := m.Verify(s.Values, opts.FeasibilityTolerance, 0); err != nil {
		return fmt.Errorf("with integer variables rounded: %w", err)
	}
	// Step 3: the objective is computed here. What the back-end said about it does not count.
	s.Objective = m.Objective(s.Values)
	slack := objectiveTolerance * m.objectiveScale(s.Values)
	// Step 4: no feasible point is better than a bound; this one would be.
	if shortfall := m.sense.loss(s.Objective, s.Bound); shortfall < -slack {
		return fmt.Errorf("objective %g is better than bound %g", s.Objective, s.Bound)
	}
	// Step 5: Optimal is a claim about the gap. An infinite bound gives an infinite gap, which no
	// limit covers.
	gap := math.Abs(s.Objective - s.Bound)
	allowed := max(opts.AbsoluteGap, opts.RelativeGap*math.Abs(s.Bound)) + slack
	if s.Status == Optimal && (math.IsInf(gap, 0) || !(gap <= allowed)) {
		return fmt.Errorf("objective %g and bound %g are further apart than asked", s.Objective, s.Bound)
	}
	// Step 6: points next to the answer and the hint are held against the bound, which may cut
	// them off.
	return m.checkBound(s.Bound, s.Values, opts.Hint)
}

// checkBound holds a bound against points that are found without a search: the starts, and what one
// pass of improvement makes of each.
func (m *Model) checkBound(bound float64, starts ...[]float64) error {
	if math.IsInf(bound, 0) {
		return nil
	}
	for _, start := range starts {
		// A start that is not feasible proves nothing. It need not be complete either: NaN fails
		// the check.
		if start == nil || m.Verify(start, pointTolerance, 0) != nil {
			continue
		}
		// improve rounds, so its point is checked before it counts as evidence.
		x := m.improve(start)
		if objective := m.Objective(x); m.Verify(x, pointTolerance, 0) == nil && m.sense.loss(objective, bound) < -objectiveTolerance*m.objectiveScale(x) {
			return fmt.Errorf("bound %g, and yet a point with objective %g is feasible", bound, objective)
		}
	}
	return nil
}

// checkNoPoint holds a claim without values against what is known: a feasible hint, or one of a few points
// that need no search, refutes infeasibility; costs on bounded variables alone refute unboundedness.
func checkNoPoint(m *Model, opts *Options, s *Solution) error {
	switch s.Status {
	case LimitReached:
		return m.checkBound(s.Bound, opts.Hint)
	case Infeasible:
		// The bound of an infeasible model is the objective of no point at all: +Inf where it is
		// minimised.
		s.Bound = m.sense.worst()
		for _, x := range [][]float64{opts.Hint, m.corner(0), m.corner(math.Inf(-1)), m.corner(math.Inf(1))} {
			// The tolerance is 0: infeasible by less than the tolerance is still a right answer.
			if x != nil && m.Verify(x, 0, 0) == nil {
				return errors.New("infeasible, and yet the starting solution or a corner of the bounds is feasible")
			}
		}
	case Unbounded:
		// No bound holds for an unbounded model: -Inf where it is minimised.
		s.Bound = -m.sense.worst()
		if !m.mayBeUnbounded() {
			return errors.New("every variable with a cost is bounded")
		}
	}
	return nil
}

// objectiveScale returns the sum of the sizes of the objective's terms, at least 1.
func (m *Model) objectiveScale(values []float64) float64 {
	// Rounding of a sum grows with the sizes of its terms, not with its value: large costs may
	// cancel out.
	scale := math.Max(1, math.Abs(m.constant))
	for j, cost := range m.cost {
		scale += math.Abs(cost * values[j])
	}
	return scale
}

// mayBeUnbounded reports whether some variable can improve the objective without end, as far as
// its own bounds go.
func (m *Model) mayBeUnbounded() bool {
	for j, cost := range m.cost {
		gain := cost * -m.sense.worst() // +Inf where a larger x is better; NaN without a cost
		if gain > 0 && math.IsInf(m.upper[j], 1) || gain < 0 && math.IsInf(m.lower[j], -1) {
			return true
		}
	}
	return false
}

func (s Sense) loss(objective, bound float64) float64 {
	if s == Maximize {
		return bound - objective
	}
	return objective - bound
}
