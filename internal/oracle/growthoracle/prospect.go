// This file implements the estimate of growth.Prospect from its definition: every shape is evaluated where
// it is needed, and every mean is taken anew.

package growthoracle

import "math"

// Thinned returns the averages that remain of evaluations, all that ever were, in order: their size doubles
// when there would be 32, so that 16 to 31 remain. Those that fill no average are left out.
func Thinned(values []float64) (averages []float64, size int) {
	// Doubling until fewer than 32 averages remain is what the history does value by value.
	size = 1
	for len(values)/size >= 32 {
		size *= 2
	}
	for i := 0; i+size <= len(values); i += size {
		averages = append(averages, mean(values[i:i+size]))
	}
	return averages, size
}

// Outlook is what a history says of its future.
// Level, Improvement, Slope and Doubt are in units of values, the latter two for each unit of work; Ahead and Rest are parts of
// the improvement so far. Known says that the values follow some shape better than a level.
type Outlook struct {
	Level, Improvement, Slope, Doubt, Ahead, Rest float64
	Known                                         bool
}

// History is what an outlook is made of: averages of Size values each, by work, the work Now and the first
// value Start. Sign is 1 where smaller is better, -1 where larger is, 0 where nobody knows.
// Work ascends, ends at Now or before, and has one entry for each of Value; Now is above 0.
type History struct {
	Work, Value []float64
	Now, Start  float64
	Size        float64
	Sign        float64
}

// curves returns the shapes, each a falling curve over the part of the run, and their weights.
// Work is in parts of the work so far: 0 is the start, 1 is now, and 2 is after as much again. Every
// shape is 1 at the start and falls towards 0.
func curves() (all []func(float64) float64, weights []float64) {
	// Seven exponentials of weight 1, and nine power laws of weight 1/2: there are more of them that look alike.
	for _, scale := range []float64{2, 0.7, 0.4, 0.25, 0.15, 0.08, 0.04} {
		all, weights = append(all, func(x float64) float64 { return math.Exp(-x / scale) }), append(weights, 1)
	}
	for _, power := range []float64{0.5, 1, 2} {
		for _, scale := range []float64{0.1, 0.03, 0.01} {
			all, weights = append(all, func(x float64) float64 { return math.Pow(1+x/scale, -power) }), append(weights, 0.5)
		}
	}
	return all, weights
}

// mean returns the average, 0 of nothing. It is taken anew wherever it is needed, which costs a pass and hides nothing.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		// Divided first: sums of large values do not overflow.
		sum += v / float64(len(values))
	}
	return sum
}

// product returns the sum of products of distances from the means: the covariance of two lists of one length, times that
// length; of a list with itself, its scatter.
func product(a, b []float64) float64 {
	ma, mb, sum := mean(a), mean(b), 0.0
	for i := range a {
		sum += (a[i] - ma) * (b[i] - mb)
	}
	return sum
}

// regress returns the slope of v over x by ordinary least squares, and the sum of squares that remains.
// x has two values at least that differ; otherwise both results are NaN.
func regress(x, v []float64) (slope, rest float64) {
	// The textbook: covariance over variance, and what is left by Pythagoras.
	slope = product(x, v) / product(x, x)
	return slope, math.Max(0, product(v, v)-slope*product(x, v))
}

// tail returns the points from a part of the run on, three at least.
// Both lists are parts of the caller's, and only read.
func tail(x, v []float64, from float64) (xs, vs []float64) {
	first := 0
	// A line through fewer than three points has no scatter.
	for first < len(x)-3 && x[first] < from {
		first++
	}
	return x[first:], v[first:]
}

// shaped is the mean over the shapes: what a run of twice the length brings, where it stands, where it began.
// Widen is what neighbours that stray alike from them do to the variance of a slope.
type shaped struct{ gain, spread, level, start, best, scatter, widen float64 }

// widening returns (1 + r)/(1 - r) of the correlation r of neighbours among what the shapes leave of the values.
func widening(strays []float64) float64 {
	// The correlation at lag 1, as of an autoregressive series.
	lagged, all := 0.0, 0.0
	for i, s := range strays {
		all += s * s
		if i > 0 {
			lagged += s * strays[i-1]
		}
	}
	if all == 0 {
		return 1
	}
	// Neighbours that stray to opposite sides would make a slope look better known than it is: they
	// count as independent. At most 0.9, so that doubt grows by a factor of 19 at most.
	r := math.Min(0.9, math.Max(0, lagged/all))
	return (1 + r) / (1 - r)
}

