// This file recomputes the proof behind a Decision.

package alloc

import "errors"

// ErrNoProof is returned by VerifyBound for a decision that comes without multipliers.
var ErrNoProof = errors.New("alloc: the decision has no multipliers")

// Proof is what VerifyBound finds.
type Proof struct {
	// Bound is an upper bound on the utilization of every solution of the decision's P2, computed
	// afresh from the multipliers by code that shares nothing with the solver.
	Bound float64 `json:"bound"`
	// Searched says that the decision's own Bound is lower because branch and bound or enumeration
	// ruled out the rest, a part of the proof that only another search can repeat, or because
	// utilizations come in steps and none lies between.
	Searched bool `json:"searched"`
}

// VerifyBound recomputes the upper bound that the multipliers behind d prove, by weak duality, whoever
// found them: with solver.DualBound and solver.CopyBound, whichever proves more. The cost is theirs: for
// thousands of servers some seconds.
func VerifyBound(d *Decision) (Proof, error) {
	if d.Status != Decided || d.attempt.solution.Multipliers == nil && d.attempt.solution.Copies == nil {
		return Proof{}, ErrNoProof
	}
	bound, err := d.attempt.solution.Certified(d.attempt.instance)
	return Proof{Bound: bound, Searched: d.attempt.solution.Searched}, err
}
