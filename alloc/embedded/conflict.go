// This file proves that an instance has no solution and says why: by counting before the search,
// by prices after it, by enumeration where the instance is small.

package embedded

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// plainConflict returns the first reason that counting finds, or nil. The search relies on it: past
// it every minimum fits the empty cluster, and sums of minima do not overflow.
func plainConflict(p *problem) *solver.Conflict {
	for _, find := range [...]func(*problem) *solver.Conflict{oneTooLarge, allTooLarge, tooManyMoves, tooMuchLoss} {
		if conflict := find(p); conflict != nil {
			return conflict
		}
	}
	return nil
}

// oneTooLarge finds an application whose minimum the empty cluster does not hold.
func oneTooLarge(p *problem) *solver.Conflict {
	for i := range p.apps {
		a := &p.apps[i]
		if a.min <= a.max {
			continue
		}
		c := &solver.Conflict{
			Constraints: []solver.Constraint{solver.Minimum, solver.Capacity},
			Apps:        []int{i}, Kind: -1, Need: float64(a.min), Have: float64(a.max),
		}
		for k, q := range p.demandOf(a.typ) {
			var largest int64
			for j := range p.servers {
				largest = max(largest, p.capacity[j*p.kinds+k])
			}
			if q > largest {
				c.Constraints[0], c.Constraints[1] = solver.Capacity, solver.Minimum
				c.Kind, c.Need, c.Have = k, float64(q), float64(largest)
				break
			}
		}
		return c
	}
	return nil
}

// allTooLarge finds a kind of which the minima together demand more than there is.
func allTooLarge(p *problem) *solver.Conflict {
	for k := range p.kinds {
		var need int64
		var apps []int
		for i := range p.apps {
			if use := mulSaturated(p.apps[i].min, p.demandOf(p.apps[i].typ)[k]); use > 0 {
				need = addSaturated(need, use)
				apps = append(apps, i)
			}
		}
		if need > p.total[k] {
			return &solver.Conflict{
				Constraints: []solver.Constraint{solver.Capacity, solver.Minimum},
				Apps:        apps, Kind: k, Need: float64(need), Have: float64(p.total[k]),
			}
		}
	}
	return nil
}

// tooManyMoves finds more applications that must move than the budget allows: those that cannot
// stay by themselves, and of those on each server that shrank below what they hold there as few as can be.
func tooManyMoves(p *problem) *solver.Conflict {
	c := &solver.Conflict{Kind: -1, Have: float64(p.inst.AdjustBudget)}
	need := int64(len(p.mustMove))
	involved := make([]bool, len(p.apps))
	for _, i := range p.mustMove {
		involved[i] = true
	}
	for j, lodgers := range p.lodgers {
		if fewest := fewestMoves(p, j); fewest > 0 && !anyOf(involved, lodgers) {
			need += fewest
			for _, i := range lodgers {
				involved[i] = true
			}
		}
	}
	if need <= p.inst.AdjustBudget {
		return nil
	}
	c.Constraints = causes(p, need > int64(len(p.mustMove)))
	for i, yes := range involved {
		if yes {
			c.Apps = append(c.Apps, i)
		}
	}
	c.Need = float64(need)
	return c
}

// noRoom finds an application that does not stay and whose minimum has no room beside those that must.
func noRoom(p *problem) *solver.Conflict {
	for i := range p.apps {
		a := &p.apps[i]
		if a.keepable {
			continue
		}
		var room int64
		for j := range p.servers {
			beside := apportion.Resources(p.beside[j*p.kinds : (j+1)*p.kinds])
			room = addSaturated(room, apportion.Resources(p.demandOf(a.typ)).CountIn(beside))
		}
		if room < a.min {
			c := &solver.Conflict{Apps: []int{i}, Kind: -1, Need: float64(a.min), Have: float64(room)}
			c.Constraints = []solver.Constraint{solver.Minimum, solver.Adjust, solver.Capacity}
			return c
		}
	}
	return nil
}

// causes lists why applications must move: a server that became too small, a minimum above what
// is held; a displaced one, or one above its maximum, needs no further reason.
func causes(p *problem, shrank bool) []solver.Constraint {
	for _, i := range p.mustMove {
		for _, placed := range p.inst.Apps[i].Previous {
			shrank = shrank || placed.Count > p.fit(placed.Server, p.apps[i].typ)
		}
	}
	constraints := []solver.Constraint{solver.Adjust}
	if shrank {
		constraints = append(constraints, solver.Capacity)
	}
	if belowMinimum(p) {
		constraints = append(constraints, solver.Minimum)
	}
	return constraints
}

