// This file says why an application that was left out has no room, from the allocation alone, so that anybody can check it.

package alloc

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// leftOut is the reason of application o, which the decision has left out, under the allocation of the view; list is what is reserved.
func (v *view) leftOut(o int, list []Reservation) apportion.Reason {
	options := v.r.fitting(v.r.entries[o][0])
	if len(options) == 0 {
		return v.r.reasonOf(v.r.entries[o], v.r.unservable)
	}
	// Thousands of newcomers are of a few sorts as a rule, and the first of a sort answers for all of it.
	var key string
	for _, e := range options {
		app := &v.r.problem.Applications[e]
		if key += v.draft.request(e); v.preempts {
			key += strconv.FormatInt(app.Priority, 10) // see couldBePreempted
		}
		if app.Requires != nil {
			key += fmt.Sprintf("%q", app.Requires)
		}
	}
	reason, known := v.reasons[key]
	if !known {
		reason = v.r.reasonOf(options, v.refusal)
		v.reasons[key] = reason
	}
	reason.Text = sentences(append([]string{reason.Text}, v.r.claimText(o, list)...)...)
	return reason
}

// refusal says why application i has no room for its fewest containers, in its own kinds. Of several kinds that are short the one is
// named of which the largest part is missing, with how much of it is free, how much others would give up within the budget, and who
// they are.
func (v *view) refusal(i int) apportion.Reason {
	d, n := v.draft, max(1, v.draft.least(i))
	t := v.tallyOf(i, nil, n)
	reason := apportion.Reason{Asked: n, Fits: min(t.fits, d.ceilingRoom(i)), Blockers: slices.Clone(t.blockers)}
	left := func(c int) apportion.Resources { return d.ceilingLeft(i, c) }
	if ceiling := v.r.ceilingReason(i, n, left); ceiling.Constraint != "" {
		reason.Constraint, reason.Kind, reason.Need, reason.Have = ceiling.Constraint, ceiling.Kind, ceiling.Need, ceiling.Have
		reason.Blockers = append(slices.Clone(ceiling.Blockers), reason.Blockers...)
		return v.withRemedies(i, n, t, reason, ceiling.Text)
	}
	if held := d.reservedReason(i); held.Constraint != "" {
		reason.Constraint, reason.Need, reason.Have, reason.Applications = held.Constraint, held.Need, held.Have, held.Applications
		return v.withRemedies(i, n, t, reason, held.Text)
	}
	if in := d.domainReason(i, n); in.Constraint != "" {
		reason.Constraint, reason.Need, reason.Have, reason.Fits = in.Constraint, in.Need, in.Have, in.Fits
		reason.Blockers = append(in.Blockers, reason.Blockers...)
		return v.withRemedies(i, n, t, reason, in.Text)
	}
	if reason.Fits >= n {
		reason.Constraint = solver.Capacity
		reason.Text = "its containers fit now, since others changed after it was asked: the next decision may take it in"
		return reason
	}
	s := v.shortageOf(i, n)
	reason.Constraint, reason.Applications = solver.Capacity, s.givers
	text := append(make([]string, 0, 8), "") // as many as there are as a rule
	switch full := slices.IndexFunc(t.blockers, func(b apportion.Blocker) bool { return b.Cause == ByRoom }); {
	case s.short:
		reason.Kind, reason.Need, reason.Have = v.r.problem.Kinds.Name(s.kind), float64(n)*float64(s.demand), float64(s.free)
		text[0] = fmt.Sprintf("it needs %.6g %s for %s, and %s free", reason.Need, reason.Kind, containers(n), are(s.free))
	case reason.Fits == 0 && full >= 0:
		b := &t.blockers[full]
		reason.Kind, reason.Need, reason.Have = b.Kind, float64(b.Need), float64(b.Largest)
	default:
		reason.Need, reason.Have = float64(n), float64(reason.Fits)
	}
	if text[0] == "" {
		text[0] = fmt.Sprintf("it needs %s, and %s room", containers(n), have(reason.Fits))
	}
	if v.r.running(i) && v.from == nil {
		text = append(text, "it cannot stay where it runs")
	}
	text = append(text, v.givesText(s))
	general := v.withBudget(i, n, s, &reason)
	reason.Blockers = append(general, reason.Blockers...)
	for at := range general {
		text = append(text, generalText(&general[at]))
	}
	return v.withRemedies(i, n, t, reason, append(text, v.r.serversText(t.blockers, !s.short)...)...)
}

// withRemedies adds to a reason what would let n containers of entry i in, and its text.
func (v *view) withRemedies(i int, n int64, t *tally, reason apportion.Reason, text ...string) apportion.Reason {
	reason.Remedies = v.remedies(i, n, t, &reason)
	reason.Text = sentences(append(text, remediesText(v.lead(), reason.Remedies))...)
	return reason
}

