// This file makes the samples of a job from its seed.

package train

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// They are small: what the scheduler does is the point, and not the model.
const (
	features = 12
	samples  = 2048
	batch    = 64
)

// data are samples with a label of 0 or 1.
type data struct {
	x *mat.Dense // samples x features
	y []float64
}

// newData draws samples around the zero of a function with a bend, which a straight line separates badly
// and a small network well. A tenth of the labels is noise.
func newData(seed uint64) *data {
	random := rand.New(rand.NewPCG(seed, 0))
	d := &data{x: mat.NewDense(samples, features, nil), y: make([]float64, samples)}
	slope := make([]float64, features)
	for k := range slope {
		slope[k] = random.NormFloat64()
	}
	for i := range samples {
		row := d.x.RawRowView(i)
		for k := range row {
			row[k] = random.NormFloat64()
		}
		above := floats.Dot(slope, row)+float64(2*math.Abs(row[0]))-1 > 0
		if above != (random.Float64() < 0.1) {
			d.y[i] = 1
		}
	}
	return d
}

// batchOf returns the samples of a step that belong to a process: every size-th of the batch.
func (d *data) batchOf(seed uint64, step int64, rank, size int) (x *mat.Dense, y []float64) {
	random := rand.New(rand.NewPCG(seed, uint64(step)+1))
	var picked []int
	for i := range batch {
		if sample := random.IntN(samples); i%size == rank {
			picked = append(picked, sample)
		}
	}
	if len(picked) == 0 {
		return nil, nil // more processes than samples
	}
	x, y = mat.NewDense(len(picked), features, nil), make([]float64, len(picked))
	for i, sample := range picked {
		x.SetRow(i, d.x.RawRowView(sample))
		y[i] = d.y[sample]
	}
	return x, y
}
