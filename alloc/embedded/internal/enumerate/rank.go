// This file implements the preference among solutions, [Dorm §IV].

package enumerate

import (
	"cmp"
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

// rank is what the preference compares before x itself.
type rank struct {
	Objective, Loss float64
	Adjusted, moved int64
}

// RankOf returns the rank of a solution.
func RankOf(inst *solver.Instance, counts solver.Counts) rank {
	return rank{inst.Objective(counts), inst.FairnessLoss(counts), inst.AdjustedApps(counts), inst.Moved(counts)}
}

// Compare returns a negative number if a is preferred to b, 0 if they are equal but for x: more
// utilization, less loss, fewer adjusted, fewer moved.
func (a *rank) Compare(b *rank) int {
	switch {
	case math.Abs(a.Objective-b.Objective) > solver.ObjectiveTolerance:
		return cmp.Compare(b.Objective, a.Objective)
	case math.Abs(a.Loss-b.Loss) > solver.LossTolerance:
		return cmp.Compare(a.Loss, b.Loss)
	case a.Adjusted != b.Adjusted:
		return int(a.Adjusted - b.Adjusted)
	}
	return cmp.Compare(a.moved, b.moved)
}
