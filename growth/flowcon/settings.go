// This file holds the settings of FlowCon, [Zheng] §5.1.2 and §6.1.2, and the checks on them.

package flowcon

import (
	"math"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/internal/monitor"
)

// defaultBeta is the thesis' lower bound: with two jobs on a worker the converged one was held at
// 0.25, which is 1/(2 * 2).
const defaultBeta = 2

// Config is what an Executor needs to be told.
type Config struct {
	// Interval is itval, the time between two runs while any job grows; positive. The thesis uses
	// 20 s to 60 s.
	Interval time.Duration
	// Alpha is the growth efficiency below which a job is slow, see [growth.Threshold]; positive.
	// The thesis uses 0.01 to 0.15. A Classifier in the options replaces it; then it is not read.
	Alpha float64
	// Kinds is the number of resource kinds that are limited; at least 1.
	Kinds int
}

// Options are the choices; nil means all defaults.
type Options struct {
	// Steering is the kind whose growth efficiency moves jobs between the lists; 0 is the first
	// kind (the thesis reports CPU only).
	Steering int
	// Beta sets the lower bound 1/(Beta n) of a limit on a worker with n jobs; at least 1, 0
	// means 2.
	Beta float64
	// MaxInterval caps the back-off; 0 means no cap, as in the thesis.
	MaxInterval time.Duration
	// MinInterval is the least time over which growth is measured: a run that the listener asks
	// for shortly after another leaves out readings that are closer to the one before. 0 means
	// any time above zero.
	MinInterval time.Duration
	// Silence is how long a job may report nothing: after that it is slow at every run, its growth
	// counts as 0, and nobody waits for its first measurement. 0 means five Intervals.
	Silence time.Duration
	// Normalization makes the evaluation functions of different jobs comparable, for alpha and for
	// the shares of growth that become limits; the zero value is FirstValue.
	Normalization growth.Normalization
	// BoundConvergedOnly applies the lower bound to converged jobs only, as line 22 is printed.
	// Otherwise a growing job has it too: without it, a growing job beside one that grows a
	// thousand times faster is limited to less than a converged one.
	BoundConvergedOnly bool
	// UnmeasuredIsZero, MissingIsZero and BoundOneMore are what a published program of FlowCon's authors
	// does where the listing leaves a choice, each for itself.
	//
	// UnmeasuredIsZero: the growth of a job that is not measured yet counts as 0, not as infinite: it is
	// slow from its first run on, and the others do not wait for it.
	UnmeasuredIsZero bool
	// MissingIsZero: where nothing new was read since the run before, growth is 0 and the job slow;
	// otherwise a missing reading proves nothing.
	MissingIsZero bool
	// BoundOneMore sets Beta to 1 + 1/n: the lower bound is 1/(n+1), an even share with one more job. It
	// leaves no choice of Beta.
	BoundOneMore bool
	// Classifier replaces the test of lines 4 and 7; nil means Threshold{Alpha, Normalization}. One that
	// is a [growth.Rater] says as well what limits are shares of, and none is kept from run to run.
	Classifier growth.Classifier
}

func (c *Config) complete(options *Options) Options {
	var chosen Options
	if options != nil {
		chosen = *options
	}
	if chosen.Beta == 0 && !chosen.BoundOneMore {
		chosen.Beta = defaultBeta
	}
	chosen.Silence = monitor.Silence(chosen.Silence, c.Interval)
	if chosen.Classifier == nil {
		chosen.Classifier = growth.Threshold{Alpha: c.Alpha, Normalization: chosen.Normalization}
	}
	return chosen
}

// check returns all that is wrong with the settings, of which the options are complete.
func (c *Config) check(options *Options) error {
	var faults apportion.Faults
	wrong := func(field string, err error, detail string) { faults.Add(apportion.Item{}, field, err, detail) }
	monitor.CheckInterval(&faults, c.Interval)
	monitor.CheckClassifier(&faults, options.Classifier)
	if c.Kinds < 1 {
		wrong("Kinds", apportion.ErrRange, strconv.Itoa(c.Kinds)+" is below 1")
	}
	if options.Steering < 0 || options.Steering >= max(c.Kinds, 1) {
		wrong("Steering", apportion.ErrRange, strconv.Itoa(options.Steering)+" is no kind")
	}
	switch {
	case options.BoundOneMore && options.Beta != 0:
		wrong("Beta", apportion.ErrConflict, "BoundOneMore sets it")
	case !options.BoundOneMore && !(options.Beta >= 1 && options.Beta <= math.MaxFloat64):
		text := strconv.FormatFloat(options.Beta, 'g', -1, 64)
		wrong("Beta", apportion.ErrRange, text+" is not in [1, infinity)")
	}
	if options.MaxInterval != 0 && options.MaxInterval < c.Interval {
		wrong("MaxInterval", apportion.ErrConflict, options.MaxInterval.String()+" is below Interval")
	}
	if options.MinInterval < 0 {
		wrong("MinInterval", apportion.ErrNegative, options.MinInterval.String())
	}
	monitor.CheckSilence(&faults, options.Silence)
	return faults.Err()
}
