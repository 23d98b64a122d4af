// This file implements Prospect, a classifier that is not in the thesis: it judges a job by what it
// can expect from running as long again.

package growth

import (
	"math"
	"strconv"

	"github.com/apportion/apportion"
)

const (
	// DefaultConfidence is one standard error: the estimate must clear Alpha by the size of its
	// own noise. Two would ask for about four times as many readings.
	DefaultConfidence = 1
	// minAverages is the least length of history that is judged: fewer than four averages in the
	// second half of a run have no usable error.
	minAverages = 8
	// doubling is (3/4) ln 2. The line through the second half of a run has the slope of the curve
	// at about 3/4 of the run. Where progress follows a logarithm, E = a - b ln w, which is slower
	// to die out than any power law or exponential, that slope is b/(3w/4), and the gain of running
	// from w to 2w is b ln 2.
	doubling = 0.75 * math.Ln2
)

// Prospect judges a job by the share of its improvement so far that it can expect to gain by
// running as long again: slow below Alpha, growing from Alpha on, unsure where the noise of the
// readings leaves both open.
//
// It draws a straight line through the second half of the thinned history and takes the standard
// error of its slope from the scatter around it. Length of run is counted in work (usage times
// time), so a job that was held back by a limit is not mistaken for one that converged. Values are
// compared with the job's own improvement, so neither the unit of the evaluation function, nor the
// interval between checks, nor the length of the job changes the meaning of Alpha. One reading
// that jitters moves a line through many by little; a reading that repeats the one before is no
// evidence of convergence.
//
// The straight line and the independence of the scatter are approximations. A jump that nothing
// announces, such as a step of the learning rate, cannot be foreseen; it is taken back when seen.
type Prospect struct {
	// Alpha is a share of the improvement so far; positive. 0.05 serves well.
	Alpha float64
	// Confidence is how many standard errors the estimate must clear Alpha by; 0 means
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

// Judge implements [Classifier]. It takes one pass over at most 31 averages.
func (p Prospect) Judge(series *Series) Verdict {
	history := &series.now.History
	if !history.Fresh || history.N < minAverages {
		return Unsure
	}
	confidence := p.Confidence
	if confidence == 0 {
		confidence = DefaultConfidence
	}
	fit, ok := history.secondHalf()
	if !ok {
		return Unsure
	}
	improvement := series.now.Start - fit.value
	if improvement == 0 {
		return Slow
	}
	// Towards the side to which the job has gone so far is a gain, back is a loss.
	gain := -fit.slope * doubling * series.now.Work / improvement
	doubt := confidence * fit.slopeError * doubling * series.now.Work / math.Abs(improvement)
	switch {
	case gain+doubt < p.Alpha:
		return Slow
	case gain-doubt >= p.Alpha:
		return Growing
	default:
		return Unsure
	}
}

// line is a straight line fitted by least squares.
type line struct {
	value      float64 // at the mean
	slope      float64 // per unit of work
	slopeError float64 // standard error of the slope
}

// secondHalf fits a line through the averages of the second half of the run, by work; false where
// all of them were taken at the same work, that is where nothing was used.
//
// It goes back from the newest average and takes sums of differences to it, in one pass: the
// differences are small beside the values, so little is lost where squares are subtracted.
func (h *history) secondHalf() (line, bool) {
	newestW, newestV := h.Work[h.N-1], h.Value[h.N-1]
	var n, w, v, ww, wv, vv float64
	for i := h.N - 1; i >= 0 && (h.Work[i] >= newestW/2 || n < minAverages/2); i-- {
		dw, dv := h.Work[i]-newestW, h.Value[i]-newestV
		n++
		w += dw
		v += dv
		ww += float64(dw * dw)
		wv += float64(dw * dv)
		vv += float64(dv * dv)
	}
	ww -= float64(w * w / n)
	wv -= float64(w * v / n)
	vv -= float64(v * v / n)
	if !(ww > 0) {
		return line{}, false
	}
	slope := wv / ww
	scatter := max(0, vv-float64(slope*wv)) // sum of squares around the line; rounding may make it negative
	return line{value: newestV + v/n, slope: slope, slopeError: math.Sqrt(scatter / (n - 2) / ww)}, true
}
