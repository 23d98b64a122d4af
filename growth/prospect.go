// This file implements Prospect, a classifier that is not in the thesis: it judges a job by what it
// can expect from running as long again.

package growth

import (
	"cmp"
	"math"
	"strconv"

	"github.com/apportion/apportion"
)

const (
	// DefaultConfidence is one factor of two.
	DefaultConfidence = 1
	// enough is the number of readings after which a job that has not improved is not expected to. On real curves
	// it makes no difference, since all of them improve: TestProspectNeverLearns is where it acts.
	enough = 48
)

// Prospect judges a job by the share of all its improvement that lies ahead, see [Estimate]: slow below
// Alpha, growing above, unsure close to it or while too little is known.
//
// The estimate is made of the whole run, freed of noise and of single wrong readings. Length of run is
// counted in work (usage times time), so a job that was held back by a limit is not mistaken for one that
// converged. Values are compared with the job's own improvement, so neither the unit of the evaluation function, nor the
// interval between checks, nor the length of the job changes the meaning of Alpha.
//
// A job that has not improved beyond its noise after 48 readings, that is worse than at its start
// where the series knows what is better, or that repeats one value for too long is slow. One that is set
// back grows again. A jump that nothing announces, such as a step of the learning rate, cannot be
// foreseen; it is taken back when seen.
type Prospect struct {
	// Alpha is a share of all improvement; positive. 0.05 balances both errors, 0.02 rather calls a job
	// converged too late than too early.
	Alpha float64
	// Confidence is how many factors of two the estimate must lie away from Alpha; 0 means
	// DefaultConfidence.
	Confidence float64
}

// Validate returns what is wrong with the settings, as apportion.Faults, or nil.
func (p Prospect) Validate() error {
	faults := checkAlpha(p.Alpha)
	if !(p.Confidence >= 0 && p.Confidence <= math.MaxFloat64) {
		text := strconv.FormatFloat(p.Confidence, 'g', -1, 64)
		faults.Add(apportion.Item{}, "Confidence", apportion.ErrRange, text+" is negative or not finite")
	}
	return faults.Err()
}

// Judge implements [Classifier]. It reads what the series has ready.
func (p Prospect) Judge(series *Series) Verdict {
	if _, hangs := series.Silence(); hangs {
		return Slow
	}
	e, ok := series.Estimate()
	switch {
	case series.SetBack():
		return Growing
	case !ok:
		return Unsure
	case e.Improvement <= 0 && e.Known && series.Better() != EitherWay:
		return Slow
	case !e.Known && e.Readings >= enough:
		return Slow
	case e.Improvement <= 0:
		return Unsure
	}
	band := math.Exp2(cmp.Or(p.Confidence, DefaultConfidence))
	switch {
	case e.Ahead < p.Alpha/band || e.Rest < p.Alpha:
		return Slow
	case e.Ahead >= p.Alpha*band:
		return Growing
	default:
		return Unsure
	}
}

// Rate implements [Rater]: the pace of the series. Where that is a step back, as noise makes it, the whole
// run has the word: what it lets expect of as much work again. 0 for a job that hangs or gets worse as a whole.
func (p Prospect) Rate(series *Series, n Normalization) float64 {
	if _, hangs := series.Silence(); hangs {
		return 0
	}
	if pace := series.Pace(n); pace >= 0 {
		return pace
	}
	return max(0, series.Outlook(n))
}
