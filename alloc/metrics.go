// This file measures any allocation by equations (1)-(4), [Dorm §IV-A].

package alloc

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

// Measure returns utilization, fairness loss and adjustments of allocation as an answer to p,
// whoever made it; it need not be a solution of P2. Theoretical shares are those of p: over every
// application that can be served at all, those that wait included.
//
// Errors: what Validate finds in p; apportion.ErrUnknown, ErrNegative and ErrOverflow for an
// allocation that names what is not there, or holds what no cluster can.
func Measure(p *Problem, allocation Allocation) (Metrics, error) {
	if err := p.Validate(); err != nil {
		return Metrics{}, err
	}
	r := resolve(p)
	counts, err := r.counts(allocation)
	if err != nil {
		return Metrics{}, err
	}
	return r.measure(r.instanceOfAll(), counts)
}

// measure computes the metrics of counts, one entry for each application of inst.
func (r *resolved) measure(inst *solver.Instance, counts solver.Counts) (Metrics, error) {
	used := make(apportion.Resources, len(r.total))
	// The sum is exact: containers times demand in int64, divided by the total only at the end.
	for a := range counts {
		if err := exact.AddTimesTo(used, used, solver.Containers(counts[a]), inst.Apps[a].Demand); err != nil {
			return Metrics{}, err
		}
	}
	m := Metrics{
		Utilization:  make([]float64, len(used)),
		FairnessLoss: inst.FairnessLoss(counts),
		Adjusted:     int(inst.AdjustedApps(counts)),
		LossBudget:   inst.LossBudget,
		AdjustBudget: inst.AdjustBudget,
	}
	for k, q := range used {
		// A kind of which there is none is used to no part, not to 0/0.
		if r.total[k] > 0 {
			m.Utilization[k] = float64(q) / float64(r.total[k])
		}
		m.ResourceUtilization += m.Utilization[k] // (1)
	}
	return m, nil
}
