// This file recomputes a Decision from its problem: whether the two belong together, whether the
// allocation is a solution of P2, and the bound that the certificate proves.

package alloc

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// ErrMismatch is returned by Explain and Verify for a decision that is not an answer to the problem;
// apportion.Faults, or solver.ErrViolated, beside it say why.
var ErrMismatch = errors.New("alloc: the decision does not belong to the problem")

// boundTolerance is how far a recomputed bound may lie above the claimed one, in parts of it where it is above 1: a
// solver sums up the same prices in another order.
const boundTolerance = 1e-8

// provenTolerance is the gap that a proven optimum may have: general solvers stop at a tolerance of their
// own, 1e-9 here and up to 1e-6 where one scales to whole numbers.
const provenTolerance = 1e-6

// Proof is what Verify finds: how much of the decision's Bound anyone can recompute.
type Proof struct {
	// Bound is an upper bound on the utilization of every solution of the decision's P2, computed
	// afresh from the certificate by code that shares nothing with the solver.
	Bound float64 `json:"bound"`
	// Searched says that the decision's own Bound is lower because branch and bound or enumeration
	// ruled out the rest, a part of the proof that only another search can repeat, or because
	// utilizations come in steps and none lies between.
	Searched bool `json:"searched"`
	// LeastLoss is, where the loss budget was raised, a lower bound on the loss of every allocation, from the certificate in
	// Decision.LeastLoss.
	LeastLoss float64 `json:"least_loss,omitzero"`
	// Unchecked lists the fields of the decision that are its solver's or its admission's word, and do not follow from problem,
	// allocation and certificate: how far down the preference it is Proven, or why somebody was left out.
	Unchecked []string `json:"unchecked,omitzero"`
}

// Verify checks d as an answer to p with the referee alone, whoever gave it: that every number in it, and the reason of
// whoever is in and has nothing, follows from its allocation and p, that the allocation holds every constraint of P2 (when
// Kept: that it is what runs), and which bound the certificate proves, by weak duality: the best of solver.DualBound,
// solver.CopyBound and solver.Instance.Cap. When Kept nothing is claimed, and Bound is the Cap. What it cannot check
// without a search is in Proof.Unchecked.
//
// Errors: what p.Validate finds; ErrMismatch with every field of d that does not follow. The cost is
// that of the bounds: for thousands of servers some seconds.
func Verify(p *Problem, d *Decision) (Proof, error) { return verify(p, d, RecordVersion) }

// verify is Verify for a decision of a record of some version.
func verify(p *Problem, d *Decision, version int) (Proof, error) {
	_, a, unchecked, err := rebuild(p, d, version)
	if err != nil {
		return Proof{}, err
	}
	if d.Status == Kept {
		return Proof{Bound: a.instance.Cap(), Unchecked: unchecked}, nil
	}
	// No bound lies below what is attained, whatever search is said to have found it.
	tolerance := boundTolerance * math.Max(1, math.Abs(d.Bound))
	if d.Bound < d.Objective-tolerance {
		return Proof{}, mismatch("Bound", fmt.Sprintf("%g is below the objective %g", d.Bound, d.Objective))
	}
	bound, err := d.Certificate.Certified(a.instance)
	if err != nil {
		return Proof{}, fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	bound -= a.prices
	proof := Proof{Bound: bound, Searched: bound > d.Bound+tolerance, LeastLoss: a.certified, Unchecked: unchecked}
	if proof.Searched {
		proof.Unchecked = append(proof.Unchecked, "Bound")
	}
	if a.least != nil && a.least.Bound > a.certified+boundTolerance {
		proof.Unchecked = append(proof.Unchecked, "LeastLoss.Bound")
	}
	// A decision without prices claims no proof, and one with Searched says that the prices are not
	// all of it.
	if d.Proven >= solver.ByUtilization && d.Bound-d.Objective > solver.ObjectiveTolerance && solver.Gap(d.Objective, d.Bound) > provenTolerance {
		return proof, mismatch("Proven", fmt.Sprintf("%v, where the bound %g leaves room above %g", d.Proven, d.Bound, d.Objective))
	}
	if d.Proven < solver.ByUtilization && d.Bound-d.Objective <= solver.ObjectiveTolerance {
		return proof, mismatch("Proven", fmt.Sprintf("%v, where the bound is the objective", d.Proven))
	}
	c := &d.Certificate
	if proof.Searched && !c.Searched && (c.Multipliers != nil || c.Copies != nil) {
		return proof, mismatch("Bound", fmt.Sprintf("%g, where the certificate proves %g", d.Bound, bound))
	}
	return proof, nil
}

// mismatch is ErrMismatch with one fault of the decision itself.
// Callers find ErrMismatch with errors.Is and the fault with errors.As.
func mismatch(field, detail string) error {
	var faults apportion.Faults
	faults.Add(apportion.Item{}, field, apportion.ErrConflict, detail)
	return fmt.Errorf("%w:\n%w", ErrMismatch, faults)
}

// rebuild returns the P2 that d answers, with the answer, from p and d alone. It refuses a pair that
// does not belong together: ErrMismatch, with every field that does not follow. Nothing in d is believed but the
// allocation, the options in use, who was left out and the certificate, and these are checked. Explain and Verify begin
// with it, so that neither meets a decision of another problem.
func rebuild(p *Problem, d *Decision, version int) (r *resolved, a *attempt, unchecked []string, err error) {
	if err := p.Validate(); err != nil {
		return nil, nil, nil, err
	}
	if d == nil || d.Status != Decided && d.Status != Kept {
		return nil, nil, nil, mismatch("Status", "neither decided nor kept")
	}
	// 1. Names to positions, 2. the P2 that was asked with its constraints, 3. every number afresh,
	// 4. compared.
	r = resolve(p)
	r.version = version
	all, err := r.counts(d.Allocation, d.Shares)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w:\n%w", ErrMismatch, err)
	}
	if a, err = r.answered(d, all); err != nil {
		return nil, nil, nil, err
	}
	if d.Status == Kept && d.Reason == nil {
		return nil, nil, nil, mismatch("Reason", "kept for none")
	}
	again, err := r.again(d, a, all)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	unchecked = r.recount(again, d, a, version)
	if found := differences(d, again); len(found) > 0 {
		return nil, nil, nil, fmt.Errorf("%w:\n%w", ErrMismatch, faultsOf(found))
	}
	return r, a, unchecked, nil
}

