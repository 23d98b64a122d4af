// This file lists the trainings that the judge adds to recorded runs, by family.

package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/apportion/apportion/growth"
)

// family is a kind of training. Run returns the readings of one that i, from 0, tells from the others.
type family struct {
	name   string
	better growth.Direction
	run    func(i int, random *rand.Rand) []float64
}

// perFamily is how many runs each family has.
const perFamily = 4

// trained runs trainings and returns their curves.
func trained(families []family) (all []*curve) {
	for f, kind := range families {
		for i := range perFamily {
			values := kind.run(i, rand.New(rand.NewPCG(uint64(i), uint64(len(kind.name)+31*f))))
			c := &curve{name: fmt.Sprint(kind.name, " ", i+1), family: kind.name, better: kind.better, values: values}
			for k := range values {
				c.at = append(c.at, float64(k)/float64(len(values)-1))
			}
			c.look()
			all = append(all, c)
		}
	}
	return all
}

// known are the families that weights are fitted to, each left out in turn.
var known = []family{
	{"clusters, momentum", growth.SmallerIsBetter, func(i int, random *rand.Rand) []float64 {
		return classify(i, random, optimizer{rate: 0.003 * pow(3, i), momentum: 0.9}, nil, 60+60*i)
	}},
	{"clusters, Adam", growth.SmallerIsBetter, func(i int, random *rand.Rand) []float64 {
		return classify(i+1, random, optimizer{rate: 0.001 * pow(2, i), adam: true}, nil, 200-40*i)
	}},
	{"rate in steps", growth.SmallerIsBetter, func(i int, random *rand.Rand) []float64 {
		return classify(i, random, optimizer{rate: 0.1, momentum: 0.9, decay: 1e-3}, steps(0.3+0.1*float64(i), 0.8), 100)
	}},
	{"warm restarts", growth.SmallerIsBetter, func(i int, random *rand.Rand) []float64 {
		return classify(i, random, optimizer{rate: 0.3, momentum: 0.8}, cosine(2+i), 120)
	}},
	{"cosine", growth.SmallerIsBetter, func(i int, random *rand.Rand) []float64 {
		return classify(i+2, random, optimizer{rate: 0.02 * pow(2, i), momentum: 0.9}, cosine(1), 150)
	}},
	{"diverging", growth.SmallerIsBetter, func(i int, random *rand.Rand) []float64 {
		rise := func(part float64) float64 { return 0.1 * math.Exp(8*part/(0.4+0.2*float64(i))) }
		return classify(i, random, optimizer{rate: 0.1, momentum: 0.5}, rise, 100)
	}},
	{"spirals", growth.SmallerIsBetter, spirals},
	{"parity", growth.SmallerIsBetter, parity},
	{"deep linear", growth.SmallerIsBetter, deepLinear},
	{"autoencoder", growth.SmallerIsBetter, autoencoder},
	{"oscillating", growth.SmallerIsBetter, oscillating},
	{"gradient descent", growth.SmallerIsBetter, descent},
	{"factorization", growth.SmallerIsBetter, factorization},
	{"Q-learning", growth.LargerIsBetter, qLearning},
	{"policy gradient", growth.LargerIsBetter, policyGradient},
	{"boosting", growth.SmallerIsBetter, boosting},
	{"next word", growth.SmallerIsBetter, nextWord},
	{"annealing", growth.SmallerIsBetter, annealing},
	{"mixture by EM", growth.SmallerIsBetter, mixture},
	{"evolution strategy", growth.SmallerIsBetter, evolution},
	{"perceptron", growth.LargerIsBetter, perceptron},
	{"distillation, rate 1/t", growth.SmallerIsBetter, distillation},
	{"label noise, held back", growth.SmallerIsBetter, overfitting},
}

func pow(x float64, i int) float64 { return math.Pow(x, float64(i)) }

// steps divides the rate by ten at each part.
func steps(at ...float64) func(float64) float64 {
	return func(part float64) float64 {
		factor := 1.0
		for _, a := range at {
			if part >= a {
				factor /= 10
			}
		}
		return factor
	}
}

// cosine anneals n times, [Loshchilov17].
func cosine(n int) func(float64) float64 {
	return func(part float64) float64 {
		_, within := math.Modf(part * float64(n))
		return (1 + math.Cos(math.Pi*within)) / 2
	}
}

// clusters are classes of points around centers that overlap.
func clusters(random *rand.Rand, n, dimensions, classes int, spread float64) (e examples) {
	centers := normals(random, classes, dimensions, 1)
	for i := range n {
		x, y := make([]float64, dimensions), make([]float64, classes)
		for k := range x {
			x[k] = centers[i%classes][k] + spread*random.NormFloat64()
		}
		y[i%classes] = 1
		e.inputs, e.targets = append(e.inputs, x), append(e.targets, y)
	}
	return e
}

