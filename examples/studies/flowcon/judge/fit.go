// This file fits the weights of evidence by logistic regression, and measures what a ranking and a call are worth.

package main

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// shares are what may be ahead, of which the weights are fitted to all.
var shares = []float64{0.02, enough, 0.1, 0.2}

// features returns what a model sees of a moment.
type features func(m *moment) []float64

// signsOf sees some of the signs.
func signsOf(use []int) features {
	return func(m *moment) []float64 {
		seen := make([]float64, len(use))
		for k, sign := range use {
			seen[k] = m.evidence[sign]
		}
		return seen
	}
}

// model holds weights: of a constant, of the logarithm of a share in twentieths, and of what it sees.
type model struct {
	sees    features
	weights []float64
}

// inputs returns what the weights are multiplied by.
func (m *model) inputs(at *moment, share float64) []float64 {
	return append([]float64{1, math.Log(share / enough)}, m.sees(at)...)
}

// logit returns the logarithm of the odds that more than a share is ahead.
func (m *model) logit(at *moment, share float64) float64 { return dot(m.inputs(at, share), m.weights) }

// rounds of Newton's method, and the ridge that keeps it sound: a curve more or less.
const rounds, ridge = 10, 1

// fit maximizes the likelihood of all moments but those of a family.
func fit(all []moment, sees features, shares []float64, leftOut string) *model {
	n := 2 + len(sees(&all[0]))
	m := &model{sees: sees, weights: make([]float64, n)}
	slope, curvature := make([]float64, n), make([]float64, n*n)
	for range rounds {
		clear(slope)
		clear(curvature)
		for k := range n {
			curvature[k*n+k] = ridge
		}
		for i := range all {
			if all[i].family == leftOut {
				continue
			}
			for _, share := range shares {
				x := m.inputs(&all[i], share)
				p := logistic(dot(x, m.weights))
				floats.AddScaled(slope, truth(all[i].left > share)-p, x)
				for k, v := range x {
					floats.AddScaled(curvature[k*n:][:n], p*(1-p)*v, x)
				}
			}
		}
		var step mat.VecDense
		if step.SolveVec(mat.NewDense(n, n, curvature), mat.NewVecDense(n, slope)) != nil {
			break
		}
		floats.Add(m.weights, step.RawVector().Data)
	}
	return m
}

func logistic(logit float64) float64 { return 1 / (1 + math.Exp(-logit)) }

// chance is what package growth says for a logit.
func chance(logit float64) float64 {
	if logit > surest {
		logit = surest + doubt*(logit-surest)
	}
	return logistic(logit)
}

// surest and doubt are those of growth.Evidence.Chance.
const surest, doubt = 1.3863, 1.0 / 3

func truth(ahead bool) float64 {
	if ahead {
		return 1
	}
	return 0
}

// unseen returns the logit of each moment for a twentieth, by the model that was fitted without its family.
func unseen(all []moment, names []string, sees features, shares []float64) []float64 {
	logits := make([]float64, len(all))
	for _, family := range names {
		m := fit(all, sees, shares, family)
		for i := range all {
			if all[i].family == family {
				logits[i] = m.logit(&all[i], enough)
			}
		}
	}
	return logits
}

// auc returns how often, of two jobs at the same reading of runs of the same length and noise, the one with more than a
// twentieth ahead has the higher score; a tie counts half.
func auc(all []moment, score func(i int) float64, wanted func(*moment) bool) float64 {
	type key struct {
		length, part int
		noise        float64
	}
	groups := map[key][]int{}
	for i := range all {
		if m := &all[i]; wanted(m) {
			k := key{m.length, m.part, m.noise}
			groups[k] = append(groups[k], i)
		}
	}
	wins, pairs := 0.0, 0.0
	for _, group := range groups {
		ahead := 0.0
		slices.SortFunc(group, func(a, b int) int { return cmp.Compare(score(a), score(b)) })
		below, done := 0.0, 0
		for done < len(group) {
			same := [2]float64{}
			for s := score(group[done]); done < len(group) && score(group[done]) == s; done++ {
				same[int(truth(all[group[done]].left > enough))]++
			}
			wins += same[1] * (below + same[0]/2)
			ahead += same[1]
			below += same[0]
		}
		pairs += ahead * below
	}
	return wins / pairs
}

func logOdds(said float64) float64 {
	logit := math.Log(said / (1 - said))
	if logit > surest {
		logit = surest + (logit-surest)/doubt
	}
	return logit
}
