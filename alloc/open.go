// This file bounds what any choice of who is let in could reach, and measures what those lose that wait, [Program §9].

package alloc

import (
	"fmt"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// openInstance is P2 over all that could be served, in which each that need not be let in may be without containers: newcomers, those
// that are forced, and with Options.Preempt the preemptible. Nothing is reserved in it, and no loss is too large. apps are its entries.
func (r *resolved) openInstance() (inst *solver.Instance, apps []int) {
	open := *r
	open.floor, open.restraint = make([]int64, len(r.floor)), nil
	unprotected := *r.problem // another choice may drain it, or take it by a guarantee
	unprotected.Options.MinRun, open.problem = 0, &unprotected
	open.keep(nil, nil)
	apps = open.servable()
	inst = open.instance(apps)
	for a, i := range apps {
		if r.runs(r.of[i]) < 0 || r.isForced(r.of[i]) || r.mayBePreempted(i) {
			// Without a place it is worth nothing, whatever it states for one without containers.
			inst.Apps[a].Elective, inst.Apps[a].Idle = true, math.Max(0, inst.Apps[a].Idle)
		}
		// What another one takes by a rule counts against no budget, and any may by a guarantee.
		if r.guaranteed || r.mayBePreempted(i) {
			inst.Apps[a].Cost = 0
		}
		// Nor has it a price, and none has what leaves a cordoned server.
		cordoned := func(p apportion.Placement) bool { return r.problem.Servers[p.Server].Cordoned }
		if r.problem.Applications[i].StayWorth == nil && (inst.Apps[a].Elective || inst.Apps[a].Cost == 0 || slices.ContainsFunc(r.previous[i], cordoned)) {
			inst.Apps[a].Stay = 0
		}
	}
	return inst, apps
}

// openBound returns an upper bound on the objective of every choice of who is let in, by the prices m of the choice that was made; 0
// where nobody was left out, or nothing is known.
func (r *resolved) openBound(a *attempt, m *solver.Multipliers) float64 {
	if r.problem.Options.Paper || len(r.capacity) == 0 || len(a.apps) == len(r.servable()) && !r.isConfined() {
		return 0
	}
	inst, apps := r.openInstance()
	bound := inst.Cap()
	if m != nil {
		// Shares are others with each choice, so that losses have no price here.
		prices := *m
		prices.Loss = 0
		if dual, err := solver.DualBound(inst, &prices); err == nil {
			bound = math.Min(bound, dual)
		}
	}
	if math.IsInf(bound, 0) {
		return 0
	}
	return bound - r.prices(&attempt{apps: apps, instance: inst})
}

// waitingLoss returns the fairness loss (2) under counts in which those that wait have their part too: shares are those among all that
// could be served. 0 where all of these have a share among sharing.
func (r *resolved) waitingLoss(sharing []int, counts solver.Counts) float64 {
	all := r.servable()
	if r.problem.Options.Paper || len(all) == len(sharing) {
		return 0
	}
	inst := &solver.Instance{Apps: r.dense(all), Choices: r.choices(all)}
	return inst.FairnessLoss(gather(all, counts))
}

// orderText says what the order of asking costs at most, and whose place is worth most to others by their prices; empty where it costs
// nothing.
func (r *resolved) orderText(s *stopper, a *attempt, d *Decision) string {
	price := d.OpenBound - math.Max(d.Bound, d.Objective)
	if d.OpenBound == 0 || price <= solver.ObjectiveTolerance {
		return ""
	}
	text := fmt.Sprintf("another choice of who is let in could be worth %.4g at most, by the order of asking it is %.4g of at most %.4g", d.OpenBound, d.Objective, d.Bound)
	dearest, most := -1, solver.ObjectiveTolerance
	for at := range s.instance.Apps {
		app, cost := &s.instance.Apps[at], 0.0
		for _, p := range s.counts[at] {
			for k, q := range app.Demand {
				cost += float64(s.price(p.Server, k) * float64(q*p.Count))
			}
		}
		if cost -= app.WorthOf(s.counts[at]); cost > most {
			dearest, most = at, cost
		}
	}
	if dearest >= 0 {
		text += fmt.Sprintf("; what %q holds is worth %.4g more to others", r.problem.Applications[a.apps[dearest]].ID, most)
	}
	return text
}