// shortage is how much there is of the kind that is shortest for one application.
type shortage struct {
	kind         int
	demand, need int64
	free         int64 // on all servers together
	could        int64 // what others would give up of it within the budget
	kept         bool  // it is no more since other queues are guaranteed something
	givers       []string
	short        bool // all that is free and could be freed is too little, of this kind
	enough       bool // of every kind it would be enough if the budget had no limit
}

// shortageOf looks for the kind of which n containers of entry i need the largest part of all that they could have. Those that may be
// changed are asked kind by kind: that is more than they could give of all kinds at once, so that what is short here is short.
func (v *view) shortageOf(i int, n int64) *shortage {
	d, s, worst := v.draft, &shortage{kind: -1, enough: true}, 0.0
	for k, q := range v.r.problem.Applications[i].Demand[:v.r.ownKinds()] {
		if q == 0 {
			continue
		}
		gifts := v.giftsFor(i, k)
		could, from, kept := d.afforded(i, k, gifts)
		all, _ := affordable(gifts, math.MaxInt64)
		s.short = s.short || n > (d.free(k)+could)/q
		s.enough = s.enough && n <= (d.free(k)+all)/q
		if part := float64(n) * float64(q) / math.Max(.5, float64(d.free(k)+could)); s.kind < 0 || part > worst {
			worst = part
			s.kind, s.demand, s.need, s.free, s.could, s.kept, s.givers = k, q, n*q, d.free(k), could, kept, nil
			if could > 0 {
				for _, w := range from[:min(len(from), 4)] {
					s.givers = append(s.givers, v.r.problem.Applications[w].ID)
				}
			}
		}
	}
	return s
}

// giftsFor is draft.gifts, found once for all that ask; the answer is only read. Only a guarantee makes a change free for one and not for
// another; off its servers one counts for nobody.
func (v *view) giftsFor(i, k int) []gift {
	if v.r.guaranteed || v.from != nil {
		return v.draft.gifts(i, k)
	}
	gifts, known := v.gifts[k]
	if !known {
		gifts = v.draft.gifts(i, k)
		v.gifts[k] = gifts
	}
	return gifts
}

// givesText says how much others would give up within the budget, empty where that is nothing.
func (v *view) givesText(s *shortage) string {
	if s.could <= 0 {
		return ""
	}
	limit := ""
	if s.kept {
		limit = " and beyond what other queues are guaranteed"
	}
	text := fmt.Sprintf("%d %s can be freed within the adjustment budget%s", s.could, v.r.problem.Kinds.Name(s.kind), limit)
	if len(s.givers) > 0 {
		text += " by " + listIDs(s.givers)
	}
	return text
}

// withBudget returns what holds for all servers together, and blames the budget (16) in reason where more of it would do.
func (v *view) withBudget(i int, n int64, s *shortage, reason *apportion.Reason) (list []apportion.Blocker) {
	d := v.draft
	if s.enough && v.dearer(i) {
		if cost, ids := v.roomAtAnyCost(i, n); ids != nil {
			reason.Constraint, reason.Kind, reason.Applications = solver.Adjust, "", ids
			reason.Need, reason.Have = float64(cost), float64(d.budget)
			list = append(list, apportion.Blocker{Cause: ByBudget, Need: cost, Free: d.budget - d.spent, Limit: d.budget, Applications: ids, Setting: "theta2"})
		}
	}
	kind := v.r.problem.Kinds.Name(s.kind)
	if s.kept {
		list = append(list, apportion.Blocker{Cause: ByGuarantee, Kind: kind, Need: s.need, Free: v.guaranteed(i, s.kind), Setting: "queues.guarantee"})
	}
	for _, held := range v.keepers() {
		free, ids := v.heldBy(i, s.kind, &held)
		if free > 0 {
			list = append(list, apportion.Blocker{Cause: held.cause, Kind: kind, Need: s.need, Free: free, Applications: ids, Setting: held.setting})
		}
	}
	return list
}

// keeper is a setting that keeps others from giving room to entry i: of are those of which that may be true, and keeps says whether it is.
type keeper struct {
	cause, setting string
	of             []int
	keeps          func(i, w int) bool
}

// keepers lists the settings that may keep anybody from giving room, the same for all that ask.
func (v *view) keepers() []keeper {
	if v.kept != nil {
		return v.kept
	}
	r := v.r
	v.kept = []keeper{}
	list := []keeper{
		{ByPin, "applications.pinned", nil, func(_, w int) bool { return r.pinned[w] }},
		{ByMinRun, "options.min_run", nil, func(_, w int) bool { return r.recent(w) && !r.pinned[w] }},
	}
	if !r.problem.Options.Preempt {
		list = append(list, keeper{ByPreempt, "options.preempt", nil, v.couldBePreempted})
	}
	for _, k := range list {
		for w := range v.draft.counts {
			if k.cause == ByPreempt && r.problem.Applications[w].Preemptible || k.cause != ByPreempt && k.keeps(w, w) {
				k.of = append(k.of, w)
			}
		}
		if len(k.of) > 0 {
			v.kept = append(v.kept, k)
		}
	}
	return v.kept
}

