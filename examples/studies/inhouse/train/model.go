// This file implements the two models: their loss on some samples and its gradient.

package train

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// model is a function of parameters that are one flat vector.
type model interface {
	// start returns the first parameters.
	start(random *rand.Rand) []float64
	// gradient returns the sum of the losses over samples and adds its gradient to dst.
	gradient(dst, params []float64, x *mat.Dense, y []float64) float64
}

// newModel returns the model of a name; the error lists the names.
func newModel(name string) (model, error) {
	switch name {
	case "logistic":
		return logistic{}, nil
	case "network":
		return network{}, nil
	}
	return nil, fmt.Errorf("train: unknown model %q: logistic or network", name)
}

// crossEntropy returns the loss of a score for a label and its derivative.
func crossEntropy(score, label float64) (loss, slope float64) {
	// log(1 + exp(-|s|)) does not overflow.
	loss = math.Max(score, 0) - float64(score*label) + math.Log1p(math.Exp(-math.Abs(score)))
	return loss, 1/(1+math.Exp(-score)) - label
}

// logistic has one weight a feature and a bias.
type logistic struct{}

// All zero is as good as any start, as the loss is convex.
func (logistic) start(*rand.Rand) []float64 { return make([]float64, features+1) }

// x has a row for each label of y.
func (logistic) gradient(dst, params []float64, x *mat.Dense, y []float64) float64 {
	total := 0.0
	for i, label := range y {
		row := x.RawRowView(i)
		loss, slope := crossEntropy(floats.Dot(params[:features], row)+params[features], label)
		floats.AddScaled(dst[:features], slope, row)
		dst[features] += slope
		total += loss
	}
	return total
}

// hidden is the size of the network's hidden layer.
const hidden = 16

// network computes out . tanh(in x + bias): the weights in, one row a hidden unit, their biases, the
// weights out.
type network struct{}

// Zero would leave all hidden units alike for ever, so that it draws them.
func (network) start(random *rand.Rand) []float64 {
	params := make([]float64, hidden*features+hidden+hidden)
	for i := range params {
		params[i] = random.NormFloat64() / math.Sqrt(features)
	}
	return params
}

// The hidden layer is computed for all samples at once, the slopes sample by sample.
func (network) gradient(dst, params []float64, x *mat.Dense, y []float64) float64 {
	const biases, outs = hidden * features, hidden*features + hidden
	in := mat.NewDense(hidden, features, params[:biases])
	out, bias := params[outs:], params[biases:outs]
	var act mat.Dense // samples x hidden
	act.Mul(x, in.T())
	act.Apply(func(_, h int, v float64) float64 { return math.Tanh(v + bias[h]) }, &act)
	total := 0.0
	back := make([]float64, hidden) // the slope of the loss at the input of each hidden unit
	for i, label := range y {
		row := act.RawRowView(i)
		loss, slope := crossEntropy(floats.Dot(out, row), label)
		total += loss
		floats.AddScaled(dst[outs:], slope, row)
		for h, a := range row {
			back[h] = slope * out[h] * (1 - float64(a*a))
			floats.AddScaled(dst[h*features:(h+1)*features], back[h], x.RawRowView(i))
		}
		floats.Add(dst[biases:outs], back)
	}
	return total
}