// belowMinimum reports whether some application must move because it holds less than its minimum.
func belowMinimum(p *problem) bool {
	return slices.ContainsFunc(p.mustMove, func(i int) bool { return p.apps[i].held < p.apps[i].min })
}

func anyOf(marked []bool, apps []int32) bool {
	for _, i := range apps {
		if marked[i] {
			return true
		}
	}
	return false
}

// fewestMoves returns how many of its lodgers must leave server j at least, by the kind that is shortest:
// those that use most of it.
func fewestMoves(p *problem, j int) int64 {
	var fewest int64
	for k := range p.kinds {
		var all int64
		var uses []int64
		for s, i := range p.lodgers[j] {
			use := mulSaturated(p.holding[j][s], p.demandOf(p.apps[i].typ)[k])
			all, uses = addSaturated(all, use), append(uses, use)
		}
		slices.Sort(uses)
		over := all - p.capacity[j*p.kinds+k]
		n := int64(0)
		for ; over > 0; n++ {
			over -= uses[len(uses)-1-int(n)]
		}
		fewest = max(fewest, n)
	}
	return fewest
}

// tooMuchLoss finds that even the least loss exceeds the budget, with as few other constraints as
// that takes: none, the minima, the adjustment budget, or both.
func tooMuchLoss(p *problem) *solver.Conflict {
	for _, with := range [...]struct{ minima, adjust bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		if with.adjust && !with.minima && belowMinimum(p) {
			continue // without the minima more could stay
		}
		need := totalLoss(p, with.minima, with.adjust)
		if need <= p.inst.LossBudget+solver.LossTolerance {
			continue
		}
		c := &solver.Conflict{Constraints: []solver.Constraint{solver.Fairness}, Kind: -1, Need: need, Have: p.inst.LossBudget}
		if with.adjust {
			c.Constraints = append(c.Constraints, solver.Adjust)
		}
		if with.minima {
			c.Constraints = append(c.Constraints, solver.Minimum)
		}
		return c
	}
	return nil
}

// totalLoss returns the least loss that all applications can have one by one, within their minima
// or not; with adjust, those that may stay do so but for the ones where moving saves most.
func totalLoss(p *problem, minima, adjust bool) float64 {
	var total float64
	var savings []float64
	for i := range p.apps {
		a := &p.apps[i]
		loss := p.leastLoss(int32(i), minima)
		if adjust && a.keepable {
			savings = append(savings, a.heldLoss-loss)
			loss = a.heldLoss
		}
		total += loss
	}
	slices.SortFunc(savings, func(x, y float64) int { return cmp.Compare(y, x) })
	for s, saving := range savings {
		if int64(s) < p.budget && saving > 0 {
			total -= saving
		}
	}
	return total
}

// leastLoss returns the least loss that application i can have within its bounds, or within its
// maximum alone.
func (p *problem) leastLoss(i int32, minima bool) float64 {
	a := &p.apps[i]
	n := a.fair
	if minima {
		n = max(n, a.min)
	}
	return math.Min(p.loss(i, n), p.loss(i, min(n+1, a.max)))
}

const (
	// proofRounds is how many subgradient rounds a proof of infeasibility may take.
	proofRounds = 400
)

// proofMargin is how far below zero a bound on zero must come: well above rounding.
const proofMargin = 1e-7

// pricedConflict looks for prices that prove infeasibility: were every container worth nothing, the
// optimum would be 0, so that a dual bound below 0 is a contradiction. Without a price on loss it
// needs no fairness; with price 1 it says how much loss there must be.
//
// It also returns how many rounds that took.
func pricedConflict(ctx context.Context, p *problem) (conflict *solver.Conflict, rounds int64) {
	if conflict := noRoom(p); conflict != nil {
		return conflict, 0
	}
	worthless := *p.inst
	worthless.Apps = append([]solver.App(nil), worthless.Apps...)
	for i := range worthless.Apps {
		worthless.Apps[i].Value = 0
	}
	for _, lambda := range [...]float64{0, 1} {
		desc := newConflictDescent(newDual(newProblem(&worthless), false), lambda)
		desc.run(ctx, proofRounds, -2*proofMargin*targetShare, -2*proofMargin)
		rounds += desc.rounds
		if desc.bound > -proofMargin {
			continue
		}
		c := &solver.Conflict{Constraints: []solver.Constraint{solver.Capacity, solver.Minimum}, Kind: -1}
		if lambda > 0 {
			c.Constraints = []solver.Constraint{solver.Fairness, solver.Minimum, solver.Capacity}
			c.Need, c.Have = p.inst.LossBudget-desc.bound, p.inst.LossBudget
		} else {
			c.Need, c.Have = sidesAt(desc)
		}
		if p.keepable > p.budget {
			c.Constraints = append(c.Constraints, solver.Adjust)
		}
		return c, rounds
	}
	return nil, rounds
}

