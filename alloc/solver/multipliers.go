// This file holds the prices from which the bounds of P2 are computed: Multipliers for DualBound,
// CopyPrices for CopyBound.

package solver

import (
	"errors"
	"math"
	"slices"
)

// ErrMultipliers is returned for multipliers of the wrong shape for the instance, or with an entry
// that is negative where it may not be, infinite or NaN.
var ErrMultipliers = errors.New("solver: multipliers must be finite, not negative, and fit the instance")

// Multipliers are prices on the couplings of P2. With them the problem falls apart into one
// small problem per application, see DualBound. All are zero or positive.
type Multipliers struct {
	// Server[j][k] is the price of one unit of kind k on server j, in utilization.
	Server [][]float64 `json:"server"`
	// Group[g][k] is the price of one unit of kind k below the ceiling of group g, in utilization. Optional; nil: 0.
	Group [][]float64 `json:"group,omitempty"`
	// Pieces are prices on what an application has on one server, by its size. Optional.
	Pieces []PiecePrices `json:"pieces,omitempty"`
	// Loss is the price of one unit of the fairness budget, in utilization per share.
	Loss float64 `json:"loss"`
	// Adjust is the price of one more adjusted application, in utilization. DualBound does not
	// use it: for given other prices the best one follows.
	Adjust float64 `json:"adjust"`
}

// CopyPrices are the multipliers of CopyBound.
type CopyPrices struct {
	// Container[i] is the price of one container of application i, of any sign: it relaxes that
	// adjusted and new applications have just the containers that servers pack for them.
	Container []float64 `json:"container"`
	// Loss is the price of one unit of the fairness budget; not negative.
	Loss float64 `json:"loss"`
	// Room[i][s] is the price, not negative, of what application i uses at its s-th entry of Previous:
	// a server counts on that room only where the application is adjusted. nil where it has none.
	Room [][]float64 `json:"room"`
}

// check returns ErrMultipliers unless there is a legal price for every server and kind, and for every group and kind
// or for no group.
func (m *Multipliers) check(inst *Instance) error {
	// A negative price would reward a violated constraint, and what it proves would be no bound.
	if !priceOK(m.Loss) || !priceOK(m.Adjust) || len(m.Server) != len(inst.Capacity) {
		return ErrMultipliers
	}
	// Certificates of solvers that know no ceilings have no prices on them, and are none the worse.
	if m.Group != nil && len(m.Group) != len(inst.Groups) || !m.checkPieces(inst) {
		return ErrMultipliers
	}
	for _, rows := range [...][][]float64{m.Server, m.Group} {
		for _, prices := range rows {
			if len(prices) != len(inst.Total) || slices.ContainsFunc(prices, badPrice) {
				return ErrMultipliers
			}
		}
	}
	return nil
}

// check returns ErrMultipliers unless there is a price for every application, and for all that those hold
// which may stay and whose leaving costs. For others prices of room may be missing: they would not count.
func (m *CopyPrices) check(inst *Instance) error {
	if !priceOK(m.Loss) || len(m.Container) != len(inst.Apps) || len(m.Room) != len(inst.Apps) {
		return ErrMultipliers
	}
	// Prices of room that nobody counts on may be missing.
	for i, room := range m.Room {
		if math.IsNaN(m.Container[i]) || math.IsInf(m.Container[i], 0) || len(room) > len(inst.Apps[i].Previous) ||
			inst.counts(i) && len(room) != len(inst.Apps[i].Previous) || slices.ContainsFunc(room, badPrice) {
			return ErrMultipliers
		}
	}
	return nil
}

// badPrice is the contrary of priceOK, for slices.ContainsFunc.
func badPrice(p float64) bool { return !priceOK(p) }

// priceOK reports whether p may be a price of something scarce: finite and not negative; NaN is not.
func priceOK(p float64) bool { return p >= 0 && !math.IsInf(p, 1) }
