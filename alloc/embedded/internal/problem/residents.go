// This file says what residents, the applications that run on a server and may stay, leave there.

package problem

import "slices"

// ResidualCapacity fills residual with what every server has at most for applications that do not stay when
// the choices are made, nil for none, and budget residents may still be freed: those that are kept
// remain, and of those that are open, in each kind all but the budget largest.
func (p *Problem) ResidualCapacity(residual []int64, choices []Choice, budget int64) {
	var used []int64
	for j, residents := range p.Residents {
		for k := range p.Kinds {
			used = used[:0]
			left := p.Capacity[j*p.Kinds+k]
			for s, i := range residents {
				use := MulSaturated(p.Holding[j][s], p.DemandOf(p.Apps[i].Type)[k])
				switch {
				case choices == nil || choices[i] == Open:
					used = append(used, use)
				case choices[i] == Kept:
					left -= min(use, left)
				}
			}
			slices.Sort(used)
			for _, u := range used[:max(0, int64(len(used))-max(0, budget))] {
				left -= min(u, left)
			}
			residual[j*p.Kinds+k] = left
		}
	}
}

// LeftBeside sets left to what server j has left beside those residents that stay.
func (p *Problem) LeftBeside(left []int64, j int, stays func(s int, i int32) bool) {
	copy(left, p.Capacity[j*p.Kinds:(j+1)*p.Kinds])
	for s, i := range p.Residents[j] {
		if stays(s, i) {
			n := p.Holding[j][s]
			for k, q := range p.DemandOf(p.Apps[i].Type) {
				left[k] -= n * q
			}
		}
	}
}
