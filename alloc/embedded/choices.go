// This file solves P2 with applications that may run in one of several ways, H of [Program §1]: an option for
// each is fixed, and the rest is P2 without options. Prices say which options are worth a look, and bound them all.

package embedded

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// chooser is one call of Solve on an instance with options. Its positions of applications are those of inst; fix says how those of
// an instance with one option each come back to them.
type chooser struct {
	*Solver
	inst *solver.Instance
	best *solver.Solution // with the bound of all; its Counts are the best so far, and settled fills in the rest
	// apart is inst with every option apart.
	apart *problem.Problem
	// priced is the bound that the prices alone prove.
	priced float64
}

// solveChoices answers an instance with options. The search starts from those that prices prefer, and goes on to others, those
// first of which the prices think nearly as well.
func (s *Solver) solveChoices(ctx context.Context, inst *solver.Instance) *solver.Solution {
	c := &chooser{Solver: s, inst: inst, best: &solver.Solution{}}
	if inst.Start != nil {
		c.offer(inst.Start)
	}
	r := c.bound(ctx)
	if r.Bound < c.apart.Floor() {
		sol := infeasible()
		sol.Effort = c.best.Effort
		return sol
	}
	c.search(ctx, r)
	c.best.Interrupted = ctx.Err() != nil
	return c.best
}

// bound sets the bound of all solutions and what proves it, and returns the descent that has the prices. A Dual picks at every
// prices the best option of each, so that one bound holds for all ways to fix them.
func (c *chooser) bound(ctx context.Context) *lagrange.Descent {
	// With every option apart each counts once too often without containers; added is by how much.
	apart, added := c.inst.Apart()
	opts := rootOptions{tune: c.tune, effort: c.opts.Effort, fine: true, stop: math.Inf(-1), choices: c.inst.Choices}
	c.apart = problem.New(apart)
	r := newRoot(ctx, c.apart, opts)
	c.priced = r.bound() - added
	c.best.Bound = math.Min(c.priced, c.inst.Cap())
	c.best.Multipliers = r.multipliers()
	c.best.Effort = r.taken()
	return r.better()
}

// settled brings status and bound up to date, once the last counts are known; without any the status stays Unknown.
func (c *chooser) settled() {
	if c.best.Counts != nil {
		settle(c.best, c.inst)
	}
}

// search tries options, one application after the other, from those that the prices prefer. What runs now gives way only to
// something better.
func (c *chooser) search(ctx context.Context, prices *lagrange.Descent) {
	c.offer(asItIs(c.inst))
	if c.near() || c.late(ctx) {
		c.settled()
		return
	}
	picked, others := c.preferred(prices)
	// Joined servers choose for all at once, which prices one by one do not.
	others = c.byTotals(ctx, picked, others)
	if c.near() || c.late(ctx) {
		c.settled()
		return
	}
	// Options are compared by quick answers, and only the last ones get the whole effort.
	quick := c.quick()
	found := c.try(ctx, quick, picked)
	// Where they have no solution those that run as they do now may have one.
	if found == nil {
		now := inUse(c.inst, asItIs(c.inst), picked)
		if found = c.try(ctx, quick, now); found != nil {
			picked = now
		}
	}
	reached := c.look(ctx, picked, others, found)
	if !c.near() && !c.late(ctx) {
		// Where what runs now, or the choice of joined servers, is better than all that was found its options are those to go on with.
		if c.best.Counts != nil && c.inst.Objective(c.best.Counts) > reached+solver.ObjectiveTolerance {
			picked = inUse(c.inst, c.best.Counts, picked)
		}
		c.try(ctx, c.Solver, picked)
	}
	c.settled()
}

// look tries the others in the places of picked, one after the other, from the counts found, and keeps what is better. It returns
// the objective that it has reached, with picked brought up to date.
func (c *chooser) look(ctx context.Context, picked []int, others []other, found solver.Counts) float64 {
	looks, vain := int(math.Min(c.tune.Looks*float64(c.opts.Effort), float64(len(others)))), 0.0
	most := math.Max(1, c.tune.Vain*float64(c.opts.Effort)/float64(len(c.inst.Apps)*len(c.inst.Capacity)))
	reached := math.Inf(-1)
	if found != nil {
		reached = c.inst.Objective(found)
	}
	// What is compared has had the same work.
	if looks > 0 && ctx.Err() == nil && !c.near() {
		if counts := c.improve(ctx, picked, found, math.Inf(-1)); counts != nil && c.inst.Objective(counts) > reached {
			found, reached = counts, c.inst.Objective(counts)
		}
	}
	for _, other := range others[:looks] {
		before := picked[other.choice]
		if before == other.app || ctx.Err() != nil || vain >= most || c.near() || c.hopeless(other) {
			continue
		}
		picked[other.choice] = other.app
		if counts := c.improve(ctx, picked, found, reached); counts != nil && c.inst.Objective(counts) > reached+solver.ObjectiveTolerance {
			found, reached, vain = counts, c.inst.Objective(counts), 0
		} else {
			picked[other.choice] = before
			vain++
		}
	}
	return reached
}

