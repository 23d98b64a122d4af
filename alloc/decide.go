// This file turns the answer of a solver into a Decision, [Dorm §IV-B].

package alloc

import (
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

// decided builds the decision from an attempt that has a solution. refused is the attempt with one
// newcomer more that has none; nil where nobody was left out.
func (r *resolved) decided(a, refused *attempt) (*Decision, error) {
	d, err := r.answer(a, r.servable())
	if err != nil {
		return nil, err
	}
	d.Waiting = r.waiting(d, func(i int) Waiting { return r.unserved(i, a, refused) })
	return d, nil
}

// concluded builds the decision of those who were taken in, answered by a; who says why the others are not. Shares are
// those among who is in alone, since whoever waits claims nothing of this cluster.
func (r *resolved) concluded(a *attempt, who *admission) (*Decision, error) {
	d, err := r.answer(a, a.apps)
	if err != nil {
		return nil, err
	}
	d.OpenBound = r.openBound(a, a.solution.Multipliers)
	for _, v := range who.reserved {
		d.Reservations = append(d.Reservations, r.reservation(v))
	}
	grown := r.grown(r.scatter(a.apps, a.solution.Counts))
	// One stopper serves all that are in and have nothing, which wait for what Explain would name.
	stop := newStopper(r, a)
	for o := range d.Shares {
		// Whoever is in is there with what it runs as, or with the first option that there is room for.
		i, ran := r.inUse(o, nil), r.runs(o) >= 0
		w := Waiting{ID: d.Shares[o].ID, LeftOut: !who.in[i], Passed: who.passedBy(o, grown)}
		if who.in[i] {
			w.Passed = 0
		}
		if ran && r.leaving[i] {
			d.Draining = append(d.Draining, w.ID)
		}
		if ran && r.yielding[i] {
			d.Yielding = append(d.Yielding, w.ID)
		}
		// Of those without containers P2 has left some with none, and admission has refused the others.
		switch {
		case d.Shares[o].Containers > 0:
		case who.in[i]:
			at, _ := slices.BinarySearch(a.apps, i)
			w.Reason = r.stopped(stop, at, i)
			d.add(w, ran)
		default:
			if reason, preempted := who.preempted[o]; preempted {
				w.Reason = reason
			} else {
				w.Reason = stop.servers().leftOut(o, d.Reservations)
			}
			if e, broken := who.broken[o]; broken {
				w.Reason = breaks(w.Reason, r.problem.Applications[e].ID)
			}
			d.add(w, ran)
		}
	}
	r.setApart(d)
	d.Staying = r.staying(stop)
	// Another run may find more: a search that was cut short settles nothing.
	if !d.Interrupted {
		d.Settled = r.settle(d)
	}
	return d, nil
}

// setApart tells the preempted, who count against no budget, from the others that are adjusted: they were left out, and
// need not have been.
func (r *resolved) setApart(d *Decision) {
	// A forced one that found no room is suspended as well, and is counted as forced.
	positions := appIndex(r.given.Applications)
	for _, w := range d.Suspended {
		if i := r.runs(positions[w.ID]); w.LeftOut && !r.forced[i] {
			d.Metrics.Preempted++
			d.Metrics.AdjustCost -= r.cost(i)
		}
	}
}

// add lists an application without containers as suspended, where it ran, or as waiting.
// A caller stops what was suspended and leaves alone what waits, so that nobody may be in both lists.
func (d *Decision) add(w Waiting, ran bool) {
	if ran {
		d.Suspended = append(d.Suspended, w)
	} else {
		d.Waiting = append(d.Waiting, w)
	}
}

// answer builds the decision from an attempt that has a solution, but for who waits. sharing lists those who
// have a share.
// An error is one of measuring, as of counts that leave int64; no solution that the referee has passed
// has any.
func (r *resolved) answer(a *attempt, sharing []int) (*Decision, error) {
	// What the solver claims is taken over as far as the referee has checked it; all else is computed from the counts.
	s, all := a.solution, r.scatter(a.apps, a.solution.Counts)
	objective := r.attained(a.apps, all)
	d := &Decision{
		Status:    Decided,
		Objective: objective,
		// A bound above the cap says nothing, and one below the objective differs from it by
		// rounding alone: the referee has refused any other.
		Bound:       math.Max(objective, math.Min(s.Bound, a.instance.Cap())-r.prices(a)),
		Proven:      s.Proven,
		Interrupted: s.Interrupted,
		Certificate: s.Certificate,
		LeastLoss:   a.least,
	}
	// What domains cost is in no program that a solver has proven anything of.
	if r.losesByDomains(all) {
		d.Proven = solver.ByNothing
	}
	// A solver that stopped early may have reached its bound without noticing it.
	if d.Bound-d.Objective <= solver.ObjectiveTolerance {
		d.Proven = max(d.Proven, solver.ByUtilization)
	}
	// The gap follows from bound and rank, so that both must be settled first.
	d.Gap = r.gap(d, a.instance)
	if err := r.report(d, sharing, all); err != nil {
		return nil, err
	}
	r.setWorths(d, a.apps, all)
	return d, nil
}

// kept builds the decision that changes nothing, after an attempt that has no solution.
// What runs goes on even where it breaks a constraint: to stop it would be worse, and nobody has found
// anything better.
func (r *resolved) kept(a *attempt) (*Decision, error) {
	// The attempt with all newcomers is the one to blame: it is the problem as the caller asked it.
	reason := noSolution(a.solution)
	d := &Decision{
		Status:      Kept,
		Reason:      &reason,
		Interrupted: a.solution.Interrupted,
		Certificate: solver.Certificate{By: a.solution.By},
	}
	if err := r.report(d, r.servable(), r.previous); err != nil {
		return nil, err
	}
	r.setKept(d)
	d.Waiting = r.waiting(d, func(int) Waiting { return Waiting{Reason: reason} })
	return d, nil
}

// setKept sets what is worth what runs: it may break the constraints of P2, so that its utilization is measured, not
// an objective reached.
func (r *resolved) setKept(d *Decision) {
	d.Objective = d.Metrics.ResourceUtilization
	if r.problem.worthy() || r.compact != nil {
		list := r.servable()
		r.setWorths(d, list, r.previous)
		d.Objective = r.attained(list, r.previous)
	}
}

// gap returns the gap between Objective and Bound; general solvers prove an optimum to a tolerance
// above ours, and then it is 0. The zero of worths is the caller's, so that theirs is a part of what they can differ by.
func (r *resolved) gap(d *Decision, inst *solver.Instance) float64 {
	switch {
	case d.Status == Kept || d.Proven >= solver.ByUtilization:
		return 0
	case !r.problem.worthy() || d.Objective >= d.Bound || math.IsInf(d.Bound, 0):
		return solver.Gap(d.Objective, d.Bound)
	}
	return (d.Bound - d.Objective) / math.Max(spread(inst), solver.ObjectiveTolerance)
}

// report fills in what follows from the counts alone: allocation, metrics and shares, those of DRF among the
// applications in sharing.
func (r *resolved) report(d *Decision, sharing []int, counts solver.Counts) (err error) {
	// The counts cover every application of the problem, also those which P2 did not ask about.
	inst := r.instanceOfAll(sharing)
	d.Allocation = r.allocation(counts)
	d.Shares = r.sharesUnder(inst, counts)
	d.Queues = r.queueUses(counts)
	d.Metrics, err = r.measure(inst, counts)
	d.Metrics.WaitingLoss = r.waitingLoss(sharing, counts)
	if d.LeastLoss != nil {
		d.Metrics.LossBudget, d.Metrics.LeastLoss = d.LeastLoss.Loss, d.LeastLoss.Loss
		if !r.printed() {
			d.Metrics.LossBudget += r.rounded(sharing, r.instance(sharing).Apps).rise
		}
	}
	return err
}

// attained returns what the applications in list, ascending, are worth together under counts, one entry for each
// application of the problem, less the prices of restarts.
func (r *resolved) attained(list []int, counts solver.Counts) float64 {
	var sum float64
	last := -1
	for _, i := range list {
		// Of an application with options the one in use counts, or one for all.
		if r.of[i] != last {
			sum, last = sum+r.netWorth(r.of[i], counts), r.of[i]
		}
	}
	return sum
}

// setWorths fills in what every application brings, where anyone states a worth: those in list, which P2 was about. The
// others bring nothing, and their share of the objective stays 0.
func (r *resolved) setWorths(d *Decision, list []int, counts solver.Counts) {
	if !r.problem.worthy() {
		return
	}
	for _, i := range list {
		d.Shares[r.of[i]].Worth = r.netWorth(r.of[i], counts)
	}
}

// sharesUnder returns how every application of the problem fares under counts, in the order of the problem. inst has an
// entry for every application, counts too.
func (r *resolved) sharesUnder(inst *solver.Instance, counts solver.Counts) []Share {
	// Nobody is left out here, whether or not P2 was about it: a caller finds every application of its problem.
	shares := make([]Share, len(r.entries))
	for o := range shares {
		// Actual is delta_i n_i, the left part of (2).
		i := r.inUse(o, counts)
		app, n := &inst.Apps[i], solver.Containers(counts[i])
		shares[o] = Share{
			ID:          r.given.Applications[o].ID,
			Containers:  n,
			Actual:      app.Delta * float64(n),
			Theoretical: app.Share,
			Guaranteed:  r.floor[i],
			Domain:      r.domainName(i, counts[i]),
			Loss:        app.Loss(n),
		}
		if r.restraint != nil {
			shares[o].Most = r.restraint[i]
		}
		// Whoever runs is adjusted by what happens to the option that it runs as.
		if e := r.runs(o); e >= 0 {
			shares[o].Adjusted = inst.Apps[e].Adjusted(counts[e])
			shares[o].Forced = shares[o].Adjusted && r.forced[e]
		}
		if n > 0 {
			shares[o].Option = r.usedOption(i)
		}
	}
	return shares
}

// waiting lists the applications without containers. why says why one that the empty cluster could
// serve waits.
func (r *resolved) waiting(d *Decision, why func(i int) Waiting) []Waiting {
	// By the paper's rule everybody without containers waits; nobody is suspended.
	var waiting []Waiting
	for o, share := range d.Shares {
		if share.Containers > 0 {
			continue
		}
		var w Waiting
		// What no decision can ever serve has a reason of its own, whatever the solver said about
		// the others.
		if i := r.inUse(o, nil); r.running(i) || r.fits(i) {
			w = why(i)
		} else {
			w.Reason = r.reasonOf(r.entries[o], r.unservable)
		}
		w.ID = share.ID
		waiting = append(waiting, w)
	}
	return waiting
}

// unserved says why application i, which the empty cluster could serve, has nothing after attempt a.
// The newcomer that refused has and a has not is why P2 had no solution; those after it stand behind
// it. An application that a was about has a minimum of 0.
func (r *resolved) unserved(i int, a, refused *attempt) Waiting {
	// Its minimum of 0 was met: the next container is what was refused.
	if at, asked := slices.BinarySearch(a.apps, i); asked {
		stop := newStopper(r, a)
		return Waiting{Reason: r.stopped(stop, at, i)}
	}
	// refused is there, since a newcomer that is not in a has been left out. The head of the queue is in refused and not in a.
	reason, head := noSolution(refused.solution), slices.IndexFunc(refused.apps, func(o int) bool { return !slices.Contains(a.apps, o) })
	id := r.problem.Applications[refused.apps[head]].ID
	reason.Applications = []string{id}
	if _, tried := slices.BinarySearch(refused.apps, i); !tried {
		reason.Text = "it stands behind " + listIDs(reason.Applications) + " in the queue, which waits: " + reason.Text
	}
	return Waiting{Reason: reason, LeftOut: true}
}
