// This file implements Bounds: U, L and eta of the price functions, [OASiS] eqs. (23)-(26).

package primaldual

import (
	"fmt"
	"math"
	"slices"

	"github.com/apportion/apportion"
)

// Bounds are the two ends of every price function, one pair a kind and side: LWorker[r] is the price
// of kind r on an empty worker server, UWorker[r] on a full one, per unit of the kind and slot. A
// pair of zeros is a kind that no job demands there; it costs nothing.
type Bounds struct {
	UWorker []float64 `json:"U_worker"`
	LWorker []float64 `json:"L_worker"`
	UPS     []float64 `json:"U_ps"`
	LPS     []float64 `json:"L_ps"`
	// EtaWorker and EtaPS are the scaling factors eta_1 and eta_2 that L was made with; they are
	// kept for the record and take no part in prices.
	EtaWorker float64 `json:"eta_worker,omitzero"`
	EtaPS     float64 `json:"eta_ps,omitzero"`
}

// Validate returns what is wrong with the bounds, or nil: every list has one number a kind, finite
// and not negative, and 0 < L < U where not both are 0.
func (b *Bounds) Validate(kinds apportion.Kinds) error {
	var faults apportion.Faults
	for _, side := range []struct {
		name         string
		upper, lower []float64
	}{{"Worker", b.UWorker, b.LWorker}, {"PS", b.UPS, b.LPS}} {
		// With a list of another length side.upper[r] below would not exist: one fault says so, and
		// the pairs of this side are not looked at.
		if len(side.upper) != len(kinds) || len(side.lower) != len(kinds) {
			detail := fmt.Sprintf("%d and %d numbers for %d kinds", len(side.upper), len(side.lower), len(kinds))
			faults.Add(apportion.Item{ID: "bounds"}, "U"+side.name+", L"+side.name, apportion.ErrLength, detail)
			continue
		}
		for r := range kinds {
			if sort := pairFault(side.upper[r], side.lower[r]); sort != nil {
				detail := fmt.Sprintf("U %g, L %g", side.upper[r], side.lower[r])
				faults.Add(apportion.Item{ID: "bounds"}, side.name+"["+kinds.Name(r)+"]", sort, detail)
			}
		}
	}
	return faults.Err()
}

// clone returns a copy that shares nothing with b.
// b may be the caller's: prices must not move in mid-run when he writes into his lists, as Lemma 1
// needs price functions that stay.
func (b *Bounds) clone() *Bounds {
	out := *b
	out.UWorker, out.LWorker = slices.Clone(b.UWorker), slices.Clone(b.LWorker)
	out.UPS, out.LPS = slices.Clone(b.UPS), slices.Clone(b.LPS)
	return &out
}

// pairFault returns what is wrong with U and L of one kind, or nil.
func pairFault(upper, lower float64) error {
	switch {
	// One test does for both numbers: upper - lower is NaN or infinite where upper or lower is.
	case math.IsNaN(upper-lower) || math.IsInf(upper-lower, 0):
		return apportion.ErrNotFinite
	case upper < 0 || lower < 0:
		return apportion.ErrNegative
	case upper == 0 && lower == 0:
		return nil
	// ln(U/L) of (22) needs lower > 0, and with upper <= lower a price would not rise as a server
	// fills up: nothing would keep the last of it for the jobs that are worth most.
	case lower == 0 || upper <= lower:
		return apportion.ErrConflict
	}
	return nil
}

// Alpha returns max(1, ln(U/L) over kinds and sides). With prices from these bounds the online
// algorithm is 2 alpha-competitive where one job takes a small part of every server (doc.go,
// Contract, lists what that needs). Source: [OASiS] Theorem 4.
func (b *Bounds) Alpha() float64 {
	// The 1 hardly ever counts: where BoundsOf knows a job that fits the cluster, L <= U/4 and thus
	// alpha >= ln 4.
	alpha := 1.0
	for _, side := range [][2][]float64{{b.UWorker, b.LWorker}, {b.UPS, b.LPS}} {
		for r, upper := range side[0] {
			// Kinds without a price are in no term of (20), so that alpha need not cover them. The
			// difference of logarithms stays finite where U/L would overflow.
			if upper > 0 {
				alpha = max(alpha, math.Log(upper)-math.Log(side[1][r]))
			}
		}
	}
	return alpha
}