// improve is try by moves alone, from what counts have of these options, which are given up where a part of them brings no more than above.
func (c *chooser) improve(ctx context.Context, picked []int, counts solver.Counts, above float64) solver.Counts {
	fixed, apps := fix(c.inst, picked)
	if fixed == nil {
		return nil
	}
	from := make(solver.Counts, len(apps))
	for a, i := range apps {
		if counts != nil {
			from[a] = counts[i]
		}
	}
	better := spread(c.polished(ctx, fixed, from, above), apps, len(c.inst.Apps))
	if better != nil {
		c.offer(better)
	}
	return better
}

// byTotals lowers the bound of an instance with options to that of joined servers, and places the best choices for these where that can
// be done at once. It puts the options of the best one in place of those that prices prefer, which are the first others then.
func (c *chooser) byTotals(ctx context.Context, picked []int, others []other) []other {
	if c.tune.Totals <= 0 || ctx.Err() != nil {
		return others
	}
	t := lagrange.NewTotals(c.apart, c.inst.Choices, c.inst.LossBudget)
	if t == nil {
		return others
	}
	t.Lower(ctx, c.tune.TotalRounds)
	found := t.Best(ctx, totalsWork(c.tune, c.opts.Effort), lagrange.Wanted{Above: math.Inf(-1), Most: c.tune.Packed})
	c.best.Bound = math.Min(c.best.Bound, found.Bound)
	q := packer{c.inst, c.tune, c.opts.Seed}
	if placed := q.first(ctx, found.Choices); placed != nil {
		c.offer(placed)
	}
	counts := found.Priced
	if found.Choices != nil {
		counts = found.Choices[0]
	}
	if counts == nil {
		return others
	}
	// An option that has containers, or stays, takes the place of the preferred one, which is looked at first of the others.
	var first []other
	for at, before := range picked {
		for _, i := range c.inst.Choices[at].Apps {
			if counts[i] != 0 && i != before {
				first = append(first, other{choice: at, app: before})
				picked[at] = i
			}
		}
	}
	return append(first, others...)
}

// hopeless reports whether no solution that uses an option is better than the best answer: the prices alone prove that.
func (c *chooser) hopeless(o other) bool {
	return c.best.Counts != nil && c.priced-o.loses <= c.inst.Objective(c.best.Counts)+solver.ObjectiveTolerance
}

// near reports whether the best answer is as near to the bound as was asked for.
func (c *chooser) near() bool {
	return c.best.Counts != nil && near(c.inst.Objective(c.best.Counts), c.best.Bound, c.opts.Gap)
}

// late reports whether the time is over, and there is an answer.
func (c *chooser) late(ctx context.Context) bool { return ctx.Err() != nil && c.best.Counts != nil }

// other is an option that is not the preferred one, and by how much the prices prefer that.
type other struct {
	choice, app int // positions in Instance.Choices and Instance.Apps
	regret      float64
	// loses is what the prices prove to be lost with it: no solution that uses it is worth more than their bound less this.
	loses float64
}

// preferred returns the options that the best prices prefer, and the others, those with the least regret first. Whoever is not to be
// adjusted stays with the option that it runs with.
func (c *chooser) preferred(prices *lagrange.Descent) (picked []int, others []other) {
	prices.Back() // scores are those of the last evaluation
	d := prices.F.(*lagrange.Dual)
	// Prices are at their best, and each option gains by itself there; the order of the applications does not matter.
	picked = make([]int, len(c.inst.Choices))
	for at := range picked {
		apps, head := c.inst.Choices[at].Apps, d.Head(at)
		gains := make([]float64, len(apps))
		best := 0
		for o, i := range apps {
			if gains[o] = d.Gain(prices.Best, int32(i)); gains[o] > gains[best] {
				best = o
			}
		}
		// One that stays is worth its keep: the others have to be better than that.
		stays := d.Problem.Apps[head].Pinnable && !d.InChosen[head]
		if stays {
			best = slices.Index(apps, int(head))
			gains[best] += math.Max(0, d.Keep[head]-d.Free[head])
		}
		picked[at] = apps[best]
		for o, i := range apps {
			if o != best && !c.inst.Apps[head].Pinned {
				next := other{choice: at, app: i, regret: gains[best] - gains[o]}
				// Who stays as it is has the option that it runs with, and leaves its adjustment to others.
				if i != int(head) || !d.Problem.Apps[head].Pinnable {
					next.loses = math.Max(0, next.regret)
				}
				others = append(others, next)
			}
		}
	}
	slices.SortStableFunc(others, func(a, b other) int { return cmp.Compare(a.regret, b.regret) })
	return picked, others
}

