// This file bounds with ceilings that are kept rather than priced: whole containers below each of them are chosen
// exactly, [Geoffrion74].

package lagrange

import (
	"cmp"
	"math"
	"slices"
)

// equal is by how much a choice must be better to count: less is rounding.
const equal = 1e-12

// Whole returns the bound at x with the ceilings of as many groups as have no application in common kept instead of
// priced,
//
//	bound = sum of p c + lambda L + B nu + sum_i max(keep_i, free_i - nu) + sum_groups max of the same below the ceiling
//
// where nu is the price of an adjustment, and how many containers each application has there; -1 if it stays. Other
// ceilings keep their prices. At the same x it is at most what Evaluate returns, as a price on a ceiling relaxes it.
// A ceiling keeps its price too where more than tried ways would have to be looked at.
// There must be no choices of a node and no options, and d is left evaluated elsewhere: at x without the prices of the kept
// ceilings. Two evaluations and at most tried ways for each group.
func (d *Dual) Whole(x []float64, tried int) (bound float64, counts []int64) {
	d.Evaluate(x)
	w := whole{d: d, x: slices.Clone(x), price: d.Next, most: tried, counts: make([]int64, len(d.Problem.Apps)), group: make([]int32, len(d.Problem.Apps))}
	// priced is what everybody brings where all ceilings have their prices: with these as a bound groups are searched.
	priced := make([]float64, len(d.Problem.Apps))
	for _, i := range d.moving {
		priced[i] = w.better(i)
	}
	groups := w.disjoint()
	// The sum begins as in Evaluate, with what is not for the applications to choose. nu takes the place of the sorted scores:
	// the applications of a group no longer compete with all others for the budget.
	// Without their ceilings' prices free_i and keep_i are those of the bound, and steps list what they are made of.
	d.Evaluate(w.x)
	last := len(x) - 1
	bound = d.keptValue - float64(d.Problem.Inst.LossPrice*d.keptLoss) + float64(x[last]*(d.Allowed-d.keptLoss)) + float64(float64(max(0, d.Budget))*w.price)
	for gk, left := range d.left {
		bound += float64(w.x[gk] * left)
	}
	// Those of no kept group are as the prices have them; those that the node keeps are in keptValue already.
	for _, i := range d.moving {
		if w.group[i] < 0 {
			bound += w.better(i)
			w.counts[i] = d.count[i]
			if d.Problem.Apps[i].Pinnable && d.Keep[i] >= d.Free[i]-w.price {
				w.counts[i] = -1
			}
		}
	}
	for _, g := range groups {
		bound += w.below(g, x, priced)
	}
	return bound, w.counts
}

// whole is one call of Whole.
type whole struct {
	d      *Dual
	x      []float64 // without the prices of the ceilings that are kept
	price  float64   // nu, of an adjustment
	most   int       // ways tried below one ceiling
	group  []int32   // by application: the group whose ceiling is kept, -1 if none is
	counts []int64
}

// better returns what application i brings at the prices evaluated last, free or kept: max(keep_i, free_i - nu).
func (w *whole) better(i int32) float64 {
	d := w.d
	if !d.Problem.Apps[i].Pinnable {
		return d.Free[i]
	}
	return max(d.Keep[i], d.Free[i]-w.price)
}

// disjoint picks groups without a common application, those with few of them first, and takes their prices out of x. The groups
// of queues are a tree, in which this takes the lowest ones: small searches, and ceilings that bind. O(groups log groups +
// applications of all groups).
func (w *whole) disjoint() []int32 {
	p := w.d.Problem
	// Only a ceiling that can be exceeded is a row of the problem.
	limited := make([]bool, len(p.Inst.Groups))
	for _, ceiling := range p.Ceilings {
		limited[ceiling.Group] = true
	}
	var all, picked []int32
	for g := range limited {
		if limited[g] {
			all = append(all, int32(g))
		}
	}
	slices.SortStableFunc(all, func(a, b int32) int {
		return cmp.Compare(len(p.Inst.Groups[a].Apps), len(p.Inst.Groups[b].Apps))
	})
	for i := range w.group {
		w.group[i] = -1
	}
	// group marks who is taken: one more group with any of them would count that application twice.
	for _, g := range all {
		apps := p.Inst.Groups[g].Apps
		if slices.ContainsFunc(apps, func(i int) bool { return w.group[i] >= 0 }) {
			continue
		}
		for _, i := range apps {
			w.group[i] = g
		}
		picked = append(picked, g)
	}
	// Their prices go, of every kind: the search keeps the ceiling as a whole.
	for c, ceiling := range p.Ceilings {
		if slices.Contains(picked, int32(ceiling.Group)) {
			w.x[w.d.ceilingsAt()+c] = 0
		}
	}
	return picked
}

// way is one that an application below a ceiling may have: a number of containers, -1 for what it holds, what that
// brings, and what is left of it where the ceiling has its price.
type way struct {
	n             int64
	value, priced float64
}