func normals(random *rand.Rand, rows, columns int, scale float64) [][]float64 {
	m := make([][]float64, rows)
	for i := range m {
		m[i] = make([]float64, columns)
		for j := range m[i] {
			m[i][j] = scale * random.NormFloat64()
		}
	}
	return m
}

func classify(i int, random *rand.Rand, o optimizer, schedule func(float64) float64, epochs int) []float64 {
	n := newNetwork(random, 1, 8, 16, 5)
	n.classes = true
	s := lesson{clusters(random, 200, 8, 5, 0.8+0.3*float64(i%4)), n, o, schedule, epochs, 16}
	return s.losses(random)
}

func spirals(i int, random *rand.Rand) []float64 {
	var e examples
	for k := range 200 {
		t, side := float64(k/2)/100, float64(2*(k%2)-1)
		angle := 2 * math.Pi * t * (0.7 + 0.2*float64(i))
		e.inputs = append(e.inputs, []float64{side * t * math.Cos(angle), side * t * math.Sin(angle)})
		e.targets = append(e.targets, []float64{float64(k % 2), float64(1 - k%2)})
	}
	n := newNetwork(random, 1, 2, 16, 16, 2)
	n.classes = true
	s := lesson{e, n, optimizer{rate: 0.003 * float64(i+1), adam: true}, nil, 150, 20}
	return s.losses(random)
}

// parity improves late: nothing is learnt of single bits.
func parity(i int, random *rand.Rand) []float64 {
	bits := 4 + i%2
	var e examples
	for k := range 1 << bits {
		x, sum := make([]float64, bits), 0
		for b := range x {
			x[b] = float64(2*(k>>b&1) - 1)
			sum += k >> b & 1
		}
		e.inputs, e.targets = append(e.inputs, x), append(e.targets, []float64{float64(2*(sum%2) - 1)})
	}
	s := lesson{e, newNetwork(random, 0.5, bits, 16, 1), optimizer{rate: 0.02 * float64(1+i/2), momentum: 0.9}, nil, 300, 4}
	return s.losses(random)
}

// deepLinear learns one direction after another, with plateaus between, [Saxe14].
func deepLinear(i int, random *rand.Rand) []float64 {
	var e examples
	teacher := normals(random, 6, 6, 1)
	for k := range teacher {
		for j := range teacher[k] {
			teacher[k][j] *= math.Pow(0.5, float64(j))
		}
	}
	for range 100 {
		x, y := normals(random, 1, 6, 1)[0], make([]float64, 6)
		for k := range y {
			for j := range x {
				y[k] += teacher[k][j] * x[j]
			}
		}
		e.inputs, e.targets = append(e.inputs, x), append(e.targets, y)
	}
	n := newNetwork(random, 0.02*float64(i+1), 6, 6, 6, 6)
	n.linear = true
	s := lesson{e, n, optimizer{rate: 0.01 * float64(1+i%2)}, nil, 200 + 50*i, 10}
	return s.losses(random)
}

func autoencoder(i int, random *rand.Rand) []float64 {
	var e examples
	basis := normals(random, 4, 16, 0.5)
	for range 150 {
		x := make([]float64, 16)
		for _, b := range basis {
			a := random.NormFloat64()
			for k := range x {
				x[k] += a * b[k]
			}
		}
		e.inputs = append(e.inputs, x)
	}
	e.targets = e.inputs
	o := optimizer{rate: 0.002 * float64(i+1), adam: i%2 == 0, momentum: 0.9}
	s := lesson{e, newNetwork(random, 0.5, 16, 3+i, 16), o, nil, 80 + 40*i, 15}
	return s.losses(random)
}

// oscillating is gradient descent with too much momentum.
func oscillating(i int, random *rand.Rand) []float64 {
	return valley{20, 1e3, 1.2, 0.9 + 0.025*float64(i)}.descend(random, 200)
}

// descent is slow along flat directions: progress follows a power law.
func descent(i int, random *rand.Rand) []float64 {
	return valley{50, math.Pow(10, float64(2+i)), 1.5, 0}.descend(random, 100+100*i)
}

// valley is a sum of squares in n dimensions of some condition, and how it is descended.
type valley struct {
	n                         int
	condition, rate, momentum float64
}

// descend returns the square root of the sum at each step.
func (q valley) descend(random *rand.Rand, count int) (all []float64) {
	x, v := normals(random, 1, q.n, 1)[0], make([]float64, q.n)
	for range count {
		sum := 0.0
		for k := range x {
			curvature := math.Pow(q.condition, -float64(k)/float64(q.n-1))
			sum += curvature * x[k] * x[k]
			v[k] = q.momentum*v[k] - q.rate*curvature*x[k]
		}
		for k := range x {
			x[k] += v[k]
		}
		all = append(all, math.Sqrt(sum))
	}
	return all
}

