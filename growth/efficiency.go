// This file implements progress and growth efficiency, [Zheng] §4.1.3, equations (4.1) and (4.2).

package growth

import (
	"math"
	"time"
)

// UsageFloor is the least usage that a growth efficiency divides by. A job that progressed used
// something: a usage of zero beside progress is a measurement that lost its digits.
const UsageFloor = 1e-6

// growthLimit is the largest gain, progress or efficiency that is counted. It keeps sums over
// any number of containers finite, so that a share of a sum is never infinity over infinity.
const growthLimit = 1e200

// Progress returns the per-second progress from value before to value after in the time span,
// which is positive:
//
//	P(t_i) = |E(t_i) - E(t_(i-1))| / (t_i - t_(i-1))    (4.1)
func Progress(before, after float64, span time.Duration) float64 {
	return min(math.Abs(after-before)/span.Seconds(), growthLimit)
}

// Efficiency returns the growth efficiency of a progress achieved with an average usage, which is
// a share of the worker or any other unit as long as it is the same for all containers:
//
//	G_r(t_i) = P(t_i) / R_r(t_i)                        (4.2)
//
// Without progress it is 0 whatever the usage; otherwise a usage below [UsageFloor] counts as
// UsageFloor.
func Efficiency(progress, usage float64) float64 {
	if progress == 0 {
		return 0
	}
	return min(progress/max(usage, UsageFloor), growthLimit)
}

// Normalization is what an evaluation function is divided by before it is compared with alpha and
// with the functions of other jobs. The thesis gives alpha as a percentage and leaves open of what.
type Normalization uint8

// The normalizations.
const (
	// FirstValue divides by the size of the job's first value that is not 0. It is the default:
	// a loss that starts at 180 and one that starts at 0.7 become comparable at once.
	FirstValue Normalization = iota
	// Raw divides by 1: growth in the job's own units, as the equations are printed.
	Raw
	// LargestGrowth divides by the largest growth that the job has shown: growth lies in [0, 1],
	// and the first interval of every job has growth 1. Alpha is then a percentage as the thesis
	// uses it: its 1 % to 15 % are parts of the job's best pace, whatever the unit of the evaluation
	// function, where a loss relative to its first value soon falls by less than 1 % a second. The
	// shares of growth that become limits then compare each job with its own best.
	LargestGrowth
)

// String returns "first-value", "raw" or "largest-growth".
func (n Normalization) String() string { return name(n, "first-value", "raw", "largest-growth") }

// scaled returns growth divided by the scale of n. A series that has shown nothing but zeros has
// no scale and no growth: 0.
func (n Normalization) scaled(growth, first, largest float64) float64 {
	scale := 1.0
	switch n {
	case FirstValue:
		scale = first
	case LargestGrowth:
		scale = largest
	}
	if growth == 0 || scale == 0 {
		return 0
	}
	return min(growth/scale, growthLimit)
}
