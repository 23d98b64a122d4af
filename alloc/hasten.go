// This file frees what is reserved without waiting for an end, [Program §8], point 7.

package alloc

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// hasten takes from elastic applications what is reserved of their room, as far as the budget (16) allows: from those that are waited for
// and of which nobody knows when they end. What is freed stays reserved, so that in some decisions all of it is free; where all that
// may be shrunk could not make room together nothing is taken, which would be idle.
func (a *admission) hasten() {
	for _, v := range a.reserved {
		if !a.suffices(v) {
			continue
		}
		for _, w := range v.waits {
			a.shrinkFor(v, w)
		}
	}
}

// suffices reports whether the application that v is for would have room if all that may be shrunk for it had their fewest.
func (a *admission) suffices(v *reserved) bool {
	before := make(map[int][]apportion.Placement)
	for w, placed := range a.counts {
		if len(placed) > 0 && a.mayGive(v, w) && a.least(w) > 0 {
			before[w] = a.remove(w)
			a.put(w, fewer(placed, a.least(w)))
		}
	}
	a.lifted = a.reserved
	enough := a.place(v.i, max(0, a.least(v.i)))
	a.lifted = nil
	a.remove(v.i)
	for w := range a.counts {
		if placed, shrunk := before[w]; shrunk {
			a.remove(w)
			a.put(w, placed)
		}
	}
	return enough
}

// mayGive reports whether application w is one that is shrunk for a reservation, whatever that costs.
func (a *admission) mayGive(v *reserved, w int) bool {
	return a.r.problem.Applications[w].Ends == nil && !a.r.stays(w) && a.r.running(w) && len(a.r.options(w)) == 1
}

// stepAside takes from application w what of the room on its servers is reserved by v, down to its fewest containers.
func (a *admission) stepAside(v *reserved, w int) {
	for _, p := range v.servers {
		for a.r.most(v.i, p.Server, a.room(v.i, p.Server)) < p.Count && a.stepDown(w, p.Server) {
		}
	}
}

// shrinkFor lets application w step aside for a reservation, where the budget allows it, and the two are of one leaf or a guarantee or a
// level allows it.
func (a *admission) shrinkFor(v *reserved, w int) {
	n := a.least(v.i)
	if !a.mayGive(v, w) || a.charge(v.i, w, n) > a.budget-a.spent {
		return
	}
	before := a.counts[w]
	if a.stepAside(v, w); solver.SamePlaces(before, a.counts[w]) {
		return
	}
	fork, _ := a.r.fork(v.i, w)
	if by := a.right(v.i, w, n); fork > 0 && by != byGuarantee && by != byLevel {
		a.remove(w)
		a.put(w, before)
		return
	}
	a.takings++
	if a.entitled(v.i, w, n) {
		a.yield(w)
	} else {
		a.move(w)
	}
}
