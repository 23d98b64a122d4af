// This file holds the settings of SpeCon's container monitor, [Zheng] Table 5.1 and §6.2.1.

package specon

import (
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/internal/monitor"
)

// Config is what a Monitor needs to be told.
type Config struct {
	// Interval is the categorization interval t_m - t_(m-1); positive. The thesis uses 20 s to 30 s.
	Interval time.Duration
	// Alpha is the gain per interval below which a job is slow, see [growth.Decline]; positive. The
	// thesis uses 0.01 to 0.1. A Classifier in the options replaces it; then it is not read.
	Alpha float64
}

// Options are the choices; nil means all defaults.
type Options struct {
	// Normalization makes the evaluation functions of different jobs comparable; the zero value is
	// FirstValue.
	Normalization growth.Normalization
	// Separate takes lines 7, 10 and 13 as three tests one after another, as they are indented,
	// so that one small gain carries a job from PC through WC to CC and asks for another host.
	// Otherwise they are a chain: one step down at each check.
	Separate bool
	// AtEntry asks for another host already at the check that moves a job to CC, as the example of
	// §6.2.3 tells; otherwise at the next slow check, as the listing has it.
	AtEntry bool
	// Silence is how long a job may report nothing: after that it is slow at every check, but asks for
	// no other host, since nobody knows whether it runs. 0 means five Intervals.
	Silence time.Duration
	// Classifier replaces the tests of lines 6, 17 and 19; nil means Decline{Alpha, Normalization}.
	Classifier growth.Classifier
}

// check adds to faults what is wrong with the settings, and puts the default classifier in place. An
// alpha is asked for only where the default needs it.
func (o *Options) check(faults *apportion.Faults, config Config) {
	monitor.CheckInterval(faults, config.Interval)
	if o.Classifier == nil {
		o.Classifier = growth.Decline{Alpha: config.Alpha, Normalization: o.Normalization}
	}
	monitor.CheckClassifier(faults, o.Classifier)
	o.Silence = monitor.Silence(o.Silence, config.Interval)
	monitor.CheckSilence(faults, o.Silence)
}