// below returns the most that the applications of group g bring below its ceiling, or with the price of the ceiling
// where that takes too long, and notes their counts. Either is a bound, so that the lesser one is.
func (w *whole) below(g int32, x, priced []float64) float64 {
	p, at := w.d.Problem, w.d.ceilingsAt()
	// left starts with all ceilings, of other groups too: a way must not exceed any of them by itself.
	b := &groupSearch{w: w, left: p.Limits(), best: math.Inf(-1)}
	// sum is the bound with the price: what the ceiling costs, and what everybody brings beside it.
	var sum float64
	for c, ceiling := range p.Ceilings {
		if ceiling.Group == int(g) {
			sum += float64(x[at+c] * float64(ceiling.Limit))
		}
	}
	listed := true
	for _, i := range p.Inst.Groups[g].Apps {
		app := int32(i)
		sum += priced[app]
		w.counts[app] = w.d.count[app]
		b.apps = append(b.apps, app)
		ways := w.ways(app, g, x)
		listed = listed && len(ways) > 0
		b.ways = append(b.ways, ways)
	}
	if !listed {
		return sum
	}
	// Without a choice that fits, or where the search was cut short, sum stands.
	b.now, b.found = make([]int64, len(b.apps)), make([]int64, len(b.apps))
	b.visit(0, sum, 0)
	if math.IsInf(b.best, -1) {
		return sum
	}
	for a, app := range b.apps {
		w.counts[app] = b.found[a]
	}
	if b.tried >= w.most {
		return sum
	}
	return min(sum, b.best+equal)
}

// ways lists those of application i, the best at the prices first; none where there are more than may be tried.
// priced is relative: only differences between the ways of one application count.
func (w *whole) ways(i, g int32, x []float64) []way {
	d := w.d
	a, t := &d.Problem.Apps[i], &d.Problem.Types[d.Problem.Apps[i].Type]
	most := min(a.Max, fullest(d.steps[a.Type]))
	// A ceiling alone allows no more of one application either.
	if most-a.Min > int64(w.most) {
		return nil
	}
	// each is what a container pays to the ceiling.
	var each, cost float64
	for _, use := range t.Uses {
		if d.Problem.Ceilings[use.Ceiling].Group == int(g) {
			each += float64(x[d.ceilingsAt()+int(use.Ceiling)] * float64(use.Units))
		}
	}
	// To stay is a way that costs no adjustment; all others are charged with nu where it may stay.
	var ways []way
	if a.Pinnable {
		ways = append(ways, way{-1, d.Keep[i], d.Keep[i] - float64(each*float64(a.Held))})
		cost = w.price
	}
	// Each number brings what it fills, less what it loses; priced is that with the ceiling's price, by which ways are ordered.
	add := func(n int64, extra float64) {
		value := fill(d.steps[a.Type], n) + extra - float64(d.lossPrice(x)*d.Problem.Loss(i, n)) - cost
		ways = append(ways, way{n, value, value - float64(each*float64(n))})
	}
	if t.Curve != nil {
		for s, n := range t.Curve.At {
			if a.Min <= n && n <= most {
				add(n, t.Curve.Extra[s])
			}
		}
	} else {
		for n := a.Min; n <= most; n++ {
			if t.Own == nil || t.Own.Allows(n) {
				add(n, 0)
			}
		}
	}
	slices.SortStableFunc(ways, func(a, b way) int { return cmp.Compare(b.priced, a.priced) })
	return ways
}

// groupSearch tries all ways below the ceiling of one group, depth first, with what is left at the prices as a bound.
// Its depth is the number of applications of the group, and its time at most the limit on ways.
type groupSearch struct {
	w     *whole
	apps  []int32 // of the group
	ways  [][]way // of each of them, the best at the prices first
	left  []int64 // of every ceiling, without what now uses
	now   []int64 // the numbers on the way, -1 for whoever stays
	best  float64 // what found brings, -Inf before there is any
	found []int64
	tried int // ways so far
}

// visit tries the ways of the applications from at on, which are worth bound at most; those before bring value. bound is what
// all of the group bring with the ceiling priced, as far as nothing was given up against it on the way.
func (b *groupSearch) visit(at int, bound, value float64) {
	if at == len(b.apps) {
		if value > b.best {
			b.best = value
			copy(b.found, b.now)
		}
		return
	}
	p := b.w.d.Problem
	a := &p.Apps[b.apps[at]]
	for _, way := range b.ways[at] {
		// Ways get worse at the prices: what does not pay ends the list.
		rest := bound - (b.ways[at][0].priced - way.priced)
		if b.tried++; b.tried >= b.w.most || rest <= b.best+equal {
			return
		}
		n := way.n
		if n < 0 {
			n = a.Held
		}
		// It must be below the group's ceiling, and below all others that it is in.
		if p.Below(a.Type, b.left) < n && n > 0 {
			continue
		}
		b.take(a.Type, n)
		b.now[at] = way.n
		b.visit(at+1, rest, value+way.value)
		b.take(a.Type, -n)
	}
}

// take takes n containers of type t from what the ceilings leave; a negative n gives them back.
// visit has asked Below before, so that nothing overflows.
func (b *groupSearch) take(t int32, n int64) {
	for _, use := range b.w.d.Problem.Types[t].Uses {
		b.left[use.Ceiling] -= n * use.Units
	}
}
