// This file holds the factors of a job's weight, and what a restart leaves of its speeds, [Gu19], [Qiao21].

package worth

import (
	"math"
	"time"
)

// Attained returns the weight of a job by the service that it has had, (1 + service/scale)^-power, service and scale in
// one unit, for instance container seconds: who had little comes first, [Gu19] §4.1. power 0 makes no difference; scale
// is positive. In (0, 1].
func Attained(service, scale, power float64) float64 {
	return math.Pow(1+math.Max(0, service)/scale, -power)
}

// Growth returns the weight of a job by the part of all its improvement that is still ahead of it, see
// growth.Evidence: max(least, ahead), so that one that has converged gives its containers to the others but for what
// least says, [Zheng] (4.2), (5.1). In [least, 1].
func Growth(ahead, least float64) float64 { return math.Min(1, math.Max(least, ahead)) }

// Restart returns the part of its speeds that a job keeps in the mean if it is stopped and placed anew:
//
//	(age - restarts delay)/(age + delay)
//
// where age is how long it has been in the system, restarts how often it was moved, and delay what a move costs,
// [Qiao21] §4.2: young jobs, and those that were moved often, are dear to move. At least leastKept.
func Restart(age, delay time.Duration, restarts int) float64 {
	whole := age.Seconds() + delay.Seconds()
	if whole <= 0 {
		return 1
	}
	return math.Max(leastKept, (age.Seconds()-float64(float64(restarts)*delay.Seconds()))/whole)
}

// leastKept is what the speeds of a job that has done nothing but restart are in parts of what they would be: more than
// nothing, which has no logarithm.
const leastKept = 0.01
