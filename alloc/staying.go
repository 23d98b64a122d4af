// This file says why applications stay on cordoned servers, and what would let them go, [Program §3].

package alloc

import (
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Staying is an application that is left on cordoned servers: nothing that can be had within the budget takes it off.
type Staying struct {
	ID string `json:"id"`
	// Servers are the cordoned ones that it is on, in the order of the problem.
	Servers []string `json:"servers"`
	// Reason says what keeps it there. Asked is how many containers would have to be elsewhere, and Remedies let it leave.
	Reason apportion.Reason `json:"reason"`
}

// staying lists the applications that are on cordoned servers under the counts of s, in the order of the problem. O(servers x kinds) for
// each that is on others as well, and what a refusal takes for each.
func (r *resolved) staying(s *stopper) (list []Staying) {
	for o, counts := 0, r.scatter(s.apps, s.counts); o < len(r.entries); o++ {
		i := r.inUse(o, counts)
		var servers []string
		for _, p := range counts[i] {
			if server := &r.problem.Servers[p.Server]; server.Cordoned {
				servers = append(servers, server.ID)
			}
		}
		if servers == nil {
			continue
		}
		reason := s.servers().stays(i)
		which := ", which is cordoned"
		if len(servers) > 1 {
			which = ", which are cordoned"
		}
		reason.Text = sentences("it stays on "+listIDs(servers)+which, reason.Text)
		list = append(list, Staying{r.problem.Applications[i].ID, servers, reason})
	}
	return list
}

// stays says why application i is still where nothing new may come: as if it were a newcomer that has to be put elsewhere, with its own
// move as a part of the budget.
func (v *view) stays(i int) apportion.Reason {
	d, app := v.draft, &v.r.problem.Applications[i]
	if v.r.pinned[i] {
		setting := "applications.pinned"
		return apportion.Reason{Constraint: solver.Adjust, Text: "it is pinned",
			Blockers: []apportion.Blocker{{Cause: ByPin, Applications: []string{app.ID}, Setting: setting}}}
	}
	cost, n := d.cost(i), max(1, d.least(i))
	return v.off(i, func(at *view) apportion.Reason {
		if cost > d.budget-d.spent {
			return at.tooDear(i, n, cost)
		}
		d.spent += cost
		reason := at.refusal(i)
		d.spent -= cost
		if reason.Fits >= n {
			reason.Text = "there is room elsewhere now: the next decision may move it"
		}
		return reason
	})
}

// off asks about the servers without application i. What it has on cordoned ones is nobody's, and no ceiling counts it.
func (v *view) off(i int, ask func(at *view) apportion.Reason) apportion.Reason {
	v.byWorth() // of all, with what it has
	at, d := *v, v.draft
	at.from = d.counts[i]
	var elsewhere []apportion.Placement
	for _, p := range at.from {
		if !v.r.problem.Servers[p.Server].Cordoned {
			elsewhere = append(elsewhere, p)
		}
	}
	leaving := solver.Containers(at.from) - solver.Containers(elsewhere)
	d.counts[i] = elsewhere
	d.remove(i)
	d.lift(i, leaving)
	if elsewhere != nil { // else what others see is as before
		at.groupByRoom()
	}
	reason := ask(&at)
	d.lift(i, -leaving)
	d.put(i, elsewhere)
	d.counts[i], v.trials, v.sought = at.from, at.trials, at.sought
	return reason
}

// lift takes n containers of application i off the ceilings above it.
func (d *draft) lift(i int, n int64) {
	if d.r.tree == nil {
		return
	}
	for _, c := range d.r.above[i] {
		for k, q := range d.r.problem.Applications[i].Demand {
			d.below[c][k] += n * q
		}
	}
}

// tooDear says that the move of application i to n containers elsewhere is not within the budget (16), and how much room there is.
func (v *view) tooDear(i int, n, cost int64) apportion.Reason {
	d, t := v.draft, v.tallyOf(i, nil, n)
	general := []apportion.Blocker{{Cause: ByBudget, Need: d.spent + cost, Free: d.budget - d.spent, Limit: d.budget,
		Applications: []string{v.r.problem.Applications[i].ID}, Setting: "theta2"}}
	reason := apportion.Reason{Constraint: solver.Adjust, Need: float64(d.spent + cost), Have: float64(d.budget), Asked: n, Fits: t.fits}
	text := []string{fmt.Sprintf("its move costs %d: the adjustment budget (theta2) is %d, used %d", cost, d.budget, d.spent)}
	if t.fits < n {
		text = append(append(text, fmt.Sprintf("it needs %s elsewhere, and %s room", containers(n), have(t.fits))), v.r.serversText(t.blockers, true)...)
	} else {
		reason.Remedies = v.settings(i, n, t, general)
		text = append(text, remediesText(v.lead(), reason.Remedies))
	}
	reason.Blockers, reason.Text = append(general, t.blockers...), sentences(text...)
	return reason
}
