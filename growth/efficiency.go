// This file implements progress and growth efficiency, [Zheng] §4.1.3, equations (4.1) and (4.2).

package growth

import (
	"math"
	"time"
)

// growthLimit is the largest gain, progress or efficiency that is counted. It keeps sums over
// any number of jobs finite, so that a share of a sum is never infinity over infinity.
const growthLimit = 1e200

// Progress returns the per-second progress from value before to value after in the time span,
// which is positive:
//
//	P(t_i) = |E(t_i) - E(t_(i-1))| / (t_i - t_(i-1))    (4.1)
func Progress(before, after float64, span time.Duration) float64 {
	return min(math.Abs(after-before)/span.Seconds(), growthLimit)
}

// Efficiency returns the growth efficiency of a progress achieved with an average usage, which is
// a share of the worker or any other unit as long as it is the same for all jobs:
//
//	G_r(t_i) = P(t_i) / R_r(t_i)                        (4.2)
//
// Without progress it is 0 whatever the usage; otherwise a usage below [UsageFloor] counts as
// UsageFloor, and one that nobody measured as 1.
func Efficiency(progress float64, usage Usage) float64 {
	if progress == 0 {
		return 0
	}
	return min(progress/max(usage.orWhole(), UsageFloor), growthLimit)
}
