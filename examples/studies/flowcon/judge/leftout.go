// This file chooses alphas on some families of models and judges on the others.

package main

import (
	"cmp"
	"slices"
)

// total sums tallies of one contestant over the rows and curves that are wanted.
// Rows and curves are numbered as in rows and in the list of curves.
func (v verdicts) total(contestant int, wanted func(row, curve int) bool) (t tally) {
	for r, curves := range v[contestant] {
		for c := range curves {
			if wanted(r, c) {
				t.add(curves[c])
			}
		}
	}
	return t
}

// group is the contestants of one name, at all alphas.
// members are positions in contestants.
type group struct {
	name    string
	members []int
}

// groups returns the contestants by name, in order.
func groups() (all []group) {
	for i, c := range contestants() {
		if len(all) == 0 || all[len(all)-1].name != c.name {
			all = append(all, group{name: c.name})
		}
		last := &all[len(all)-1]
		last.members = append(last.members, i)
	}
	return all
}

// choose returns the member with the largest balanced accuracy on all families but one, over all rows: one
// fixed setting.
// Of equal ones the first is taken.
func (v verdicts) choose(g group, curves []*curve, leftOut string) int {
	return slices.MaxFunc(g.members, func(a, b int) int {
		others := func(_, c int) bool { return curves[c].family != leftOut }
		x, y := v.total(a, others), v.total(b, others)
		return cmp.Compare(x.balanced(), y.balanced())
	})
}

// unseen sums over the families what each group makes of one that its alpha was not chosen on.
// It is the honest column of the tables.
func (v verdicts) unseen(g group, curves []*curve, wanted func(row int) bool) (t tally) {
	for _, family := range families(curves) {
		t.add(v.total(v.choose(g, curves, family), func(r, c int) bool { return wanted(r) && curves[c].family == family }))
	}
	return t
}

// wasteAt returns the waste that a group has at a given harm, on a straight line between two of its alphas: to
// call nobody converged wastes all and harms none, and the other way round. Alphas are chosen with hindsight
// here.
// To toss a coin between two alphas gives any point of the line between them.
func (v verdicts) wasteAt(g group, harm float64, wanted func(row int) bool) float64 {
	points := [][2]float64{{0, 1}, {1, 0}}
	for _, m := range g.members {
		t := v.total(m, func(r, _ int) bool { return wanted(r) })
		points = append(points, [2]float64{t.harm(), t.waste()})
	}
	slices.SortFunc(points, func(a, b [2]float64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(b[1], a[1])) })
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		if harm <= b[0] {
			part := 1.0
			if b[0] > a[0] {
				part = (harm - a[0]) / (b[0] - a[0])
			}
			return a[1] + part*(b[1]-a[1])
		}
	}
	// More harm than at any alpha: all is called converged.
	return 0
}

// fixed sums over all families what ours makes of them at its recommended alpha.
func (v verdicts) fixed(wanted func(row int) bool) tally {
	at := slices.IndexFunc(contestants(), func(c contestant) bool { return c.name == fixed.name && c.alpha == fixed.alpha })
	return v.total(at, func(r, _ int) bool { return wanted(r) })
}