// newConflictDescent starts with a price on loss that stays: 0 with the usual prices, else with none.
func newConflictDescent(d *dual, lambda float64) *descent {
	desc := newPriceDescent(d)
	last := d.dim() - 1
	if lambda > 0 {
		clear(desc.x)
	}
	desc.x[last], desc.scale[last] = lambda, 0
	desc.start()
	return desc
}

// sidesAt returns what must be placed and what there is, both at the best prices and in parts of the
// latter, where the bound is their difference.
func sidesAt(desc *descent) (need, have float64) {
	var worth float64
	for gk, have := range desc.f.(*dual).have {
		worth += float64(desc.best[gk] * have)
	}
	return 1 - desc.bound/worth, 1
}

// smallConflict returns a smallest set of constraints that cannot hold together, with the two sides of
// the first one, found by enumeration. limit bounds the nodes of each; what cannot be decided stays in.
func smallConflict(ctx context.Context, p *problem, limit int64) *solver.Conflict {
	relaxed, c := leaveOut(p, func(without *solver.Instance) bool {
		e, done := enumeratePlain(ctx, without, limit)
		return done && !e.found
	})
	c.Need, c.Have = sides(ctx, relaxed, c.Constraints[0], limit)
	return c
}

// leaveOut leaves out one constraint after the other for as long as empty says that there is no solution
// without it either; capacity always holds. It returns the instance with what is left, and that.
func leaveOut(p *problem, empty func(without *solver.Instance) bool) (*solver.Instance, *solver.Conflict) {
	relaxed := *p.inst
	relaxed.Apps = append([]solver.App(nil), p.inst.Apps...)
	c := &solver.Conflict{Kind: -1}
	for _, constraint := range [...]solver.Constraint{solver.Fairness, solver.Adjust, solver.Minimum} {
		if without := relax(&relaxed, constraint); empty(without) {
			relaxed = *without
			continue
		}
		c.Constraints = append(c.Constraints, constraint)
	}
	c.Constraints = append(c.Constraints, solver.Capacity)
	return &relaxed, c
}

// noBudget is a budget that nothing exceeds.
const noBudget = 1e15

// relax returns inst without constraint.
func relax(inst *solver.Instance, constraint solver.Constraint) *solver.Instance {
	without := *inst
	switch constraint {
	case solver.Fairness:
		without.LossBudget = noBudget
	case solver.Adjust:
		without.AdjustBudget = int64(len(inst.Apps))
	case solver.Minimum:
		without.Apps = append([]solver.App(nil), inst.Apps...)
		for i := range without.Apps {
			without.Apps[i].Min = 0
		}
	}
	return &without
}

// enumeratePlain enumerates inst without prices.
func enumeratePlain(ctx context.Context, inst *solver.Instance, limit int64) (*enumeration, bool) {
	d := newDual(newProblem(inst), false)
	x := make([]float64, d.dim())
	d.evaluate(x)
	return enumerate(ctx, d, x, nil, limit)
}

// sides returns the two sides of the violated constraint: the least loss, the fewest adjustments
// against the budget; or the sum of the minima against what can be had of it.
func sides(ctx context.Context, inst *solver.Instance, constraint solver.Constraint, limit int64) (need, have float64) {
	without := relax(inst, constraint)
	without.Apps = append([]solver.App(nil), without.Apps...)
	for i := range without.Apps {
		app := &without.Apps[i]
		switch constraint {
		case solver.Fairness:
			app.Value = 0
		case solver.Adjust:
			app.Value, app.Delta, app.Share = 0, 0, 0
		default:
			least := inst.Apps[i].Min
			app.Value, app.Max = float64(min(1, least)), max(1, least)
			need += float64(least)
		}
	}
	e, done := enumeratePlain(ctx, without, limit)
	switch {
	case !done || !e.found:
		return 0, 0
	case constraint == solver.Fairness:
		return e.best.loss, inst.LossBudget
	case constraint == solver.Adjust:
		return float64(e.best.adjusted), float64(inst.AdjustBudget)
	}
	return need, e.best.objective
}
