// This file implements a small training job: a network with one hidden layer, by stochastic gradient
// descent.

// Package train is a training job that uses one CPU and prints its loss.
package train

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
)

// Job says what to train.
type Job struct {
	// Epochs is how often the samples are seen; Hidden the size of the hidden layer; both positive.
	Epochs, Hidden int
	// Rate is the learning rate: a small one makes the loss fall for longer.
	Rate float64
	// Seed makes the samples and the first weights.
	Seed uint64
}

// An epoch takes about two milliseconds.
const (
	inputs  = 16
	samples = 512
)

// network computes out . tanh(in x).
// in has a row for each hidden unit.
type network struct {
	in  [][inputs]float64
	out []float64
	act []float64 // of the hidden layer at the newest sample
}

// Run trains and writes "epoch loss" after every epoch; the loss is the mean squared error over the
// samples of that epoch. The same job writes the same, whatever else runs.
func Run(w io.Writer, job Job) error {
	if job.Epochs < 1 || job.Hidden < 1 || !(job.Rate > 0 && job.Rate < 1) {
		return errors.New("train: epochs and hidden must be positive, rate in (0, 1)")
	}
	random := rand.New(rand.NewPCG(job.Seed, 1))
	x, y := data(random)
	n := newNetwork(random, job.Hidden)
	for epoch := range job.Epochs {
		loss := 0.0
		for i := range x {
			loss += n.learn(&x[i], y[i], job.Rate)
		}
		if _, err := fmt.Fprintf(w, "%d %g\n", epoch+1, loss/samples); err != nil {
			return err
		}
	}
	return nil
}

// data makes samples of a function that a small network can learn.
func data(random *rand.Rand) (x [][inputs]float64, y []float64) {
	x, y = make([][inputs]float64, samples), make([]float64, samples)
	for i := range x {
		for k := range x[i] {
			x[i][k] = random.NormFloat64()
		}
		y[i] = math.Sin(x[i][0]+x[i][1]) + float64(0.5*x[i][2])
	}
	return x, y
}

// The weights out begin at 0, so that the first prediction is 0.
func newNetwork(random *rand.Rand, hidden int) *network {
	n := &network{in: make([][inputs]float64, hidden), out: make([]float64, hidden), act: make([]float64, hidden)}
	for h := range n.in {
		for k := range n.in[h] {
			n.in[h][k] = random.NormFloat64() / math.Sqrt(inputs)
		}
	}
	return n
}

// learn makes one step of gradient descent and returns the squared error before it.
// It changes the weights in place. Products are rounded before they are added, so that every machine learns
// alike.
func (n *network) learn(x *[inputs]float64, y, rate float64) float64 {
	predicted := 0.0
	for h := range n.in {
		sum := 0.0
		for k, value := range x {
			sum += float64(n.in[h][k] * value)
		}
		n.act[h] = math.Tanh(sum)
		predicted += float64(n.out[h] * n.act[h])
	}
	miss := predicted - y
	for h := range n.in {
		back := miss * n.out[h] * (1 - float64(n.act[h]*n.act[h]))
		n.out[h] -= float64(rate * miss * n.act[h])
		for k, value := range x {
			n.in[h][k] -= float64(rate * back * value)
		}
	}
	return miss * miss
}
