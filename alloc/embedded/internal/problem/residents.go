// This file says what residents, the applications that run on a server and may stay, leave there.

package problem

import "slices"

// ResidualCapacity fills residual with what every server has at most for applications that do not stay when
// the choices are made, nil for none, and budget residents may still be freed: those that are kept
// remain, and of those that are open, in each kind all but the budget largest.
// Each kind is taken by itself, so that residual may be more than any one set of freed residents leaves: it is
// a valid upper bound, which the subsets themselves would give only in exponential time. O(entries log entries
// x kinds).
func (p *Problem) ResidualCapacity(residual []int64, choices []Choice, budget int64) {
	var used []int64
	for j := range p.Residents {
		used = p.ResidualOn(residual[j*p.Kinds:(j+1)*p.Kinds], j, choices, budget, used)
	}
}

// ResidualOn is ResidualCapacity of server j. It returns scratch, which the next call may have.
func (p *Problem) ResidualOn(left []int64, j int, choices []Choice, budget int64, scratch []int64) []int64 {
	used, budget := scratch, max(0, budget)
	for k := range left {
		used = used[:0]
		left[k] = p.Capacity[j*p.Kinds+k]
		for s, i := range p.Residents[j] {
			use := MulSaturated(p.Holding[j][s], p.DemandOf(p.Apps[i].Type)[k])
			switch {
			// An open one may be freed or kept: it waits for the sort.
			case choices == nil || choices[i] == Open:
				used = append(used, use)
			// Each kept one fits by itself, but several together may not, where the server shrank: left
			// stops at 0.
			case choices[i] == Kept:
				left[k] -= min(use, left[k])
			}
		}
		// The budget largest uses are taken as freed, whoever they belong to: nobody can free more of kind
		// k than that.
		slices.Sort(used)
		for _, u := range used[:max(0, int64(len(used))-budget)] {
			left[k] -= min(u, left[k])
		}
	}
	return used
}

// ResidualOf sets left to what server j has left beside those residents that stay.
func (p *Problem) ResidualOf(left []int64, j int, stays func(s int, i int32) bool) {
	copy(left, p.Capacity[j*p.Kinds:(j+1)*p.Kinds])
	for s, i := range p.Residents[j] {
		if stays(s, i) {
			n := p.Holding[j][s]
			// Both factors were checked to fit: whoever stays has its containers on a server that holds them.
			// A left below 0 says that those who stay do not fit together.
			for k, q := range p.DemandOf(p.Apps[i].Type) {
				left[k] -= n * q
			}
		}
	}
}
