// This file measures any allocation by equations (1)-(4), [Dorm §IV-A].

package alloc

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

// Measure returns utilization, fairness loss and adjustments of allocation as an answer to p,
// whoever made it; it need not be a solution of P2. Theoretical shares are those among the applications that
// hold containers or are content with none; with Rule.Paper among all that can be served at all, those
// that wait included. LossBudget is what Theta1 gives. Applications with options use those in shares, as a Decision has
// them; without shares those that they run with, or the first ones.
//
// Errors: what Validate finds in p; apportion.ErrUnknown, ErrNegative and ErrOverflow for an
// allocation that names what is not there, or holds what no cluster can. An allocation that overfills a server is
// measured like any other. O(applications x servers x kinds), as resolving p is.
func Measure(p *Problem, allocation Allocation, shares ...Share) (Metrics, error) {
	if err := p.Validate(); err != nil {
		return Metrics{}, err
	}
	r := resolve(p)
	counts, err := r.counts(allocation, shares)
	if err != nil {
		return Metrics{}, err
	}
	sharing := r.sharing(counts)
	m, err := r.measure(r.instanceOfAll(sharing), counts)
	m.WaitingLoss = r.waitingLoss(sharing, counts)
	return m, err
}

// measure computes the metrics of counts, one entry for each application of inst, which is an instance of all. The error is
// apportion.ErrOverflow where containers times demand leave int64.
func (r *resolved) measure(inst *solver.Instance, counts solver.Counts) (Metrics, error) {
	used := make(apportion.Resources, len(r.total))
	// The sum is exact: containers times demand in int64, divided by the total only at the end.
	for a := range counts {
		if err := exact.AddTimesTo(used, used, solver.Containers(counts[a]), inst.Apps[a].Demand); err != nil {
			return Metrics{}, err
		}
	}
	m := Metrics{
		Utilization:  make([]float64, r.ownKinds()),
		FairnessLoss: inst.FairnessLoss(counts),
		Adjusted:     int(inst.AdjustedApps(counts)),
		AdjustCost:   inst.AdjustCost(counts),
		LossBudget:   inst.LossBudget,
		AdjustBudget: inst.AdjustBudget,
	}
	// What is forced and how far applications are spread is no part of (1)-(4), and says who did what.
	for i := range counts {
		if r.forced[i] && inst.Apps[i].Adjusted(counts[i]) {
			m.Forced++
			if r.overCeiling[i] {
				m.ForcedByCeiling++
			}
		}
		m.ExtraServers += r.beyond(i, counts[i])
	}
	m.ExtraDomains = r.anywhere().extraDomains(counts)
	for k, q := range used[:r.ownKinds()] {
		// A kind of which there is none is used to no part, not to 0/0.
		if r.total[k] > 0 {
			m.Utilization[k] = float64(q) / float64(r.total[k])
		}
		m.ResourceUtilization += m.Utilization[k] // (1)
	}
	return m, nil
}
