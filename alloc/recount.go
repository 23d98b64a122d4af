// This file recomputes for which applications a decision has nothing, and why, as far as that follows from its allocation.

package alloc

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apportion/apportion"
)

// recount fills in who waits in again, and why, as far as that follows from the allocation; the rest is the word of d, and so are
// the fields that it lists.
func (r *resolved) recount(again, d *Decision, a *attempt, version int) (unchecked []string) {
	unchecked = r.words(d)
	if version < ownWords && r.problem.worthy() {
		again.Gap, unchecked = d.Gap, append(unchecked, "Gap") // it was a part of the bound
	}
	// Records of before guarantees say nothing of queues.
	if d.Queues == nil && again.Queues != nil {
		again.Queues, unchecked = nil, append(unchecked, "Queues")
	}
	// Nor of those that were left out.
	if d.OpenBound == 0 && again.OpenBound != 0 {
		again.OpenBound, unchecked = 0, append(unchecked, "OpenBound")
	}
	if d.Metrics.WaitingLoss == 0 && again.Metrics.WaitingLoss != 0 {
		again.Metrics.WaitingLoss, unchecked = 0, append(unchecked, "Metrics.WaitingLoss")
	}
	claimed := make(map[string]Waiting, len(d.Waiting))
	for _, list := range [...][]Waiting{d.Waiting, d.Suspended} {
		for _, w := range list {
			claimed[w.ID] = w
		}
	}
	again.Waiting, again.Suspended = nil, nil
	most := r.mostPassed(r.scatter(a.apps, a.solution.Counts))
	stop := newStopper(r, a)
	for o, share := range again.Shares {
		if share.Containers > 0 {
			continue
		}
		list, field := &again.Waiting, "Waiting"
		if r.runs(o) >= 0 && !r.problem.Options.Paper {
			list, field = &again.Suspended, "Suspended"
		}
		w, follows := r.why(o, d, a, stop, claimed[share.ID].Reason)
		// What reasons said before this version is not recomputed.
		if !follows || version < ownReasons {
			w.Reason = claimed[share.ID].Reason
			unchecked = append(unchecked, fmt.Sprintf("%s[%d].Reason", field, len(*list)))
		}
		if w.Passed = claimed[share.ID].Passed; !(w.Passed >= 0 && w.Passed <= r.handed(o)+most+boundTolerance) || math.IsInf(w.Passed, 0) {
			w.Passed = r.handed(o)
		}
		*list = append(*list, w)
	}
	if !r.problem.Options.Paper {
		r.setApart(again)
		// Records of before say nothing of these.
		if d.Settled != nil {
			again.Settled = r.settle(again)
		}
		if again.Staying = r.staying(stop); d.Staying == nil && again.Staying != nil {
			again.Staying, unchecked = nil, append(unchecked, "Staying")
		}
	}
	return unchecked
}

// words lists the fields of d that nothing but another search can check, but for reasons: those of a kept one are about a P2
// without a solution.
func (r *resolved) words(d *Decision) []string {
	words := []string{"Interrupted", "Certificate.By"}
	if d.Status == Kept {
		return append(words, "Reason")
	}
	words = append(words, "Proven")
	if d.LeastLoss != nil {
		words = append(words, "LeastLoss.Certificate.By")
	}
	// How far drains went, and who gave way, depends on the draft.
	if slices.ContainsFunc(r.problem.Servers, func(s apportion.Server) bool { return s.Cordoned }) {
		words = append(words, "Draining")
	}
	if r.problem.Options.Preempt || r.guaranteed {
		words = append(words, "Yielding")
	}
	if r.guaranteed {
		words = append(words, "Shares.Guaranteed", "Shares.Most")
	}
	// The order of asking says who was passed, and for whom room is reserved.
	if r.keepsOrder() && len(d.Waiting)+len(d.Suspended) > 0 {
		words = append(words, "Waiting.Passed")
	}
	if len(d.Reservations) > 0 {
		words = append(words, "Reservations")
	}
	return words
}

// why returns why application o has nothing under d, and whether the reason follows from the allocation: for which application
// another one was suspended, or what was reserved for it given away, is admission's word, taken from the claimed reason.
func (r *resolved) why(o int, d *Decision, a *attempt, stop *stopper, claimed apportion.Reason) (w Waiting, follows bool) {
	paper, i := r.problem.Options.Paper, r.inUse(o, nil)
	at, in := slices.BinarySearch(a.apps, i)
	w = Waiting{ID: r.given.Applications[o].ID, LeftOut: !in && (!paper || d.Status == Decided && r.fits(i))}
	switch {
	case !paper && !in && d.Status == Decided:
		return r.whyLeftOut(w, o, d, stop, claimed)
	case len(r.fitting(i)) == 0 && !(in && d.Status == Decided) && !(paper && r.running(i)):
		w.Reason = r.reasonOf(r.options(i), r.unservable)
	case d.Status == Kept:
		w.Reason = *d.Reason
	case in:
		w.Reason = r.stopped(stop, at, i)
	default:
		return w, false
	}
	return w, true
}

// whyLeftOut is why for application o, which admission has left out.
func (r *resolved) whyLeftOut(w Waiting, o int, d *Decision, stop *stopper, claimed apportion.Reason) (Waiting, bool) {
	broken := slices.IndexFunc(claimed.Blockers, func(b apportion.Blocker) bool { return b.Cause == ByBroken })
	follows := broken < 0
	w.Reason = stop.servers().leftOut(o, d.Reservations)
	if to, suspended := r.suspendedFor(o, &claimed, d); suspended {
		w.Reason, follows = to, false
	}
	if broken >= 0 && len(claimed.Blockers[broken].Applications) == 1 {
		if id := claimed.Blockers[broken].Applications[0]; d.Allocation.Containers(id) > 0 {
			w.Reason = breaks(w.Reason, id)
		}
	}
	return w, follows
}

// suspendedFor returns the reason of application o, which ran and is left out, as far as the claimed one has the words of such a reason,
// for another application.
func (r *resolved) suspendedFor(o int, claimed *apportion.Reason, d *Decision) (apportion.Reason, bool) {
	v := r.runs(o)
	if v < 0 || len(claimed.Applications) != 1 {
		return apportion.Reason{}, false
	}
	to, known := appIndex(r.given.Applications)[claimed.Applications[0]]
	if !known {
		return apportion.Reason{}, false
	}
	rights := []right{byPriority}
	if fork, _ := r.fork(r.entries[to][0], v); fork > 0 {
		rights = append(rights, byGuarantee, byLevel)
	}
	for _, by := range rights {
		if reason := r.preemptedFor(v, r.entries[to][0], by); strings.HasPrefix(claimed.Text, reason.Text) {
			return reason, true
		}
	}
	return apportion.Reason{}, false
}

// stopped is the reason of application i, at its position in P2, that is in and has nothing.
func (r *resolved) stopped(stop *stopper, at, i int) apportion.Reason {
	reason, _ := stop.next(at, &r.problem.Applications[i])
	return r.withOption(i, reason)
}
