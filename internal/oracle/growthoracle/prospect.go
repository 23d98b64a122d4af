// This file implements growth.Prospect over the whole history, from its definition.

package growthoracle

import "math"

// Prospect returns the estimated share of the improvement so far that a doubling of the work brings,
// and its standard error. The evaluations are all that ever were, in order; ok is false where the
// newest did not complete an average or there are fewer than 8 averages.
func Prospect(work, value []float64) (gain, doubt float64, ok bool) {
	size := 1
	for len(value)/size >= 32 {
		size *= 2
	}
	// A history that was thinned by the newest evaluation itself has completed an average too.
	if len(value)%size != 0 || len(value)/size < 8 {
		return 0, 0, false
	}
	var x, y []float64
	for i := 0; i < len(value); i += size {
		sumX, sumY := 0.0, 0.0
		for j := i; j < i+size; j++ {
			sumX += work[j] / float64(size)
			sumY += value[j] / float64(size)
		}
		x, y = append(x, sumX), append(y, sumY)
	}
	from := 0
	for from < len(x)-4 && x[from] < x[len(x)-1]/2 {
		from++
	}
	x, y = x[from:], y[from:]
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
	if sxx == 0 {
		return 0, 0, false
	}
	slope := sxy / sxx
	for i := range x {
		residual := y[i] - my - slope*(x[i]-mx)
		rss += residual * residual
	}
	improvement := value[0] - my
	if improvement == 0 {
		return 0, 0, true
	}
	horizon := 0.75 * math.Ln2 * work[len(work)-1]
	return -slope * horizon / improvement, math.Sqrt(rss/(n-2)/sxx) * horizon / math.Abs(improvement), true
}
