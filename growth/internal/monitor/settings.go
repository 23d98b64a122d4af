// This file holds the checks on settings and clocks that FlowCon and SpeCon share, [Zheng] §5.1.2
// and §5.2.1.

package monitor

import (
	"errors"
	"math"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
)

// CheckInterval adds to faults an interval between two checks that is not positive: with one of zero a
// check would be due for ever.
func CheckInterval(faults *apportion.Faults, interval time.Duration) {
	if interval <= 0 {
		faults.Add(apportion.Item{}, "Interval", apportion.ErrRange, interval.String()+" is not positive")
	}
}

// CheckClock adds to faults a time before the time of the step before; the same time is legal, since two
// things may happen at once. Before the first step that time is 0.
func CheckClock(faults *apportion.Faults, before, now time.Duration) {
	if now < before {
		faults.Add(apportion.Item{}, "now", apportion.ErrRange, now.String()+" is before "+before.String())
	}
}

// CheckClassifier adds to faults what a classifier says against itself, if it can: faults of its own
// fields, or any other error under the field Classifier.
func CheckClassifier(faults *apportion.Faults, classifier growth.Classifier) {
	v, ok := classifier.(interface{ Validate() error })
	if !ok {
		return
	}
	var found apportion.Faults
	if err := v.Validate(); errors.As(err, &found) {
		*faults = append(*faults, found...)
	} else if err != nil {
		faults.Add(apportion.Item{}, "Classifier", err, "")
	}
}

// Plus returns a + b for durations that are not negative, at most the longest duration: a back-off that
// doubles without a cap gets there after some 30 checks.
func Plus(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// silentIntervals is after how many intervals a job that reports nothing has fallen silent.
const silentIntervals = 5

// Silence returns how long a job may report nothing: what is asked for, or five intervals where that is 0.
func Silence(asked, interval time.Duration) time.Duration {
	switch {
	case asked != 0:
		return asked
	case interval > math.MaxInt64/silentIntervals:
		return math.MaxInt64
	default:
		return silentIntervals * interval
	}
}

// CheckSilence adds to faults a negative time.
func CheckSilence(faults *apportion.Faults, silence time.Duration) {
	if silence < 0 {
		faults.Add(apportion.Item{}, "Silence", apportion.ErrNegative, silence.String())
	}
}
