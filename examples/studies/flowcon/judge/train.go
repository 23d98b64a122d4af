// This file trains small networks in plain Go, by mini-batches: the trainings that the judge adds to recorded runs.

package main

import (
	"math"
	"math/rand/v2"
)

// network is a multilayer perceptron: weights[l] has a row for each unit of layer l+1, with its bias last.
type network struct {
	sizes   []int
	linear  bool // hidden units are linear
	classes bool // the loss is cross-entropy in place of the mean square
	weights [][]float64
	slopes  [][]float64
	values  [][]float64
}

func newNetwork(random *rand.Rand, scale float64, sizes ...int) *network {
	n := &network{sizes: sizes, values: make([][]float64, len(sizes))}
	for l := range len(sizes) - 1 {
		w := make([]float64, sizes[l+1]*(sizes[l]+1))
		for i := range w {
			w[i] = scale * random.NormFloat64() / math.Sqrt(float64(sizes[l]))
		}
		n.weights, n.slopes = append(n.weights, w), append(n.slopes, make([]float64, len(w)))
	}
	return n
}

// forward fills the values of all layers.
func (n *network) forward(input []float64) {
	n.values[0] = input
	for l, w := range n.weights {
		in, out := n.values[l], make([]float64, n.sizes[l+1])
		for j := range out {
			row := w[j*(len(in)+1):]
			out[j] = row[len(in)]
			for i, v := range in {
				out[j] += row[i] * v
			}
			if l+1 < len(n.weights) && !n.linear {
				out[j] = math.Tanh(out[j])
			}
		}
		n.values[l+1] = out
	}
}

// loss returns the loss of an example and its slopes by the outputs.
func (n *network) loss(target []float64) (loss float64, slopes []float64) {
	out := n.values[len(n.values)-1]
	slopes = make([]float64, len(out))
	if !n.classes {
		for j := range out {
			slopes[j] = out[j] - target[j]
			loss += slopes[j] * slopes[j] / 2
		}
		return loss, slopes
	}
	largest, sum := out[0], 0.0
	for _, v := range out {
		largest = max(largest, v)
	}
	for _, v := range out {
		sum += math.Exp(v - largest)
	}
	for j, v := range out {
		p := math.Exp(v-largest) / sum
		slopes[j] = p - target[j]
		loss -= target[j] * math.Log(p+1e-300)
	}
	return loss, slopes
}

// backward adds the slopes of an example and returns its loss.
func (n *network) backward(input, target []float64) float64 {
	n.forward(input)
	loss, slopes := n.loss(target)
	for l := len(n.weights) - 1; l >= 0; l-- {
		in, before := n.values[l], make([]float64, n.sizes[l])
		for j, slope := range slopes {
			row, sum := n.weights[l][j*(len(in)+1):], n.slopes[l][j*(len(in)+1):]
			sum[len(in)] += slope
			for i, v := range in {
				sum[i] += slope * v
				before[i] += slope * row[i]
			}
		}
		for i, v := range in {
			if l > 0 && !n.linear {
				before[i] *= 1 - v*v
			}
		}
		slopes = before
	}
	return loss
}

// optimizer changes weights by their slopes: momentum, or Adam [Kingma15] with adam. Decay is of the weights.
type optimizer struct {
	rate, momentum, decay float64
	adam                  bool
	first, second         [][]float64
	steps                 int
}

func (o *optimizer) step(n *network, batch, factor float64) {
	if o.first == nil {
		for _, w := range n.weights {
			o.first, o.second = append(o.first, make([]float64, len(w))), append(o.second, make([]float64, len(w)))
		}
	}
	o.steps++
	for l, w := range n.weights {
		for i := range w {
			slope := n.slopes[l][i]/batch + o.decay*w[i]
			n.slopes[l][i] = 0
			if !o.adam {
				o.first[l][i] = o.momentum*o.first[l][i] + slope
				w[i] -= o.rate * factor * o.first[l][i]
				continue
			}
			o.first[l][i] += 0.1 * (slope - o.first[l][i])
			o.second[l][i] += 0.001 * (slope*slope - o.second[l][i])
			mean := o.first[l][i] / (1 - math.Pow(0.9, float64(o.steps)))
			square := o.second[l][i] / (1 - math.Pow(0.999, float64(o.steps)))
			w[i] -= o.rate * factor * mean / (math.Sqrt(square) + 1e-8)
		}
	}
}

// examples are inputs and targets.
type examples struct{ inputs, targets [][]float64 }

// lesson is a training: epochs over examples, with a factor of the rate by the part that is done.
type lesson struct {
	examples  examples
	network   *network
	optimizer optimizer
	schedule  func(part float64) float64
	epochs    int
	batch     int
}

// losses returns the mean loss of each epoch, as a training loop prints it.
func (s *lesson) losses(random *rand.Rand) (all []float64) {
	for epoch := range s.epochs {
		sum := 0.0
		order := random.Perm(len(s.examples.inputs))
		for at := 0; at < len(order); at += s.batch {
			batch := order[at:min(at+s.batch, len(order))]
			for _, i := range batch {
				sum += s.network.backward(s.examples.inputs[i], s.examples.targets[i])
			}
			factor := 1.0
			if s.schedule != nil {
				factor = s.schedule((float64(epoch) + float64(at)/float64(len(order))) / float64(s.epochs))
			}
			s.optimizer.step(s.network, float64(len(batch)), factor)
		}
		all = append(all, sum/float64(len(order)))
	}
	return all
}
