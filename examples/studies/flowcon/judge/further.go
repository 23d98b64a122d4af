// This file holds trainings of which each does something else than gradients on a network.

package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// annealing shortens a tour of cities by reversing parts of it.
func annealing(i int, random *rand.Rand) (all []float64) {
	n := 20 + 10*i
	cities, tour := normals(random, n, 2, 1), random.Perm(n)
	leg := func(a, b int) float64 {
		p, q := cities[tour[(a+n)%n]], cities[tour[(b+n)%n]]
		return math.Hypot(p[0]-q[0], p[1]-q[1])
	}
	for reading := range 150 {
		heat := math.Exp(-float64(reading) / 30)
		for range 5 * n {
			a, b := random.IntN(n), random.IntN(n)
			if a > b {
				a, b = b, a
			}
			longer := leg(a-1, b) + leg(a, b+1) - leg(a-1, a) - leg(b, b+1)
			if b-a < n-2 && longer < -heat*math.Log(random.Float64()+1e-12) {
				slices.Reverse(tour[a : b+1])
			}
		}
		length := 0.0
		for k := range n {
			length += leg(k, k+1)
		}
		all = append(all, length)
	}
	return all
}

// mixture fits centers and spreads of overlapping normal clusters and returns the mean negative log-likelihood.
func mixture(i int, random *rand.Rand) (all []float64) {
	const classes, dimensions = 5, 3
	points := clusters(random, 250, dimensions, classes, 0.3+0.15*float64(i)).inputs
	centers, variance := normals(random, classes, dimensions, 0.1), 4.0
	for range 60 + 30*i {
		next, mass := normals(random, classes, dimensions, 0), make([]float64, classes)
		loss, spread := 0.0, 0.0
		for _, x := range points {
			densities, total := make([]float64, classes), 0.0
			for c := range centers {
				densities[c] = math.Exp(-distance(x, centers[c])/(2*variance)) / classes
				total += densities[c]
			}
			loss -= math.Log(total+1e-300) - dimensions*math.Log(variance)/2
			for c, d := range densities {
				mass[c] += d / (total + 1e-300)
				spread += d / (total + 1e-300) * distance(x, centers[c])
				for k := range x {
					next[c][k] += d / (total + 1e-300) * x[k]
				}
			}
		}
		for c := range centers {
			for k := range centers[c] {
				centers[c][k] += 0.5 * (next[c][k]/max(mass[c], 1e-9) - centers[c][k])
			}
		}
		variance = spread / float64(dimensions*len(points))
		all = append(all, loss/float64(len(points)))
	}
	return all
}

func distance(a, b []float64) (sum float64) {
	for k := range a {
		sum += (a[k] - b[k]) * (a[k] - b[k])
	}
	return sum
}

// evolution is the (1+1) strategy on a valley, with the success rule for its step [Rechenberg73].
func evolution(i int, random *rand.Rand) (all []float64) {
	x, step := normals(random, 1, 4+2*i, 2)[0], 1.0
	loss := func(x []float64) (sum float64) {
		for k := range len(x) - 1 {
			sum += 10*math.Pow(x[k+1]-x[k]*x[k], 2) + math.Pow(1-x[k], 2)
		}
		return sum
	}
	best := loss(x)
	for range 200 {
		for range 20 {
			y := slices.Clone(x)
			for k := range y {
				y[k] += step * random.NormFloat64()
			}
			step *= 0.95
			if l := loss(y); l < best {
				x, best, step = y, l, step*1.3
			}
		}
		all = append(all, math.Log1p(best))
	}
	return all
}

// perceptron is the share of held-back points on the right side.
func perceptron(i int, random *rand.Rand) (all []float64) {
	truth, weights := normals(random, 1, 30, 1)[0], make([]float64, 30)
	points := normals(random, 600, 30, 1)
	for range 100 {
		right := 0.0
		for k, x := range points {
			side := dot(truth, x)
			if k < 300 {
				right += 0.5 + 0.5*math.Copysign(1, side*dot(weights, x))
				continue
			}
			if random.Float64() < 0.02*float64(i) {
				side = -side
			}
			if random.Float64() < 0.1 && side*dot(weights, x) <= 0 {
				for d := range x {
					weights[d] += math.Copysign(1, side) * x[d]
				}
			}
		}
		all = append(all, right/300)
	}
	return all
}

// distillation follows a random network with a rate that falls as one over time.
func distillation(i int, random *rand.Rand) []float64 {
	var e examples
	teacher := newNetwork(random, 2, 6, 8, 2)
	for range 200 {
		x := normals(random, 1, 6, 1)[0]
		teacher.forward(x)
		e.inputs, e.targets = append(e.inputs, x), append(e.targets, teacher.values[2])
	}
	fall := func(part float64) float64 { return 1 / (1 + 20*part) }
	s := lesson{e, newNetwork(random, 0.5, 6, 12, 2), optimizer{rate: 0.02 * pow(2, i), momentum: 0.5}, fall, 80 + 40*i, 10}
	return s.losses(random)
}

// overfitting is the loss on examples that were held back, which rises again.
func overfitting(i int, random *rand.Rand) (all []float64) {
	e := clusters(random, 300, 8, 3, 1+0.3*float64(i))
	n := newNetwork(random, 1, 8, 24, 3)
	n.classes = true
	s := lesson{examples{e.inputs[:100], e.targets[:100]}, n, optimizer{rate: 0.02, momentum: 0.9}, nil, 1, 10}
	for range 120 {
		s.losses(random)
		sum := 0.0
		for k := 100; k < 300; k++ {
			n.forward(e.inputs[k])
			loss, _ := n.loss(e.targets[k])
			sum += loss
		}
		all = append(all, sum/200)
	}
	return all
}
