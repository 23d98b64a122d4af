// This file takes over what a decision claims of its P2 and P2 cannot say itself: which applications are left out, leave, yield or keep what
// they are guaranteed, each checked for whether it may.

package alloc

import (
	"fmt"
	"math"
	"slices"

	"github.com/apportion/apportion"
)

// setLeaving takes over from a decision which applications leave cordoned servers, and refuses those that need not.
// The decision's word is needed: how far the budget went for drains depends on the draft, which is not
// part of a decision.
func (r *resolved) setLeaving(d *Decision) error {
	// Who leaves counts as displaced, so that staying is no solution: that must not be claimed of just anybody.
	positions := appIndex(r.given.Applications)
	cordoned := func(p apportion.Placement) bool { return r.problem.Servers[p.Server].Cordoned }
	for _, id := range d.Draining {
		i := r.named(positions, id)
		if i < 0 || r.pinned[i] || !slices.ContainsFunc(r.previous[i], cordoned) {
			return mismatch("Draining", listIDs([]string{id})+" has nothing to leave")
		}
		r.leaving[i] = true
	}
	return nil
}

// named returns the entry that the application of this name runs as, -1 where it does not run or is not here.
func (r *resolved) named(positions map[string]int, id string) int {
	if o, known := positions[id]; known {
		return r.runs(o)
	}
	return -1
}

// setYielding takes over from a decision which applications gave way to another one, and refuses those from which none that came, moved or grew
// could have taken: their change would count against no budget.
func (r *resolved) setYielding(d *Decision) error {
	positions := appIndex(r.given.Applications)
	for _, id := range d.Yielding {
		i := r.named(positions, id)
		if i < 0 || r.forced[i] || r.pinned[i] || !slices.ContainsFunc(r.problem.Applications, func(app Application) bool {
			has, o := d.Allocation.Containers(app.ID), positions[app.ID]
			return has > 0 && (r.isForced(o) || has > r.given.Previous.Containers(app.ID)) && r.mayYield(i, r.entries[o][0])
		}) {
			return mismatch("Yielding", listIDs([]string{id})+" has nobody to yield to")
		}
		r.yielding[i] = true
	}
	return nil
}

// mayYield reports whether application i, or a part of it, may have gone to application to, or have been added to it.
func (r *resolved) mayYield(i, to int) bool {
	a, _ := r.fork(to, i)
	switch {
	case r.of[i] == r.of[to]:
		return r.guaranteed
	case a == 0 && r.guaranteed: // what i has grown by
		return true
	case a == 0:
		return r.mayBePreempted(i) && !r.recent(i) && r.problem.Applications[to].Priority > r.problem.Applications[i].Priority && (r.runs(r.of[to]) < 0 || r.isForced(r.of[to]))
	}
	return r.nodes[a].guarantee != nil || r.problem.Options.ReclaimLevel && r.mayBePreempted(i) && !r.recent(i)
}

// setGuaranteed takes over from a decision what P2 was not allowed to take, and refuses more than is guaranteed.
func (r *resolved) setGuaranteed(d *Decision) error {
	positions, total := appIndex(r.given.Applications), newDraft(r)
	for i := range total.counts {
		total.remove(i)
	}
	for _, share := range d.Shares {
		o, known := positions[share.ID]
		if !known || share.Guaranteed == 0 {
			continue
		}
		i := r.entries[o][0]
		if share.Guaranteed < 0 || share.Guaranteed > d.Allocation.Containers(share.ID) {
			return mismatch("Shares.Guaranteed", fmt.Sprintf("%d for %q is not what it has", share.Guaranteed, share.ID))
		}
		r.floor[i] = share.Guaranteed
		total.put(i, []apportion.Placement{{Count: share.Guaranteed}})
	}
	for i, floor := range r.floor {
		if floor > 0 && !total.heldAbove(i, 0) {
			return mismatch("Shares.Guaranteed", fmt.Sprintf("%d for %q is more than is guaranteed", floor, r.problem.Applications[i].ID))
		}
	}
	return nil
}

// loosened sets the loss budget to the least loss, after it has checked what proves that: a decision that claims a loose
// budget without need is refused.
func (a *attempt) loosened(r *resolved) error {
	if !(a.least.Loss > a.instance.LossBudget) || !(a.least.Bound <= a.least.Loss) {
		return mismatch("LeastLoss", fmt.Sprintf("%g of at least %g, where the budget is %g", a.least.Loss, a.least.Bound, a.instance.LossBudget))
	}
	// The certificate bounds minus the loss from above. No loss is negative, so that less than 0 proves nothing.
	inst := leastLossInstance(a.instance)
	certified, err := a.least.Certificate.Certified(inst)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	a.certified = math.Min(a.least.Loss, math.Max(0, -certified))
	if a.least.Bound > a.certified+boundTolerance && !a.least.Certificate.Searched {
		return mismatch("LeastLoss.Bound", fmt.Sprintf("%g, where the certificate proves %g", a.least.Bound, a.certified))
	}
	a.instance.LossBudget = a.raisedBudget(r, a.least.Loss)
	return nil
}

// asked lists the applications that P2 was about: those that can be served, but for those that were left out.
func (r *resolved) asked(d *Decision) ([]int, error) {
	// Who was left out is the decision's word. Whether it may be is asked below; whether it was wise is not for a proof.
	left := make(map[string]bool)
	for _, list := range [...][]Waiting{d.Waiting, d.Suspended} {
		for _, w := range list {
			left[w.ID] = w.LeftOut
		}
	}
	var apps []int
	for _, i := range r.servable() {
		if app := &r.problem.Applications[i]; !left[app.ID] {
			apps = append(apps, i)
			// Whoever holds containers was not left out.
		} else if !r.mayBeLeftOut(i) || d.Allocation.Containers(app.ID) > 0 {
			return nil, mismatch("Waiting", listIDs([]string{app.ID})+" may not be left out")
		}
	}
	return apps, nil
}

// mayBeLeftOut reports whether a decision may be taken as if application i were not there. Leaving out one that
// runs would take its containers outside the adjustment budget.
func (r *resolved) mayBeLeftOut(i int) bool {
	// By the paper's rule newcomers alone may be left out, and only where a prefix is allowed. Without it whoever runs and
	// could stay may be left out for one of higher priority alone.
	options := &r.problem.Options
	switch {
	case options.Paper:
		return options.AdmitPrefix && r.runs(r.of[i]) < 0
	case r.runs(r.of[i]) < 0 || r.isForced(r.of[i]):
		return true
	}
	return options.Preempt && r.problem.Applications[i].Preemptible
}
