// This file implements Estimate, what the whole run of a job says of its growth: one number for lists and
// limits alike. It is not in the thesis.

package growth

import "math"

// What half and double of each number does to the classifier on real curves prints
//
//	go run -C internal/tools ./ablate -run TestCurvesTable -lines 'prospect alpha=0.05' ../../growth
//
// Of what was still ahead at the mark minPoints, trust and floorShare move up to 4.5 points, late up to 2.1, hope and tailPrior up
// to 1.6, misfit and last up to 1.8, and mostAlike, startPrior and moved a tenth of a point or nothing: these three act on jobs that stand
// still between two evaluations, and on young ones.
const (
	// minPoints is the least history that is fitted.
	minPoints = 3
	// misfit is the scatter that a shape always has, as a share of that of the values: none is exact.
	misfit = 0.05
	// trust is how far the end of a run may differ from the shape of the whole, as a share of what that
	// shape expects, or of floorShare of the improvement where it expects less.
	trust, floorShare = 0.5, 0.05
	// tailPrior is how many readings the scatter around the whole shape counts for in that of the end.
	tailPrior = 4
	// startPrior weighs the scatter of a single reading when the first value is held against the shape.
	startPrior = 4
	// late and last are the parts of the run from which on the two lines through its end are drawn.
	late, last = 0.4, 0.75
	// doubling is 0.7 ln 2. The line through the run from 0.4 on has the slope of the curve at about 0.7 of
	// the run. Where progress follows a logarithm, E = a - b ln w, which is slower to die out than any power
	// law or exponential, that slope is b/(0.7w), and the gain of running from w to 2w is b ln 2. flat is the
	// same for the last quarter.
	doubling = (1 + late) / 2 * math.Ln2
	flat     = (1 + last) / 2 * math.Ln2
	// mostAlike is the largest correlation of neighbours that counts: a few points tell no more.
	mostAlike = 0.9
	// hope is how many standard errors the gain that Ahead is made of lies above the expected one: what
	// is called converged too early loses more than what is called so too late.
	hope = 0.2
	// moved is by how much a shape must explain the values better than no growth at all, in the scatter
	// that remains, for the job to have grown: noise alone is rarely beyond it.
	moved = 4
)

// Estimate is what a run says of its future, over as much work again as was done: a mean over shapes of
// learning curves, each weighted by how well it fits the history, corrected by the line through the later
// part as far as that is more than noise.
type Estimate struct {
	// Level is where the job stands, freed of noise.
	Level float64 `json:"level"`
	// Improvement is what it has gained since its first value, in the job's own unit; negative where it
	// is worse than at its start. Known says whether that is more than noise.
	Improvement float64 `json:"improvement"`
	Known       bool    `json:"known"`
	// Slope is what it gains per unit of work, on average over as much work again; negative where it
	// gets worse. Doubt is the standard error.
	Slope float64 `json:"slope"`
	Doubt float64 `json:"doubt"`
	// Ahead is the share of all improvement that the coming half of the work has: the gain, a fifth of its
	// standard error above the expected one, over that and Improvement. In [-1, 1], 0 where there is no improvement.
	Ahead float64 `json:"ahead"`
	// Rest bounds Ahead by the last quarter of the run alone, noise included; 1 where that is too short
	// to tell.
	Rest float64 `json:"rest"`
	// Points is the number of averages that it was made of.
	Points int `json:"points"`
	// Readings is the number of readings that those are averages of.
	Readings int `json:"readings"`
}

// fit holds a history in its own scale: the part of the work in [0, 1], and distances of values from the
// newest one, of which the largest is 1.
type fit struct {
	n           int
	x, v        [blocks]float64
	newest      float64 // value
	scale, work float64
	cell        [blocks]int
	part        [blocks]float64
	meanV, sumV float64 // mean of v, sum of squares around it
	best        float64 // least sum of squares around a shape
	scatter     float64 // variance of a point around its shape
	widen       float64 // by how much neighbours that stray alike widen the variance of a slope
	drawn       [len(shapes)][blocks]float64
}

