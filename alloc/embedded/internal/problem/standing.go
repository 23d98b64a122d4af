// This file compares solutions up to rounding, so that no chain of them that are nearly equal leads away from
// the best, [Dorm §IV].

package problem

import (
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

// halfObjective and halfLoss are half of what may be lost: what is as good as the best seen lies within one
// half of it, and what was passed over for that within the other.
const halfObjective, halfLoss = solver.ObjectiveTolerance / 2, solver.LossTolerance / 2

// Standing is what the best solutions so far have attained: the most utilization, and the least loss among
// those that are as good. To compare each with the last one instead would let a thousand steps down, every one
// of them within the tolerance, add up. The zero value stands for no solution.
type Standing struct {
	any      bool
	top, low float64
}

// Compare returns -1 if a solution with that utilization and loss is better than those that stand, 1 if it is
// worse, and 0 if what else they differ in decides.
func (s *Standing) Compare(objective, loss float64) int {
	// Utilization decides first, (10), and only within its tolerance the loss does.
	switch {
	case !s.any || objective > s.top+halfObjective:
		return -1
	case objective < s.top-halfObjective:
		return 1
	case loss < s.low-halfLoss:
		return -1
	case loss > s.low+halfLoss:
		return 1
	}
	return 0
}

// Accept lets a solution stand that is not worse.
func (s *Standing) Accept(objective, loss float64) {
	// A clear gain in utilization starts afresh: the least loss of worse solutions must not be held against
	// it.
	if !s.any || objective > s.top+halfObjective {
		*s = Standing{any: true, top: objective, low: loss}
		return
	}
	// top and low may come from two solutions: each stands for what the next has to reach, and neither ever
	// gets worse.
	s.top, s.low = math.Max(s.top, objective), math.Min(s.low, loss)
}
