// This file lists families that nothing was fitted to: written after the last change of growth's weights.

package main

import (
	"math"
	"math/rand/v2"

	"github.com/apportion/apportion/growth"
)

var fresh = []family{
	{"bandit", growth.LargerIsBetter, bandit},
	{"eigenvector", growth.LargerIsBetter, eigenvector},
	{"k-means", growth.SmallerIsBetter, kMeans},
	{"lasso", growth.SmallerIsBetter, lasso},
	{"random search", growth.SmallerIsBetter, randomSearch},
}

// bandit is the mean reward of pulling the arm that looks best, and any at times, as a running average.
func bandit(i int, random *rand.Rand) (all []float64) {
	arms, means, pulls := normals(random, 1, 10+10*i, 1)[0], make([]float64, 10+10*i), make([]float64, 10+10*i)
	average := 0.0
	for range 120 {
		for range 20 {
			k := random.IntN(len(arms))
			if random.Float64() > 0.1 {
				for l := range means {
					if means[l] > means[k] {
						k = l
					}
				}
			}
			reward := arms[k] + random.NormFloat64()
			pulls[k]++
			means[k] += (reward - means[k]) / pulls[k]
			average += 0.02 * (arms[k] - average)
		}
		all = append(all, average)
	}
	return all
}

// eigenvector is the Rayleigh quotient of power iterations on a random covariance.
func eigenvector(i int, random *rand.Rand) (all []float64) {
	n := 10 + 20*i
	points, x := normals(random, 2*n, n, 1), normals(random, 1, n, 1)[0]
	for range 100 {
		next, norm := make([]float64, n), 0.0
		for _, p := range points {
			along := dot(p, x)
			for k := range next {
				next[k] += along * p[k]
			}
		}
		all = append(all, dot(x, next)/dot(x, x))
		norm = math.Sqrt(dot(next, next))
		for k := range next {
			x[k] = next[k] / norm
		}
	}
	return all
}

// kMeans is the mean squared distance to the nearest of the centers, which move a little with each point.
func kMeans(i int, random *rand.Rand) (all []float64) {
	points, centers := clusters(random, 400, 4, 6, 0.2+0.2*float64(i)).inputs, normals(random, 6, 4, 0.3)
	for range 90 {
		sum := 0.0
		for range 40 {
			p, best, at := points[random.IntN(len(points))], math.Inf(1), 0
			for c := range centers {
				d := 0.0
				for k := range p {
					d += (p[k] - centers[c][k]) * (p[k] - centers[c][k])
				}
				if d < best {
					best, at = d, c
				}
			}
			sum += best
			for k := range p {
				centers[at][k] += 0.03 * (p[k] - centers[at][k])
			}
		}
		all = append(all, sum/40)
	}
	return all
}

// lasso is the objective of coordinate descent, a few coordinates a reading.
func lasso(i int, random *rand.Rand) (all []float64) {
	n := 30 + 30*i
	columns, left, x := normals(random, n, 60, 1), normals(random, 1, 60, 5)[0], make([]float64, n)
	for range 150 {
		for range 4 {
			k := random.IntN(n)
			c, square := columns[k], dot(columns[k], columns[k])
			pull := dot(c, left) + square*x[k]
			next := math.Copysign(max(math.Abs(pull)-10, 0), pull) / square
			for d := range left {
				left[d] += (x[k] - next) * c[d]
			}
			x[k] = next
		}
		objective := dot(left, left) / 2
		for _, v := range x {
			objective += 10 * math.Abs(v)
		}
		all = append(all, objective)
	}
	return all
}

// randomSearch is the best loss so far of settings that are drawn, each with noise.
func randomSearch(i int, random *rand.Rand) (all []float64) {
	best := math.Inf(1)
	for range 200 {
		loss := 0.1 * math.Abs(random.NormFloat64())
		for range 2 + i {
			loss += math.Pow(random.NormFloat64(), 2)
		}
		best = min(best, loss)
		all = append(all, best)
	}
	return all
}