// factorization completes a matrix by stochastic gradients and returns the error on what was held back.
func factorization(i int, random *rand.Rand) (all []float64) {
	const n, rank = 30, 3
	left, right := normals(random, n, rank, 1), normals(random, n, rank, 1)
	a, b := normals(random, n, rank+i, 0.1), normals(random, n, rank+i, 0.1)
	rate := 0.005 * float64(i+1)
	for range 100 {
		sum, count := 0.0, 0.0
		for r := range n {
			for c := range n {
				truth := dot(left[r], right[c]) + 0.3*random.NormFloat64()
				miss := truth - dot(a[r], b[c])
				if (7*r+3*c)%5 == 0 {
					sum, count = sum+miss*miss, count+1
					continue
				}
				for k := range a[r] {
					a[r][k], b[c][k] = a[r][k]+rate*miss*b[c][k], b[c][k]+rate*miss*a[r][k]
				}
			}
		}
		all = append(all, math.Sqrt(sum/count))
	}
	return all
}

func dot(a, b []float64) (sum float64) {
	for k := range a {
		sum += a[k] * b[k]
	}
	return sum
}

// qLearning walks through a grid to a corner; a reading is the mean return of the newest 20 episodes.
func qLearning(i int, random *rand.Rand) (all []float64) {
	size := 5 + i
	q := normals(random, size*size, 4, 0)
	for range 120 {
		sum := 0.0
		for range 20 {
			at := 0
			for step := 0; step < 8*size && at != size*size-1; step++ {
				action := random.IntN(4)
				if random.Float64() > 0.1 {
					for a := range q[at] {
						if q[at][a] > q[at][action] {
							action = a
						}
					}
				}
				row, column := at/size, at%size
				row = min(max(row+[]int{1, -1, 0, 0}[action], 0), size-1)
				column = min(max(column+[]int{0, 0, 1, -1}[action], 0), size-1)
				to := row*size + column
				best := max(q[to][0], q[to][1], q[to][2], q[to][3])
				q[at][action] += 0.05 * (-1 + 0.97*best - q[at][action])
				at = to
				sum--
			}
		}
		all = append(all, sum/20)
	}
	return all
}

// policyGradient is REINFORCE [Williams92] on a bandit of many arms.
func policyGradient(i int, random *rand.Rand) (all []float64) {
	arms := 10 * (i + 1)
	worth, preference := normals(random, 1, arms, 1)[0], make([]float64, arms)
	baseline := 0.0
	for range 150 {
		sum := 0.0
		for range 20 {
			chances, total := make([]float64, arms), 0.0
			for k, p := range preference {
				chances[k] = math.Exp(p)
				total += chances[k]
			}
			draw, chosen := random.Float64()*total, 0
			for chosen < arms-1 && draw > chances[chosen] {
				draw -= chances[chosen]
				chosen++
			}
			reward := worth[chosen] + 0.5*random.NormFloat64()
			for k := range preference {
				preference[k] -= 0.03 * (reward - baseline) * chances[k] / total
			}
			preference[chosen] += 0.03 * (reward - baseline)
			baseline += 0.01 * (reward - baseline)
			sum += worth[chosen]
		}
		all = append(all, sum/20)
	}
	return all
}

// boosting adds stumps to the residuals of a regression, [Friedman01].
func boosting(i int, random *rand.Rand) (all []float64) {
	x, rest := make([]float64, 150), make([]float64, 150)
	for k := range x {
		x[k] = random.Float64()
		rest[k] = math.Sin(8*x[k]) + 0.2*float64(i)*random.NormFloat64()
	}
	for range 80 + 40*i {
		squares, cut := 0.0, random.Float64()
		var sum, count [2]float64
		side := func(v float64) int {
			if v > cut {
				return 1
			}
			return 0
		}
		for k, r := range rest {
			squares += r * r
			sum[side(x[k])] += r
			count[side(x[k])]++
		}
		for k := range rest {
			s := side(x[k])
			rest[k] -= 0.3 * sum[s] / max(count[s], 1)
		}
		all = append(all, squares/float64(len(rest)))
	}
	return all
}

// nextWord predicts words from the one before, of a chain whose words are as frequent as those of a text.
func nextWord(i int, random *rand.Rand) []float64 {
	const words = 20
	var e examples
	word := 0
	follows := random.Perm(words)
	for range 300 {
		x, y := make([]float64, words), make([]float64, words)
		x[word] = 1
		word = follows[word]
		if random.Float64() < 0.4 {
			word = int(math.Exp(random.Float64()*math.Log(words))) - 1
		}
		y[word] = 1
		e.inputs, e.targets = append(e.inputs, x), append(e.targets, y)
	}
	n := newNetwork(random, 0.1, words, words)
	n.classes = true
	s := lesson{e, n, optimizer{rate: 0.02 * pow(4, i)}, nil, 100, 10}
	return s.losses(random)
}
