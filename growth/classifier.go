// This file implements the interface of classifiers and the rule that stands above them: what a
// reading says whatever the classifier.

package growth

import (
	"math"
	"strconv"

	"github.com/apportion/apportion"
)

// Classifier tells from the readings of one job whether it still grows. A Classifier keeps no
// state: what it needs is in the series, so one value serves all jobs.
//
// [Threshold] is FlowCon's test, [Decline] is SpeCon's, [Prospect] is robust to noise. One that has a
// method Validate() error, as these three have, is asked by it when a monitor is made.
type Classifier interface {
	// Judge is called after a reading was added; the series has at least one interval. It must
	// not change or keep the series.
	Judge(series *Series) Verdict
}

// Rater is a Classifier that says as well how fast a job grows, so that lists and limits follow the same
// readings. For others the growth efficiency of the newest interval stands, (4.2).
type Rater interface {
	Classifier
	// Rate returns the growth per unit of work in the scale of a normalization; not negative, finite.
	// The series has at least one interval.
	Rate(series *Series, n Normalization) float64
}

// checkAlpha returns the fault of an alpha that is not positive and finite. Zero is none of the
// choices: nothing would ever be slow.
func checkAlpha(alpha float64) (faults apportion.Faults) {
	if !(alpha > 0 && alpha <= math.MaxFloat64) {
		text := strconv.FormatFloat(alpha, 'g', -1, 64)
		faults.Add(apportion.Item{}, "Alpha", apportion.ErrRange, text+" is not positive and finite")
	}
	return faults
}

// Judge returns the verdict on the reading that was added last, with the outcome that Series.Add
// returned. A value that is not finite is slow under every classifier: whatever the job did in that
// time was of no use. The first value of a job, an interval in which it was idle, and a reading
// that was dropped say nothing.
func Judge(classifier Classifier, series *Series, outcome Outcome) Verdict {
	switch {
	case outcome == Diverged && series.Measured():
		return Slow
	case outcome == Measured || outcome == Repeated:
		return classifier.Judge(series)
	default:
		return Unsure
	}
}
