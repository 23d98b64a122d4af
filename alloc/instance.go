// This file builds the dense solver.Instance of P2, [Dorm §IV].

package alloc

import (
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

// Instance validates p and returns the P2 that a solver sees, with everybody in it who could be served at all.
// apps[i] is the position in p.Applications of the instance's application i, of whose options each is one. Left out are newcomers that no
// decision can ever serve on these servers, even empty ones: Reallocate reports them as waiting, with that
// reason. The instance may have no application left, and no solution: without Rule.Paper Reallocate
// asks it for those who fit alone.
//
// Cost: O(servers x applications x kinds), to tell what fits.
func (p *Problem) Instance() (inst *solver.Instance, apps []int, err error) {
	if err := p.Validate(); err != nil {
		return nil, nil, err
	}
	// Admission decides with these very vectors; what it leaves out is the only difference to what a solver sees.
	r := resolve(p)
	apps = r.servable()
	inst = r.instance(apps)
	for a, i := range apps {
		apps[a] = r.of[i]
	}
	return inst, apps, nil
}

// instance builds P2 for the given applications, with the budgets that Theta1 and Theta2 give. apps are positions in
// r.problem, ascending, and become positions 0, 1, ... of the instance; options of one application are neighbours in both.
// Slices are shared with the problem, and no solver writes to them. O(applications x kinds), and the cost of DRF.
func (r *resolved) instance(apps []int) *solver.Instance {
	inst := &solver.Instance{Capacity: r.capacity, Total: r.total, Class: r.open.classes(), Apps: r.dense(apps)}
	inst.Groups, inst.Choices = r.groups(apps), r.choices(apps)
	inst.LossBudget = r.lossBudget(apps, inst.Apps)
	inst.AdjustBudget = r.adjustBudget()
	r.keepIn(inst, apps)
	return inst
}

// dense returns the forms that applications have in P2 for those in apps, with what they lose. Shares are those among apps alone: an
// application that is left out of P2 claims nothing of the cluster.
func (r *resolved) dense(apps []int) []solver.App {
	dense, shares := make([]solver.App, len(apps)), r.shares(apps)
	for a, i := range apps {
		dense[a] = r.app(i)
		dense[a].Share = shares[a]
	}
	r.setLosses(apps, dense, r.fairSpeeds(apps, dense))
	return dense
}

// instanceOfAll is P2 over every application, with the theoretical share of those that are not in sharing set
// to 0.
func (r *resolved) instanceOfAll(sharing []int) *solver.Instance {
	inst := r.instance(sharing)
	// Share 0 means that whoever has no part in it loses nothing (2) by having nothing. Positions are those of the problem
	// here, so that groups and choices are stated anew.
	apps, all, shares := make([]solver.App, len(r.problem.Applications)), make([]int, len(r.problem.Applications)), make([]float64, len(r.entries))
	known, fair := make([]bool, len(apps)), r.fairSpeeds(sharing, inst.Apps)
	for a, i := range sharing {
		apps[i], known[i], shares[r.of[i]] = inst.Apps[a], true, inst.Apps[a].Share
	}
	for i := range apps {
		all[i] = i
		if fixed := r.fixed != nil && r.fixed[i] != nil; !known[i] || fixed {
			apps[i] = r.app(i)
			apps[i].Share = shares[r.of[i]]
			r.setLosses(all[i:i+1], apps[i:i+1], fair)
		}
	}
	inst.Groups, inst.Choices = r.groups(all), r.choices(all)
	inst.Apps = apps
	return inst
}

// sharing lists who has a share under counts, one entry for each application: by the paper's rule everybody who
// can be served, else who holds containers or is content with none.
// It is the counterpart of admission for an allocation that somebody else made: who holds something was
// taken in.
func (r *resolved) sharing(counts solver.Counts) []int {
	apps := r.servable()
	if r.problem.Options.Paper {
		return apps
	}
	return slices.DeleteFunc(apps, func(i int) bool {
		stays := r.running(i) && !r.forced[i]
		has := slices.ContainsFunc(r.options(i), func(e int) bool { return len(counts[e]) > 0 })
		return !has && (!r.idle(i) || !stays && !r.fits(i))
	})
}