// prepare fills a fit; false where there is nothing to fit: too few points, no work or no change.
func (f *fit) prepare(h *history, work float64) bool {
	f.n = h.N
	if h.N < minPoints {
		return false
	}
	last := h.Points[h.N-1]
	f.work, f.newest = work, last.Value
	for _, p := range h.Points[:h.N] {
		f.scale = max(f.scale, math.Abs(p.Value-last.Value))
	}
	if !(f.scale > 0 && f.work > h.Points[0].Work) {
		return false
	}
	for i, p := range h.Points[:h.N] {
		f.x[i], f.v[i] = p.Work/f.work, (p.Value-last.Value)/f.scale
		f.cell[i] = min(int(f.x[i]*cells), cells-1)
		f.part[i] = float64(f.x[i]*cells) - float64(f.cell[i])
		f.meanV += f.v[i] / float64(f.n)
	}
	for _, v := range f.v[:f.n] {
		f.sumV += float64((v - f.meanV) * (v - f.meanV))
	}
	return true
}

// against fits the k-th shape by least squares: height is its size, rest the sum of squares that remains, mean
// its mean over the points, at which it leaves its values in drawn.
func (f *fit) against(k int) (height, rest, mean float64) {
	d, drawn := &gallery[k], &f.drawn[k]
	for i, c := range f.cell[:f.n] {
		low := d.table[c]
		drawn[i] = low + float64(f.part[i]*(d.table[c+1]-low))
		mean += drawn[i]
	}
	mean /= float64(f.n)
	var ss, sv float64
	for i, y := range drawn[:f.n] {
		y -= mean
		ss += float64(y * y)
		sv += float64(y * (f.v[i] - f.meanV))
	}
	if !(ss > 0) {
		return 0, f.sumV, mean // all points lie where the shape is flat
	}
	height = sv / ss
	return height, max(0, f.sumV-float64(height*sv)), mean
}

// mixture is the mean over all shapes.
type mixture struct {
	gain, level, start float64 // falls are positive gains
	spread             float64 // variance of gain between the shapes
}

// mix weighs the shapes by how well each fits.
func (f *fit) mix() mixture {
	var heights, rests, means [len(shapes)]float64
	f.best = math.Inf(1)
	for k := range gallery {
		heights[k], rests[k], means[k] = f.against(k)
		f.best = min(f.best, rests[k])
	}
	f.scatter = f.best/float64(max(f.n-3, 1)) + float64(misfit*misfit*f.sumV/float64(f.n))
	var m mixture
	var total, squares float64
	var strays [blocks]float64
	for k := range gallery {
		g := &gallery[k]
		weight := g.weight * math.Exp((f.best-rests[k])/(2*f.scatter))
		gain := heights[k] * (g.now - g.double)
		for i := range f.n {
			fitted := float64(heights[k] * (f.drawn[k][i] - means[k]))
			strays[i] += float64(weight * (f.v[i] - f.meanV - fitted))
		}
		total += weight
		m.gain += float64(weight * gain)
		squares += float64(weight * gain * gain)
		m.level += float64(weight * (f.meanV + float64(heights[k]*(g.now-means[k]))))
		m.start += float64(weight * (f.meanV + float64(heights[k]*(1-means[k]))))
	}
	m.gain, m.level, m.start = m.gain/total, m.level/total, m.start/total
	m.spread = max(0, squares/total-float64(m.gain*m.gain))
	f.widen = alike(strays[:f.n])
	return m
}

// alike returns by how much the variance of a mean or a slope is larger than that of independent points, from
// the correlation r of neighbours around the shapes: (1 + r)/(1 - r), as of an autoregressive series. A job that
// evaluates rarely and is read often stands still between two steps: there all points of a step
// stray to the same side, and a line through few steps is worth little, however many points it has.
func alike(strays []float64) float64 {
	var before, squares, products float64
	for _, stray := range strays {
		squares += float64(stray * stray)
		products += float64(before * stray)
		before = stray
	}
	if !(squares > 0) {
		return 1
	}
	r := max(0, min(products/squares, mostAlike))
	return (1 + r) / (1 - r)
}

