// This file tells by counting that an instance has no solution, before any search.

package problem

import "github.com/apportion/apportion/alloc/solver"

// Impossible reports whether sums alone show that there is no solution. The searches rely on it: where it is false every
// minimum fits the empty cluster, sums of minima do not overflow, and Budget is not negative. O(applications x kinds).
func (p *Problem) Impossible() bool {
	need, used, loss := make([]int64, p.Kinds), make([]int64, len(p.Ceilings)), 0.0
	for i := range p.Apps {
		a := &p.Apps[i]
		// New lowers Max to what the empty cluster holds.
		if a.Min > a.Max {
			return true
		}
		least := a.Min
		if a.Fixed {
			least = a.Held
		}
		for k, q := range p.DemandOf(a.Type) {
			need[k] = AddSaturated(need[k], MulSaturated(least, q))
		}
		for _, use := range p.Types[a.Type].Uses {
			used[use.Ceiling] = AddSaturated(used[use.Ceiling], MulSaturated(least, use.Units))
		}
		loss += p.LeastLoss(int32(i))
	}
	return p.Budget < 0 || exceeds(need, p.Total) || exceeds(used, p.Limits()) || loss > p.Inst.LossBudget+solver.LossTolerance
}

// exceeds reports whether an entry of need is above that of have.
func exceeds(need, have []int64) bool {
	for k := range need {
		if need[k] > have[k] {
			return true
		}
	}
	return false
}
