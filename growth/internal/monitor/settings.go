// This file holds the checks on settings and clocks that FlowCon and SpeCon share, [Zheng] §5.1.2
// and §5.2.1.

package monitor

import (
	"math"
	"strconv"
	"time"

	"github.com/apportion/apportion"
)

// CheckInterval adds to faults an interval between two checks that is not positive.
func CheckInterval(faults *apportion.Faults, interval time.Duration) {
	if interval <= 0 {
		faults.Add(apportion.Item{}, "Interval", apportion.ErrRange, interval.String()+" is not positive")
	}
}

// CheckClock adds to faults a time before the time of the step before.
func CheckClock(faults *apportion.Faults, before, now time.Duration) {
	if now < before {
		faults.Add(apportion.Item{}, "now", apportion.ErrRange, now.String()+" is before "+before.String())
	}
}

// CheckAlpha adds to faults an alpha that is not positive and finite.
func CheckAlpha(faults *apportion.Faults, alpha float64) {
	if !(alpha > 0 && alpha <= math.MaxFloat64) {
		text := strconv.FormatFloat(alpha, 'g', -1, 64)
		faults.Add(apportion.Item{}, "Alpha", apportion.ErrRange, text+" is not positive and finite")
	}
}

// Plus returns a + b for durations that are not negative, at most the longest duration.
func Plus(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