// tail is the straight line through the end of a run.
type tail struct {
	n           int
	slope       float64
	work, rests float64 // sums of squares: of x, and of v around the line
}

// end fits a line through the points from a part of the run on, and through three at least.
func (f *fit) end(from float64) (t tail) {
	var sumX, sumV, xx, xv, vv float64
	for i := f.n - 1; i >= 0 && (f.x[i] >= from || t.n < minPoints); i-- {
		x := f.x[i] - 1
		t.n++
		sumX += x
		sumV += f.v[i]
		xx += float64(x * x)
		xv += float64(x * f.v[i])
		vv += float64(f.v[i] * f.v[i])
	}
	n := float64(t.n)
	xx -= float64(sumX * sumX / n)
	xv -= float64(sumX * sumV / n)
	vv -= float64(sumV * sumV / n)
	if !(xx > 0) {
		return tail{n: t.n}
	}
	t.slope, t.work = xv/xx, xx
	t.rests = max(0, vv-float64(t.slope*xv))
	return t
}

// estimate fits a history: work is how far the run is, start the first value of the job.
func (h *history) estimate(work, start float64, direction Direction) (Estimate, bool) {
	var f fit
	if !f.prepare(h, work) {
		return Estimate{}, false
	}
	m := f.mix()
	begin := f.begin((start-f.newest)/f.scale, m.start, float64(h.Size))
	fall := begin - m.level
	gain, variance := f.correct(m, math.Abs(fall))
	e := Estimate{Level: f.newest + float64(m.level*f.scale), Points: f.n, Readings: f.n * h.Size, Rest: f.rest(math.Abs(fall))}
	e.Known = f.sumV-f.best > moved*f.scatter
	e.Improvement = direction.better(fall, fall) * f.scale
	better := direction.better(gain, fall)
	e.Slope, e.Doubt = better*f.scale/f.work, math.Sqrt(variance)*f.scale/f.work
	if e.Improvement > 0 {
		better += hope * math.Sqrt(variance)
		e.Ahead = max(-1, better/max(direction.better(fall, fall)+better, math.Abs(better)))
	}
	return e, true
}

// begin weighs the first value, one reading, against where the shapes begin: far from those it stands,
// because curves fall from it faster than any shape.
func (f *fit) begin(first, shaped, size float64) float64 {
	square := float64((shaped - first) * (shaped - first))
	believe := square / (square + float64(startPrior*f.scatter*size) + math.SmallestNonzeroFloat64)
	return float64(believe*first) + float64((1-believe)*(first+shaped)/2)
}

// correct replaces the gain that the shapes expect by that of the line through the later part, as far as
// the line is known better. It returns the gain and its variance.
func (f *fit) correct(m mixture, improvement float64) (gain, variance float64) {
	line := f.end(late)
	if line.work == 0 {
		return m.gain, m.spread
	}
	scatter := (line.rests + float64(tailPrior*f.scatter)) / float64(line.n-2+tailPrior)
	noise := f.widen * scatter / line.work * doubling * doubling
	slack := trust * max(math.Abs(m.gain), floorShare*improvement)
	weight := slack * slack / (float64(slack*slack) + noise + math.SmallestNonzeroFloat64)
	gain = float64(weight*-line.slope*doubling) + float64((1-weight)*m.gain)
	return gain, float64(weight*weight*noise) + float64((1-weight)*(1-weight)*(m.spread+float64(slack*slack)))
}

// rest returns what the last quarter leaves to hope for, as a share of all improvement: one standard error
// above the size of its slope.
func (f *fit) rest(improvement float64) float64 {
	line := f.end(last)
	if line.n < minPoints+1 || line.work == 0 || !(improvement > 0) {
		return 1
	}
	slope := math.Abs(line.slope) + math.Sqrt(f.widen*line.rests/float64(line.n-2)/line.work)
	return min(1, slope*flat/improvement)
}
