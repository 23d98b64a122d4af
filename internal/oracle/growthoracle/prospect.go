// This file implements growth.Prospect over the whole history, from its definition.

package growthoracle

import "math"

// Prospect returns the estimated share of the improvement so far that a doubling of the work brings,
// and its standard error. The evaluations are all that ever were, in order; ok is false where the
// newest did not complete an average or there are fewer than 8 averages.
func Prospect(work, value []float64) (gain, doubt float64, ok bool) {
	// size is how many evaluations one average stands for: it doubles when there would be 32 averages, so that 16 to 31 remain.
	size := 1
	for len(value)/size >= 32 {
		size *= 2
	}
	// A history that was thinned by the newest evaluation itself has completed an average too.
	if len(value)%size != 0 || len(value)/size < 8 {
		return 0, 0, false
	}
	// x has the mean work of each average, y its mean value.
	var x, y []float64
	for i := 0; i < len(value); i += size {
		sumX, sumY := 0.0, 0.0
		for j := i; j < i+size; j++ {
			sumX += work[j] / float64(size)
			sumY += value[j] / float64(size)
		}
		x, y = append(x, sumX), append(y, sumY)
	}
	// Only the newer half of the work counts, but at least four averages: the beginning of a curve says little of its end.
	from := 0
	for from < len(x)-4 && x[from] < x[len(x)-1]/2 {
		from++
	}
	x, y = x[from:], y[from:]
	// Ordinary least squares of y over x.
	n := float64(len(x))
	var mx, my, sxx, sxy, rss float64
	for i := range x {
		mx += x[i] / n
		my += y[i] / n
	}
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	// No work has been done between the averages: there is no slope.
	if sxx == 0 {
		return 0, 0, false
	}
	slope := sxy / sxx
	for i := range x {
		residual := y[i] - my - slope*(x[i]-mx)
		rss += residual * residual
	}
	// The improvement so far runs from the first evaluation of all to the mean of those that the line goes through.
	improvement := value[0] - my
	if improvement == 0 {
		return 0, 0, true
	}
	// On a curve that follows the logarithm of the work a doubling gains ln 2 times slope times work; 0.75 is the mean
	// position of the newer half, where the slope was taken.
	horizon := 0.75 * math.Ln2 * work[len(work)-1]
	// The doubt is the standard error of the slope, with n - 2 degrees of freedom, over the same horizon.
	return -slope * horizon / improvement, math.Sqrt(rss/(n-2)/sxx) * horizon / math.Abs(improvement), true
}
