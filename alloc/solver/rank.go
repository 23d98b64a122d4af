// This file implements the enumerations of an answer, Status and Rank, and their text forms.

package solver

import "github.com/apportion/apportion/internal/enum"

// Status says what a solver found out. In JSON it is its name.
type Status uint8

// The statuses, from the least that was found out.
const (
	// Unknown: no solution was found, and none was shown to be impossible.
	Unknown Status = iota
	// Feasible: a solution, not shown to be best; Bound says how much better one could be.
	Feasible
	// Optimal: a solution whose utilization no other exceeds by more than ObjectiveTolerance, or where a general
	// solver proves it (package mip) by more than 1e-7, the gap at which such solvers stop.
	Optimal
	// Infeasible: P2 has no solution, which is proven.
	Infeasible
)

// statusNames has the texts of the statuses, in their order.
var statusNames = []string{"unknown", "feasible", "optimal", "infeasible"}

// HasSolution reports whether a Solution of this status carries Counts.
func (s Status) HasSolution() bool { return s == Feasible || s == Optimal }

// String returns the status in lower case.
func (s Status) String() string { return enum.String(s, statusNames) }

// MarshalText returns the name, and refuses a number that is no Status.
func (s Status) MarshalText() ([]byte, error) { return enum.Marshal(s, statusNames) }

// UnmarshalText reads a name, and refuses any other text.
func (s *Status) UnmarshalText(text []byte) error { return enum.Unmarshal(s, text, statusNames) }

// Rank says down to which level of the lexicographic preference among the optima of P2 an answer
// is proven: more utilization, less fairness loss, fewer adjusted applications, fewer moved
// containers, then the lexicographically smallest x read application by application, server by
// server. P2 has many optima; the preference follows the order of objectives in P1 (5). In JSON a
// Rank is its name.
type Rank uint8

// The levels, each with all before it.
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

// rankNames has the texts of the ranks, in their order.
var rankNames = []string{"nothing", "utilization", "loss", "adjusted", "moved", "order"}

// String returns the name of the last level that is proven.
func (r Rank) String() string { return enum.String(r, rankNames) }

// MarshalText returns the name, and refuses a number that is no Rank.
func (r Rank) MarshalText() ([]byte, error) { return enum.Marshal(r, rankNames) }

// UnmarshalText reads a name, and refuses any other text.
func (r *Rank) UnmarshalText(text []byte) error { return enum.Unmarshal(r, text, rankNames) }
