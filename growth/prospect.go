// This file implements Prospect, a classifier that is not in the thesis: it judges a job by the chance that
// enough of its improvement is still ahead.

package growth

import (
	"cmp"
	"math"
	"strconv"

	"github.com/apportion/apportion"
)

// defaultConfidence and defaultHarm are chosen by flowcon/judge on families left out.
const defaultConfidence, defaultHarm = 4, 4

// Prospect judges a job by the chance that more than the share Alpha of all its improvement lies ahead, see
// [Evidence]: growing while that chance, weighed by Harm, is the larger one, and slow otherwise.
//
// The evidence is made of the whole run, freed of noise and of single wrong readings. Length of run is
// counted in work (usage times time), so a job that was held back by a limit is not mistaken for one that
// converged. Values are compared with the job's own improvement, so neither the unit of the evaluation function, nor the
// interval between checks changes the meaning of Alpha.
//
// A job that has not improved beyond its noise after 100 readings, that is worse than at its start
// where the series knows what is better, or that repeats one value for too long is slow. One that is set
// back grows again. A jump that nothing announces, such as a step of the learning rate, cannot be
// foreseen; it is taken back when seen.
type Prospect struct {
	// Alpha is a share of all improvement, in (0, 1).
	Alpha float64
	// Confidence is the hysteresis: how many factors of two the odds must lie above those at which the job is
	// slow for it to be growing, and unsure between; 0 means 4.
	Confidence float64
	// Harm is how many times as much it costs to call a job slow that has more than Alpha ahead as to call a job
	// growing that has not; positive, 0 means 4.
	Harm float64
}

// Validate returns what is wrong with the settings, as apportion.Faults, or nil.
func (p Prospect) Validate() error {
	faults := checkAlpha(p.Alpha)
	if p.Alpha >= 1 && len(faults) == 0 {
		faults.Add(apportion.Item{}, "Alpha", apportion.ErrRange, strconv.FormatFloat(p.Alpha, 'g', -1, 64)+" is no share below 1")
	}
	for _, field := range []struct {
		name  string
		value float64
	}{{"Confidence", p.Confidence}, {"Harm", p.Harm}} {
		if !(field.value >= 0 && field.value <= math.MaxFloat64) {
			text := strconv.FormatFloat(field.value, 'g', -1, 64)
			faults.Add(apportion.Item{}, field.name, apportion.ErrRange, text+" is negative or not finite")
		}
	}
	return faults.Err()
}

// Judge implements [Classifier]. It reads what the series has ready.
func (p Prospect) Judge(series *Series) Verdict {
	if _, hangs := series.Silence(); hangs {
		return Slow
	}
	e, ok := series.Evidence()
	switch {
	case series.SetBack():
		return Growing
	case !ok:
		return Unsure
	case series.course.Stands:
		return Slow
	}
	weighed := e.logit(p.Alpha) + math.Log(cmp.Or(p.Harm, defaultHarm))
	switch {
	case weighed < 0:
		return Slow
	case weighed >= cmp.Or(p.Confidence, defaultConfidence)*math.Ln2:
		return Growing
	default:
		return Unsure
	}
}

// Rate implements [Rater]: the pace of the series. Where that is a step back, as noise makes it, the gain
// of the last half of the run stands for it. 0 for a job that hangs or gets worse as a whole.
func (p Prospect) Rate(series *Series, n Normalization) float64 {
	if _, hangs := series.Silence(); hangs {
		return 0
	}
	if pace := series.Pace(n); pace >= 0 {
		return pace
	}
	return series.halfPace(n)
}
