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
	all, err := r.counts(allocation)
	if err != nil {
		return Metrics{}, err
	}
	apps := everyone(p)
	return r.measure(r.instanceOfAll(), apps, pick(all, apps))
}

// instanceOfAll is P2 over every application, with the theoretical share of those that can never
// be served set to 0.
func (r *resolved) instanceOfAll() *solver.Instance {
	servable := r.servable()
	inst := r.instance(servable)
	apps := make([]solver.App, len(r.problem.Applications))
	for i := range apps {
		apps[i] = r.app(i)
	}
	for a, i := range servable {
		apps[i].Share = inst.Apps[a].Share
	}
	inst.Apps = apps
	return inst
}

// measure computes the metrics of counts, which has one entry for each of apps, as inst.Apps has.
func (r *resolved) measure(inst *solver.Instance, apps []int, counts solver.Counts) (Metrics, error) {
	used := make(apportion.Resources, len(r.total))
	for a := range apps {
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
		if r.total[k] > 0 {
			m.Utilization[k] = float64(q) / float64(r.total[k])
		}
		m.ResourceUtilization += m.Utilization[k] // (1)
	}
	return m, nil
}

func everyone(p *Problem) []int {
	apps := make([]int, len(p.Applications))
	for i := range apps {
		apps[i] = i
	}
	return apps
}

func pick(all solver.Counts, apps []int) solver.Counts {
	picked := make(solver.Counts, len(apps))
	for a, i := range apps {
		picked[a] = all[i]
	}
	return picked
}
