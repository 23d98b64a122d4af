// This file computes the numbers of the tables from the runs of a study.

package main

import (
	"math"
	"slices"
	"time"

	"github.com/apportion/apportion/placement/sim"
)

// early is the period in which the paper compares utilization, [Dorm §V-B1].
const early = 5 * time.Hour

// measure is a row of a table: a number for each run, from it and the baseline's run of the same
// scenario.
type measure struct {
	name string
	// of returns the number of a run; NaN where it has none.
	of func(s *study, run, base *played) float64
	// paper is the paper's number for each policy; empty: none.
	paper [4]string
	// decimals to print.
	decimals int
}

// The order and the decimals are those of the table; an indented name is a ratio of the row above.
var measures = []measure{
	{"utilization, mean of the first 5 h", meanUtilization, [4]string{"", "", "", ""}, 2},
	{"  times the baseline's, mean over time", utilizationFactor, [4]string{"", "2.55", "2.46", "2.32"}, 2},
	{"utilization, largest in the first 5 h", maxUtilization, [4]string{"1.8", "", "", ""}, 2},
	{"utilization, mean of the whole period", wholeUtilization, [4]string{}, 2},
	{"fairness loss, mean", meanLoss, [4]string{}, 2},
	{"  how many times less than the baseline's", lossFactor, [4]string{"", "", "", "1.52"}, 2},
	{"fairness loss, largest", maxLoss, [4]string{"", "1.5", "", "0.6"}, 2},
	{"  times the baseline's largest", maxLossFactor, [4]string{"", "1.78", "", ""}, 2},
	{"fairness loss of the running only, mean", meanRunningLoss, [4]string{}, 2},
	{"applications adjusted, most at once", mostAdjusted, [4]string{"", "", "2", "2"}, 1},
	{"applications adjusted, whole period", totalAdjusted, [4]string{"", "", "80", "76"}, 0},
	{"applications running, most at once", mostRunning, [4]string{}, 0},
	{"hours from submission to start, mean", queueing, [4]string{}, 2},
	{"hours from start to completion, mean", running, [4]string{}, 2},
	{"speed-up, start to completion", speedup, [4]string{"", "2.79", "2.73", "2.72"}, 2},
	{"speed-up, submission to completion", responseSpeedup, [4]string{}, 2},
}

// The sum over the kinds is [Dorm] (1).
func total(s *sim.Sample) float64 { return s.Total }

// loss is [Dorm] (3), over all that were submitted and have not completed.
func loss(s *sim.Sample) float64 { return s.FairnessLoss }

// runningLoss leaves out those that wait, which is how the paper may be read as well.
func runningLoss(s *sim.Sample) float64 { return s.RunningLoss }

// adjusted counts those that a decision stopped and resumed.
func adjusted(s *sim.Sample) float64 { return float64(s.Adjusted) }

// A small study may measure less than the paper's five hours.
func (s *study) early() time.Duration { return min(early, s.measured) }

// A mean is over time, and each sample holds until the next one.
func meanUtilization(s *study, run, _ *played) float64 { return run.Mean(0, s.early(), total) }

func maxUtilization(s *study, run, _ *played) float64 { return run.Max(0, s.early(), total) }

// The whole period is the paper's 24 hours, at -hours otherwise.
func wholeUtilization(s *study, run, _ *played) float64 { return run.Mean(0, s.measured, total) }

// An application counts from its submission on.
func meanLoss(s *study, run, _ *played) float64 { return run.Mean(0, s.measured, loss) }

// The bound of Dorm-1 is ceil(0.2 x 6) for seven models, see README.md.
func maxLoss(s *study, run, _ *played) float64         { return run.Max(0, s.measured, loss) }
func meanRunningLoss(s *study, run, _ *played) float64 { return run.Mean(0, s.measured, runningLoss) }

// It is what (16) bounds.
func mostAdjusted(s *study, run, _ *played) float64 { return run.Max(0, s.measured, adjusted) }

// An application that was adjusted twice counts twice.
func totalAdjusted(s *study, run, _ *played) float64 { return float64(run.Adjusted(s.measured)) }

func mostRunning(s *study, run, _ *played) float64 {
	return run.Max(0, s.measured, func(s *sim.Sample) float64 { return float64(s.Running) })
}

// It is infinite, and printed as no number, for a run without any loss.
func lossFactor(s *study, run, base *played) float64 {
	return meanLoss(s, base, nil) / meanLoss(s, run, nil)
}

// The two maxima may be at different times.
func maxLossFactor(s *study, run, base *played) float64 {
	return maxLoss(s, run, nil) / maxLoss(s, base, nil)
}

// utilizationFactor averages, over the minutes of the first 5 hours in which the baseline uses
// anything, how many times as much the run uses.
// The paper averages a curve of ratios; a ratio of two averages would be another number.
func utilizationFactor(s *study, run, base *played) float64 {
	var factors []float64
	for at := time.Duration(0); at < s.early(); at += time.Minute {
		if used := base.Mean(at, at+time.Minute, total); used > 0 {
			factors = append(factors, run.Mean(at, at+time.Minute, total)/used)
		}
	}
	return mean(factors)
}

// Those that never started have no waiting time and are left out.
func queueing(_ *study, run, _ *played) float64 {
	return meanOutcome(run, func(_ int, o *sim.Outcome) float64 { return o.Wait().Hours() })
}

// running leaves out those that never completed.
func running(_ *study, run, _ *played) float64 {
	return meanOutcome(run, func(_ int, o *sim.Outcome) float64 { return o.Running().Hours() })
}

func speedup(_ *study, run, base *played) float64 {
	return meanOutcome(run, func(i int, o *sim.Outcome) float64 { return appSpeedup(o, &base.Jobs[i]) })
}

func responseSpeedup(_ *study, run, base *played) float64 {
	return meanOutcome(run, func(i int, o *sim.Outcome) float64 {
		return float64(base.Jobs[i].Response()) / float64(o.Response())
	})
}

// appSpeedup is how many times faster an application ran than under the baseline.
func appSpeedup(o, base *sim.Outcome) float64 { return float64(base.Running()) / float64(o.Running()) }

// meanOutcome averages over the applications that completed.
func meanOutcome(run *played, of func(i int, o *sim.Outcome) float64) float64 {
	var values []float64
	for i := range run.Jobs {
		if o := &run.Jobs[i]; o.Completed {
			values = append(values, of(i, o))
		}
	}
	return mean(values)
}

// mean returns the average, NaN of nothing.
func mean(values []float64) float64 {
	var sum float64
	for _, value := range values {
		sum += value
	}
	return sum / float64(len(values))
}

// quantile returns the least value that is not below this part of them all; NaN of nothing. 0.5: the
// median, the lower of two; 1: the largest.
// values stay as they are. It takes the time of sorting.
func quantile(values []float64, part float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(part*float64(len(sorted))))-1)]
}

// over returns the measure of a policy for every scenario of the study.
func (m *measure) over(s *study, policy int) []float64 {
	values := make([]float64, len(s.runs))
	for i, runs := range s.runs {
		values[i] = m.of(s, runs[policy], runs[0])
	}
	return values
}