// answered returns the P2 behind d, and checks the counts and the certificate against it. all has an entry for each
// application of the problem.
func (r *resolved) answered(d *Decision, all solver.Counts) (*attempt, error) {
	if d.Status == Kept {
		// There is no P2 to check: what runs may break any of its constraints, and was kept because of that.
		a := &attempt{instance: r.instanceOfAll(r.servable()), solution: &solver.Solution{Counts: all}}
		for i := range all {
			a.apps = append(a.apps, i)
			// Servers that are gone hold nothing in either, so that a kept decision without them
			// still matches.
			if !solver.SamePlaces(all[i], r.previous[i]) {
				return nil, mismatch("Allocation", "kept, and yet not what runs")
			}
		}
		return a, nil
	}
	// Which newcomers were left out is the only thing about P2 that the decision itself must say.
	apps, err := r.asked(d)
	if err != nil {
		return nil, err
	}
	if err := r.setLeaving(d); err != nil {
		return nil, err
	}
	if err := r.setYielding(d); err != nil {
		return nil, err
	}
	if err := r.setGuaranteed(d); err != nil {
		return nil, err
	}
	if err := r.problem.checkDomainsOf(d.Allocation); err != nil {
		return nil, err
	}
	if err := r.setHomes(d); err != nil {
		return nil, err
	}
	if err := r.setReserved(d, all); err != nil {
		return nil, err
	}
	// The instance is that of the solver: the same code builds both, so that Verify proves the decision and not the program;
	// that is proven by the tests of instance against the paper.
	a := &attempt{apps: apps, instance: r.instance(apps), least: d.LeastLoss}
	if a.least != nil {
		if err := a.loosened(r); err != nil {
			return nil, err
		}
	}
	a.solution, a.prices = &solver.Solution{Counts: gather(apps, all), Certificate: d.Certificate}, r.prices(a)
	if err := a.instance.Check(a.solution.Counts); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	if err := d.Certificate.Check(a.instance); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	return a, nil
}

// setLeaving takes over who leaves cordoned servers from a decision, and refuses those who need not.
// The decision's word is needed: how far the budget went for drains depends on the draft, which is not
// part of a decision.
func (r *resolved) setLeaving(d *Decision) error {
	// Who leaves counts as displaced, so that staying is no solution: that must not be claimed of just anybody.
	positions := appIndex(r.given.Applications)
	for _, id := range d.Draining {
		o, known := positions[id]
		cordoned := func(p apportion.Placement) bool { return r.problem.Servers[p.Server].Cordoned }
		i := -1
		if known {
			i = r.runs(o)
		}
		if i < 0 || r.pinned[i] || !slices.ContainsFunc(r.previous[i], cordoned) {
			return mismatch("Draining", listIDs([]string{id})+" has nothing to leave")
		}
		r.leaving[i] = true
	}
	return nil
}

// setYielding takes over who gave way to another one from a decision, and refuses those from whom nobody who came, moved or grew
// could have taken: their change would count against no budget.
func (r *resolved) setYielding(d *Decision) error {
	positions := appIndex(r.given.Applications)
	for _, id := range d.Yielding {
		o, known := positions[id]
		i := -1
		if known {
			i = r.runs(o)
		}
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
		return r.mayBePreempted(i) && r.problem.Applications[to].Priority > r.problem.Applications[i].Priority && (r.runs(r.of[to]) < 0 || r.isForced(r.of[to]))
	}
	return r.nodes[a].guarantee != nil || r.problem.Options.ReclaimLevel && r.mayBePreempted(i)
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
		if floor > 0 && !total.heldAbove(i) {
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

// again returns d with all that follows from its allocation computed afresh, but for who waits.
func (r *resolved) again(d *Decision, a *attempt, all solver.Counts) (*Decision, error) {
	// The copy keeps what is the solver's word: bound, rank, certificate. All else below is written over.
	again := *d
	sharing := r.servable()
	if !r.problem.Options.Paper {
		sharing = a.apps
	}
	if err := r.report(&again, sharing, all); err != nil {
		return nil, err
	}
	if d.Status == Kept {
		r.setKept(&again)
		again.Bound, again.Proven = 0, solver.ByNothing
	} else {
		// The sum runs in the solver's order, since floats added in another differ.
		again.Objective = r.attained(a.apps, all)
		r.setWorths(&again, a.apps, all)
	}
	again.Gap = r.gap(&again, a.instance)
	if again.OpenBound = 0; d.Status == Decided {
		again.OpenBound = r.openBound(a, d.Certificate.Multipliers)
	}
	return &again, nil
}

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
		// Records of before say nothing of it.
		if d.Settled != nil {
			again.Settled = r.settle(again)
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
		words = append(words, "Shares.Guaranteed")
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