// shape fits every curve and weighs it by its fit: exp(-rest / (2 scatter)).
func shape(x, v []float64) shaped {
	all, weights := curves()
	var gains, levels, starts, rests []float64
	var fitted [][]float64
	// Each shape is fitted alone: a height by least squares, at a level that is the mean of the values.
	for _, curve := range all {
		var y []float64
		for i := range x {
			y = append(y, curve(x[i]))
		}
		height, rest := regress(y, v)
		gains = append(gains, height*(curve(1)-curve(2)))
		levels = append(levels, mean(v)+height*(curve(1)-mean(y)))
		starts = append(starts, mean(v)+height*(curve(0)-mean(y)))
		rests = append(rests, rest)
		// What the shape says of each point is kept for the strays.
		middle := mean(y)
		for i := range y {
			y[i] = mean(v) + height*(y[i]-middle)
		}
		fitted = append(fitted, y)
	}
	s := shaped{best: math.Inf(1)}
	for _, rest := range rests {
		s.best = math.Min(s.best, rest)
	}
	// A shape always misses by a twentieth of the scatter of the values: none is exact.
	s.scatter = s.best/math.Max(float64(len(x)-3), 1) + 0.05*0.05*product(v, v)/float64(len(x))
	total := 0.0
	for k := range weights {
		// Likelihood of normal errors, relative to the best shape, so that nothing underflows.
		weights[k] *= math.Exp(-(rests[k] - s.best) / (2 * s.scatter))
		total += weights[k]
	}
	for k, w := range weights {
		s.gain += w / total * gains[k]
		s.level += w / total * levels[k]
		s.start += w / total * starts[k]
	}
	for k, w := range weights {
		s.spread += w / total * (gains[k] - s.gain) * (gains[k] - s.gain)
	}
	// Strays are what the mixture leaves, not the best shape alone.
	strays := append([]float64(nil), v...)
	for k, w := range weights {
		for i := range strays {
			strays[i] -= w / total * fitted[k][i]
		}
	}
	s.widen = widening(strays)
	return s
}

// Look returns the outlook. There are three averages at least, not all alike, and work has been done.
func Look(h History) Outlook {
	var x []float64
	for _, w := range h.Work {
		x = append(x, w/h.Now)
	}
	s := shape(x, h.Value)
	// The first value is one reading. Where the shapes begin elsewhere, but within its noise, the middle counts.
	// believe is near 1 where the first value is far off the shapes by more than its own noise.
	square := (s.start - h.Start) * (s.start - h.Start)
	believe := square / (square + 4*s.scatter*h.Size)
	fall := believe*h.Start + (1-believe)*(h.Start+s.start)/2 - s.level
	gain, variance := correct(x, h.Value, s, math.Abs(fall))
	// Where nobody knows, what the job has done since its start counts as better.
	sign := h.Sign
	if sign == 0 {
		sign = math.Copysign(1, fall)
	}
	o := Outlook{Level: s.level, Improvement: sign * fall, Slope: sign * gain / h.Now, Doubt: math.Sqrt(variance) / h.Now,
		Known: product(h.Value, h.Value)-s.best > 4*s.scatter, Rest: 1}
	if o.Improvement > 0 {
		// A fifth of a standard error more than expected: called converged too early costs more than too late.
		hoped := sign*gain + math.Sqrt(variance)/5
		o.Ahead = math.Max(-1, hoped/math.Max(sign*fall+hoped, math.Abs(hoped)))
	}
	// One standard error above the slope of the last quarter, at 7/8 of the run.
	if xs, vs := tail(x, h.Value, 0.75); len(xs) > 3 && xs[0] >= 0.75 && fall != 0 {
		slope, rest := regress(xs, vs)
		above := math.Abs(slope) + math.Sqrt(s.widen*rest/float64(len(xs)-2)/product(xs, xs))
		o.Rest = math.Min(1, above*0.875*math.Ln2/math.Abs(fall))
	}
	return o
}

// correct replaces what the shapes expect by the line through the run from 0.4 on, at 0.7, in proportion to what is known
// of each: the shapes may be off by half of their gain, or by a fortieth of the improvement.
// improvement is a size, so that the sign of the values does not matter here.
func correct(x, v []float64, s shaped, improvement float64) (gain, variance float64) {
	xs, vs := tail(x, v, 0.4)
	slope, rest := regress(xs, vs)
	// A logarithm has its mean slope from 0.4 to 1 at 0.7, and gains ln 2 of it in the next unit of work.
	horizon := 0.7 * math.Ln2
	noise := s.widen * (rest + 4*s.scatter) / float64(len(xs)+2) / product(xs, xs) * horizon * horizon
	slack := 0.5 * math.Max(math.Abs(s.gain), 0.05*improvement)
	// Inverse variances: the line as far as it is known, the shapes for the rest.
	weight := slack * slack / (slack*slack + noise)
	gain = -weight*slope*horizon + (1-weight)*s.gain
	return gain, weight*weight*noise + (1-weight)*(1-weight)*(s.spread+slack*slack)
}