// generalText says what holds for all servers together.
func generalText(b *apportion.Blocker) string {
	switch b.Cause {
	case ByBudget:
		return fmt.Sprintf("%s could make room at a cost of %d: the adjustment budget (theta2) is %d", listIDs(b.Applications), b.Need, b.Limit)
	case ByPin:
		return fmt.Sprintf("%d %s cannot be taken from what is pinned: %s", b.Free, b.Kind, listIDs(b.Applications))
	case ByMinRun:
		return fmt.Sprintf("%d %s cannot be taken yet from what has changed within min_run: %s", b.Free, b.Kind, listIDs(b.Applications))
	case ByPreempt:
		return fmt.Sprintf("preempt would free %d %s of lower priority: %s", b.Free, b.Kind, listIDs(b.Applications))
	}
	return fmt.Sprintf("%d %s more are kept by what other queues are guaranteed", b.Free, b.Kind)
}

// dearer reports whether to change all that may be changed for application i takes more than is left of the budget.
func (v *view) dearer(i int) bool {
	d := v.draft
	if v.dear != nil && v.from == nil {
		return *v.dear > d.budget-d.spent
	}
	sum, n := int64(0), max(0, d.least(i))
	for w := range d.counts {
		if d.in[w] && !v.r.stays(w) && len(d.counts[w]) > 0 {
			sum += d.charge(i, w, n) // Validate has seen that all costs fit int64
		}
	}
	if !v.r.guaranteed && v.from == nil { // as in giftsFor
		v.dear = &sum
	}
	return sum > d.budget-d.spent
}

// mostTrials is how many newcomers of one decision are tried with a budget without limit: it bounds time.
const mostTrials = 16

// roomAtAnyCost returns the left side of (16) with which others make room for n containers of entry i, and who they are; nil: no way is
// found, or none was looked for any more.
func (v *view) roomAtAnyCost(i int, n int64) (cost int64, ids []string) {
	if v.trials == mostTrials {
		return 0, nil
	}
	v.trials++
	v.draft.trial(func(before solver.Counts) {
		d := v.draft
		d.budget = math.MaxInt64 / 2
		if !d.makeRoom(i, n) {
			return
		}
		cost, ids = d.spent, []string{}
		for w := range d.counts {
			if v.r.of[w] != v.r.of[i] && !solver.SamePlaces(before[w], d.counts[w]) {
				ids = append(ids, v.r.problem.Applications[w].ID)
			}
		}
		ids = slices.Compact(ids)
	})
	return cost, ids
}

// trial changes the draft and takes that back; f is told what it held before.
func (d *draft) trial(f func(before solver.Counts)) {
	before, moved, in, yielding := slices.Clone(d.counts), slices.Clone(d.moved), slices.Clone(d.in), slices.Clone(d.r.yielding)
	budget, spent, takings := d.budget, d.spent, d.takings
	f(before)
	for w := range before {
		if !solver.SamePlaces(before[w], d.counts[w]) {
			d.remove(w)
		}
	}
	for w := range before {
		if !solver.SamePlaces(before[w], d.counts[w]) {
			d.put(w, before[w])
		}
	}
	copy(d.moved, moved)
	copy(d.in, in)
	copy(d.r.yielding, yielding)
	d.budget, d.spent, d.takings = budget, spent, takings
}

// guaranteed returns how much of kind k others would give entry i within the budget if nothing were guaranteed, beyond what they do.
func (v *view) guaranteed(i, k int) int64 {
	d := v.draft
	gifts := v.giftsFor(i, k)
	all, _ := affordable(gifts, d.budget-d.spent)
	could, _, _ := d.afforded(i, k, gifts)
	return all - could
}

// couldBePreempted reports whether application w could be suspended for entry i by priority if Options.Preempt were set.
func (v *view) couldBePreempted(i, w int) bool {
	apps := v.r.problem.Applications
	return !v.r.problem.Options.Preempt && v.r.leaf[i] == v.r.leaf[w] && apps[w].Preemptible && !v.r.stays(w) &&
		v.r.running(w) && apps[w].Priority < apps[i].Priority
}

// heldBy returns how much of kind k the applications have together that a setting keeps from entry i, and the first few of them.
func (v *view) heldBy(i, k int, by *keeper) (sum int64, ids []string) {
	for _, w := range by.of {
		if !by.keeps(i, w) {
			continue
		}
		if amount := solver.Containers(v.draft.counts[w]) * v.r.problem.Applications[w].Demand[k]; amount > 0 {
			if sum += amount; len(ids) < 4 {
				ids = append(ids, v.r.problem.Applications[w].ID)
			}
		}
	}
	return sum, ids
}
