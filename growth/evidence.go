// This file implements Evidence, what the whole run of a job says of its future, and the chance that follows
// from it; it is not in the thesis.

package growth

import (
	"math"
	"slices"
)

// The signs of which evidence is made, each the natural logarithm of a share of all improvement so far (or of the run, or
// a count, which has no bounds), between leastSign and mostSign, or a product of two.
const (
	signHalf     = iota // gained in the last half of the work
	signThree           // in the last three quarters
	signNoise           // median second difference of the history
	signReadings        // number of readings
	signWorse           // how far the job stands behind its best, squared
	signRecord          // part of the work since the best rose by 2 %
	signNewest          // fall from 0.85 of the work to the newest point
	signLoud            // noise times newest: the louder a run, the less its newest point says
	signs
)

const (
	leastSign, mostSign = 1e-3, 1
	// minPoints is the least history that is evidence, span the part of its points that evidence is averaged over.
	minPoints, span = 3, 0.2
	// record is the least rise of the best that counts, as a share of all improvement.
	record = 0.02
	// leastMove keeps shares finite where a job has come back to where it began, as a share of how far it was away.
	leastMove = 0.01
	// standsReadings and standsNoise say when a run is none that learns: after so many readings its first average is
	// no further from the newest ones than so many median second differences, which 2 % of runs without any gain exceed.
	standsReadings, standsNoise = 100, 1.4
)

// Evidence is what a run says of its future, averaged over its last fifth. Go run -C examples/studies ./flowcon/judge -fit
// prints its weights.
type Evidence [signs]float64

// odds are the weights of the signs in the logarithm of the odds that more than a twentieth of all improvement is ahead, fitted to
// 27 recorded and 92 small trainings by flowcon/judge. Share is the weight of the logarithm of another share than a twentieth.
var odds = struct {
	constant, share float64
	signs           Evidence
}{3.0909, -1.2763, Evidence{
	signHalf: 0.1688, signThree: 0.2148, signNoise: -0.3969, signReadings: -0.3832,
	signWorse: -0.0380, signRecord: -0.2368, signNewest: 0.2894, signLoud: -0.1164,
}}

// logit returns the logarithm of the odds that more than a share is ahead.
func (e *Evidence) logit(share float64) float64 {
	sum := odds.constant + float64(odds.share*math.Log(share/0.05))
	for k, weight := range odds.signs {
		sum += float64(weight * e[k])
	}
	return sum
}

// surest and doubt say how sure a run of a family that is not known may be: odds above four to one count by a third of their logarithm.
// Without that 0.93 was said where families that were left out had 0.80; with it 0.83 is said where they have 0.81 (flowcon/judge).
const (
	surest = 1.3863 // the logarithm of 4
	doubt  = 1.0 / 3
)

// Chance returns the probability that more than a share of all improvement is still ahead: share is in (0, 1). It
// is calibrated on whole runs, each at any part of it, as package flowcon/judge of the studies has them.
func (e Evidence) Chance(share float64) float64 {
	logit := e.logit(share)
	if logit > surest {
		logit = surest + float64(doubt*(logit-surest))
	}
	return 1 / (1 + math.Exp(-logit))
}

// Ahead returns the share of all improvement that is ahead with an even chance, in [0, 1]. The chances are fitted to
// shares from 0.02 to 0.2: an answer outside of these extrapolates, and was not judged.
func (e Evidence) Ahead() float64 {
	return min(1, 0.05*math.Exp(-e.logit(0.05)/odds.share))
}

func sign(share float64) float64 { return math.Log(min(max(share, leastSign), mostSign)) }

// level returns the mean of the points within an eighth of the work of a part of it; the nearest point where
// none is.
func (h *history) level(work, part float64) float64 {
	sum, n, nearest := 0.0, 0.0, 0
	for i, p := range h.Points[:h.N] {
		away := math.Abs(p.Work - float64(part*work))
		if away <= work/8 {
			sum, n = sum+p.Value, n+1
		}
		if away < math.Abs(h.Points[nearest].Work-float64(part*work)) {
			nearest = i
		}
	}
	if n == 0 {
		return h.Points[nearest].Value
	}
	return sum / n
}

// newest returns by how much the newest point is below the one at 0.85 of the work.
func (h *history) newest(work float64) float64 {
	k := h.N - 1
	for k > 0 && h.Points[k].Work > 0.85*work {
		k--
	}
	return h.Points[k].Value - h.Points[h.N-1].Value
}

// noise returns the median second difference.
func (h *history) noise() float64 {
	var bends [blocks]float64
	for i := 2; i < h.N; i++ {
		bends[i] = math.Abs(h.Points[i].Value - float64(2*h.Points[i-1].Value) + h.Points[i-2].Value)
	}
	slices.Sort(bends[2:h.N])
	return bends[2+(h.N-2)/2]
}

// best returns the best mean of two neighbours, and the work at which it last rose by a least amount; falls are
// better where toward is 1, rises where it is -1.
func (h *history) best(toward, least float64) (best, at float64) {
	before, marked := toward*h.Points[0].Value, math.Inf(1)
	best = math.Inf(1)
	for i, p := range h.Points[:h.N] {
		value := toward * p.Value
		mean := (value + before) / 2
		best, before = min(best, mean), value
		if mean < marked-least {
			marked, at = mean, h.Points[i].Work
		}
	}
	return best, at
}

// evidence returns the signs of a history, and the gain of the last half by unit of work: work is how far the run is,
// start the first value of the job. False while the history is too short or nothing has changed.
func (h *history) evidence(work, start float64, direction Direction) (e Evidence, pace float64, ok bool) {
	if h.N < minPoints || !(work > h.Points[0].Work) {
		return e, 0, false
	}
	far := 0.0
	for _, p := range h.Points[:h.N] {
		far = max(far, math.Abs(p.Value-start))
	}
	least := leastMove * far
	if least == 0 {
		return e, 0, false
	}
	now, half := h.level(work, 1), h.level(work, 0.5)
	toward := direction.better(1, start-h.Points[h.N-1].Value)
	gained := max(toward*(start-now), least)
	best, at := h.best(toward, record*gained)
	share := func(from float64) float64 { return sign(toward * (from - now) / gained) }
	worse := sign((float64(toward*now) - best) / gained)
	e = Evidence{
		signHalf: share(half), signThree: share(h.level(work, 0.25)), signNoise: sign(h.noise() / gained), signReadings: math.Log(float64(h.N * h.Size)),
		signWorse: worse * worse, signRecord: sign((work - at) / work),
		signNewest: sign(toward * h.newest(work) / gained),
	}
	e[signLoud] = e[signNoise] * e[signNewest]
	pace = toward * (half - now) / (work / 2)
	return e, max(-growthLimit, min(pace, growthLimit)), true
}

// stands reports whether a run is none that learns.
func (h *history) stands(work float64, direction Direction) bool {
	gained := h.Points[0].Value - h.level(work, 1)
	return h.N*h.Size >= standsReadings && direction.better(gained, gained) <= standsNoise*h.noise()
}

// Evidence returns what the history says of the job's growth, and false while it is too short or nothing has
// changed. O(1).
func (s *Series) Evidence() (Evidence, bool) { return s.course.Evidence, s.course.Proven }
