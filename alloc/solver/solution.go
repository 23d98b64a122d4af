// This file holds what a solver answers: Solution, Status, the proof and the preference.

package solver

import "math"

// Status says what a solver found out.
type Status int

const (
	// Unknown: no solution was found, and none was shown to be impossible.
	Unknown Status = iota
	// Feasible: a solution, not shown to be best; Bound says how much better one could be.
	Feasible
	// Optimal: a solution whose utilization no other exceeds by more than ObjectiveTolerance.
	Optimal
	// Infeasible: P2 has no solution; Conflict says why.
	Infeasible
)

// String returns the status in lower case.
func (s Status) String() string {
	switch s {
	case Unknown:
		return "unknown"
	case Feasible:
		return "feasible"
	case Optimal:
		return "optimal"
	case Infeasible:
		return "infeasible"
	}
	return "invalid"
}

// HasSolution reports whether a Solution of this status carries Counts.
func (s Status) HasSolution() bool { return s == Feasible || s == Optimal }

// Rank says down to which level of the lexicographic preference among the optima of P2 an answer
// is proven: more utilization, less fairness loss, fewer adjusted applications, fewer moved
// containers, then the lexicographically smallest x read application by application, server by
// server. P2 has many optima; the preference follows the order of objectives in P1 (5).
type Rank int

const (
	// ByNothing: not even the utilization is proven best.
	ByNothing Rank = iota
	// ByUtilization: the utilization is proven; the rest was preferred, not proven.
	ByUtilization
	// ByLoss: and among those, the fairness loss.
	ByLoss
	// ByAdjusted: and among those, the number of adjusted applications.
	ByAdjusted
	// ByMoved: and among those, the number of moved containers.
	ByMoved
	// ByOrder: the answer is the only one that the preference allows.
	ByOrder
)

// String returns the name of the last level that is proven.
func (r Rank) String() string {
	names := [...]string{"nothing", "utilization", "loss", "adjusted", "moved", "order"}
	if r < 0 || int(r) >= len(names) {
		return "invalid"
	}
	return names[r]
}

// Solution is a solver's answer to an Instance.
type Solution struct {
	Status Status
	// Counts is the allocation; nil unless Status.HasSolution.
	Counts Counts
	// Objective is the utilization (10) of Counts.
	Objective float64
	// Bound is an upper bound on the utilization of every solution: +Inf where none was found,
	// -Inf when Infeasible.
	Bound float64
	// Proven is how far down the lexicographic preference Counts is proven best.
	Proven Rank
	// Multipliers are prices for DualBound and for explanations, Copies such for CopyBound; each is nil
	// where the solver has none. What proves Bound is the better of the two, see Certified.
	Multipliers *Multipliers
	Copies      *CopyPrices
	// Searched says that Bound is lower than the multipliers prove: branch and bound or enumeration
	// ruled out the rest, which only doing it again can verify, or no utilization lies between, since
	// they come in steps.
	Searched bool
	// Conflict says what cannot be had together when Infeasible.
	Conflict *Conflict
	// Effort counts the solver's own steps; comparable only within one solver.
	Effort int64
	// Interrupted says that the context ended before the solver had finished.
	Interrupted bool
}

// Gap returns (Bound - Objective) / max(|Bound|, tiny): 0 when Optimal, +Inf without a solution or
// without a bound.
func (s *Solution) Gap() float64 {
	switch {
	case s.Status == Optimal:
		return 0
	case s.Status != Feasible || math.IsInf(s.Bound, 0):
		return math.Inf(1)
	}
	return math.Max(0, s.Bound-s.Objective) / math.Max(math.Abs(s.Bound), ObjectiveTolerance)
}

// Certified returns the upper bound that the multipliers of s prove by themselves, computed afresh from
// inst: the better of DualBound and CopyBound, +Inf where s has neither.
func (s *Solution) Certified(inst *Instance) (float64, error) {
	bound := math.Inf(1)
	if s.Multipliers != nil {
		dual, err := DualBound(inst, s.Multipliers)
		if err != nil {
			return 0, err
		}
		bound = dual
	}
	if s.Copies != nil {
		copies, err := CopyBound(inst, s.Copies)
		if err != nil {
			return 0, err
		}
		bound = math.Min(bound, copies)
	}
	return bound, nil
}

// Multipliers are prices on the three couplings of P2. With them the problem falls apart into one
// small problem per application, see DualBound. All are zero or positive.
type Multipliers struct {
	// Server[j][k] is the price of one unit of kind k on server j, in utilization.
	Server [][]float64
	// Loss is the price of one unit of the fairness budget, in utilization per share.
	Loss float64
	// Adjust is the price of one more adjusted application, in utilization. DualBound does not
	// use it: for given other prices the best one follows.
	Adjust float64
}

// Constraint names a constraint of P2 in a Conflict.
type Constraint string

// The constraints of P2 that can make it infeasible, with Dorm's equation numbers.
const (
	Capacity Constraint = "capacity (6)"
	Minimum  Constraint = "minimum containers (8)"
	Fairness Constraint = "fairness loss (15)"
	Adjust   Constraint = "adjustment (16)"
)

// Conflict explains why an Instance has no solution: the named constraints cannot hold together
// for the named applications.
type Conflict struct {
	// Constraints has at least one entry; Need and Have are the two sides of the first one, the
	// others held:
	//
	//	Capacity, Kind >= 0   units of that kind
	//	Capacity, Kind -1     parts of all there is, each kind counted at a price
	//	Minimum               containers
	//	Fairness              shares
	//	Adjust                applications
	Constraints []Constraint
	// Apps are the applications involved, ascending; empty: all of them.
	Apps []int
	// Kind is the kind of resource that is short, or -1.
	Kind int
	// Need is the least that the others leave possible, Have what there is; both 0: not known.
	Need, Have float64
}
