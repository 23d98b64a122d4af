// This file implements the preference among solutions, [Dorm §IV].

package enumerate

import (
	"cmp"

	"github.com/apportion/apportion/alloc/solver"
)

// Rank is what the preference compares before x itself.
// Objective counts in utilization, Loss in parts of dominant shares, Adjusted in
// applications, and Moved in containers. Cost is the left side of (16), which is not compared.
type Rank struct {
	Objective, Loss float64
	Adjusted, Moved int64
	Cost            int64
}

// RankOf returns the rank of a solution.
func RankOf(inst *solver.Instance, counts solver.Counts) Rank {
	return Rank{inst.Objective(counts), inst.FairnessLoss(counts), inst.AdjustedApps(counts), inst.Moved(counts), inst.AdjustCost(counts)}
}

// compareMoves returns a negative number if a is preferred to b among those with equal utilization and loss:
// fewer adjusted, then fewer moved.
func (a *Rank) compareMoves(b *Rank) int {
	if order := cmp.Compare(a.Adjusted, b.Adjusted); order != 0 {
		return order
	}
	return cmp.Compare(a.Moved, b.Moved)
}