// asItIs returns what every application has now, in fresh lists.
func asItIs(inst *solver.Instance) solver.Counts {
	counts := make(solver.Counts, len(inst.Apps))
	for i := range inst.Apps {
		if app := &inst.Apps[i]; app.Running {
			counts[i] = slices.Clone(app.Previous)
		}
	}
	return counts
}

// inUse returns the options that have containers under counts, and of applications without any the picked ones.
func inUse(inst *solver.Instance, counts solver.Counts, picked []int) []int {
	used := slices.Clone(picked)
	for at := range inst.Choices {
		for _, i := range inst.Choices[at].Apps {
			if len(counts[i]) > 0 {
				used[at] = i
			}
		}
	}
	return used
}

// try solves the instance with these options fixed, and keeps the answer if it is the best so far. It returns its counts, nil where
// there are none.
func (c *chooser) try(ctx context.Context, by *Solver, picked []int) solver.Counts {
	fixed, apps := fix(c.inst, picked)
	if fixed == nil {
		return nil
	}
	sol := by.solveFixed(ctx, fixed)
	c.best.Effort += sol.Effort
	counts := spread(sol.Counts, apps, len(c.inst.Apps))
	if counts != nil {
		c.offer(counts)
	}
	return counts
}

// offer keeps counts if they are a solution, and the best so far: more utilization, or as much and less loss.
func (c *chooser) offer(counts solver.Counts) {
	if c.inst.Check(counts) != nil {
		return
	}
	if c.best.Counts != nil {
		more := c.inst.Objective(counts) - c.inst.Objective(c.best.Counts)
		less := c.inst.FairnessLoss(c.best.Counts) - c.inst.FairnessLoss(counts)
		if more <= solver.ObjectiveTolerance && (more < -solver.ObjectiveTolerance || less <= solver.LossTolerance) {
			return
		}
	}
	c.best.Counts = counts
}

// stuck returns by Choice the option that is in use in every solution, -1 where nothing says which: one that is pinned stays, and
// so does one that no budget pays for.
func stuck(inst *solver.Instance) []int {
	picked := make([]int, len(inst.Choices))
	for c := range inst.Choices {
		picked[c] = -1
		for _, i := range inst.Choices[c].Apps {
			if app := &inst.Apps[i]; app.Pinned || !app.MayGrow() && app.Cost > inst.AdjustBudget && inst.MayStay(i) {
				picked[c] = i
			}
		}
	}
	return picked
}

// spread returns counts of the applications at the positions apps among n of them, the others of which have nothing; nil for nil.
func spread(counts solver.Counts, apps []int, n int) solver.Counts {
	if counts == nil {
		return nil
	}
	all := make(solver.Counts, n)
	for a, i := range apps {
		all[i] = counts[a]
	}
	return all
}

// fix returns inst with one option for each of its choices, all of them where none is picked, which is -1, and the positions in inst
// of what is left; nil where the others cannot be left: one is pinned, or the budget does not pay for it.
func fix(inst *solver.Instance, picked []int) (fixed *solver.Instance, apps []int) {
	plain := *inst
	plain.Apps, plain.Groups, plain.Choices, plain.Start = nil, nil, nil, nil
	drop, required := notPicked(inst, picked)
	position := make([]int, len(inst.Apps))
	for i := range inst.Apps {
		app := inst.Apps[i]
		switch {
		case drop[i] && app.Running && (app.Pinned || app.Cost > plain.AdjustBudget):
			return nil, nil
		case drop[i] && app.Running:
			plain.AdjustBudget -= app.Cost // it is left, whatever comes in its place
		case !drop[i]:
			if required[i] {
				app.Elective, app.Min = false, max(1, app.Min)
			}
			position[i] = len(apps)
			plain.Apps, apps = append(plain.Apps, app), append(apps, i)
			if inst.Start != nil {
				plain.Start = append(plain.Start, inst.Start[i])
			}
		}
	}
	// Ceilings and open choices stay as they are, and their applications get their new positions.
	left := func(all []int) (left []int) {
		for _, i := range all {
			if !drop[i] {
				left = append(left, position[i])
			}
		}
		return left
	}
	for _, group := range inst.Groups {
		plain.Groups = append(plain.Groups, solver.Group{Ceiling: group.Ceiling, Apps: left(group.Apps)})
	}
	for c, choice := range inst.Choices {
		if picked[c] < 0 {
			plain.Choices = append(plain.Choices, solver.Choice{Apps: left(choice.Apps), Required: choice.Required})
		}
	}
	return &plain, apps
}

// notPicked marks the options that are left out, and those whose application must have some containers.
func notPicked(inst *solver.Instance, picked []int) (drop, required []bool) {
	drop, required = make([]bool, len(inst.Apps)), make([]bool, len(inst.Apps))
	for c, choice := range inst.Choices {
		if picked[c] < 0 {
			continue
		}
		for _, i := range choice.Apps {
			drop[i] = i != picked[c]
		}
		required[picked[c]] = choice.Required
	}
	return drop, required
}
