// This file holds the settings of FlowCon, [Zheng] §5.1.2 and §6.1.2, and the checks on them.

package growth

import (
	"math"
	"strconv"
	"time"

	"github.com/apportion/apportion"
)

// DefaultBeta is the thesis' lower bound: with two containers on a worker the converged one was
// held at 0.25, which is 1/(2 * 2).
const DefaultBeta = 2

// FlowConConfig is what a FlowCon needs to be told.
type FlowConConfig struct {
	// Interval is itval, the time between two runs while any container grows; positive. The
	// thesis uses 20 s to 60 s.
	Interval time.Duration
	// Alpha is the growth efficiency below which a container is slow, see [Threshold]; positive.
	// The thesis uses 0.01 to 0.15. A Classifier in the options replaces it; then it may be 0.
	Alpha float64
	// Kinds is the number of resource kinds that are limited; at least 1.
	Kinds int
}

// FlowConOptions are the choices; nil means all defaults.
type FlowConOptions struct {
	// Steering is the kind whose growth efficiency moves containers between the lists; 0 is the
	// first kind (the thesis reports CPU only).
	Steering int
	// Beta sets the lower bound 1/(Beta n) of a limit on a worker with n containers; at least 1,
	// 0 means [DefaultBeta].
	Beta float64
	// MaxInterval caps the back-off; 0 means no cap, as in the thesis.
	MaxInterval time.Duration
	// MinInterval is the least time over which growth is measured: a run that the listener asks
	// for shortly after another leaves out readings that are closer to the one before. 0 means
	// any time above zero.
	MinInterval time.Duration
	// Normalization makes the evaluation functions of different jobs comparable, for alpha and for
	// the shares of growth that become limits.
	Normalization Normalization
	// BoundConvergedOnly applies the lower bound to converged containers only, as line 22 is
	// printed. Otherwise a growing container has it too: without it, a growing container beside
	// one that grows a thousand times faster is limited to less than a converged one.
	BoundConvergedOnly bool
	// Classifier replaces the test of lines 4 and 7; nil means Threshold{Alpha, Normalization}.
	Classifier Classifier
}

func checkFlowCon(config FlowConConfig, options FlowConOptions) error {
	var faults apportion.Faults
	checkInterval(&faults, config.Interval)
	if options.Classifier == nil {
		checkAlpha(&faults, config.Alpha)
	}
	if config.Kinds < 1 {
		faults.Add(apportion.Item{}, "Kinds", apportion.ErrRange, strconv.Itoa(config.Kinds)+" is below 1")
	}
	if options.Steering < 0 || options.Steering >= max(config.Kinds, 1) {
		faults.Add(apportion.Item{}, "Steering", apportion.ErrRange, strconv.Itoa(options.Steering)+" is no kind")
	}
	if !(options.Beta >= 1 && options.Beta <= math.MaxFloat64) {
		faults.Add(apportion.Item{}, "Beta", apportion.ErrRange, formatFloat(options.Beta)+" is not in [1, infinity)")
	}
	if options.MaxInterval != 0 && options.MaxInterval < config.Interval {
		faults.Add(apportion.Item{}, "MaxInterval", apportion.ErrConflict, options.MaxInterval.String()+" is below Interval")
	}
	if options.MinInterval < 0 {
		faults.Add(apportion.Item{}, "MinInterval", apportion.ErrNegative, options.MinInterval.String())
	}
	return faults.Err()
}

func checkInterval(faults *apportion.Faults, interval time.Duration) {
	if interval <= 0 {
		faults.Add(apportion.Item{}, "Interval", apportion.ErrRange, interval.String()+" is not positive")
	}
}

// checkClock refuses a time before the time of the step before.
func checkClock(faults *apportion.Faults, before, now time.Duration) {
	if now < before {
		faults.Add(apportion.Item{}, "now", apportion.ErrRange, now.String()+" is before "+before.String())
	}
}

func checkAlpha(faults *apportion.Faults, alpha float64) {
	if !(alpha > 0 && alpha <= math.MaxFloat64) {
		faults.Add(apportion.Item{}, "Alpha", apportion.ErrRange, formatFloat(alpha)+" is not positive and finite")
	}
}

func formatFloat(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
