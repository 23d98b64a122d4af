// This file tests the weights of cuts against trying every set of them.

package lagrange

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawWeights draws up to six cuts in up to four dimensions, often more of them than a simplex has corners, so
// that systems are singular, and starts from the first one.
func drawWeights(t *rapid.T) *weights {
	n, dim := rapid.IntRange(1, 6).Draw(t, "cuts"), rapid.IntRange(1, 4).Draw(t, "components")
	q := &weights{t: rapid.SampledFrom([]float64{0.1, 1, 20}).Draw(t, "t"), w: make([]float64, n)}
	q.w[0] = 1
	slopes := make([][]float64, n)
	for i := range slopes {
		for range dim {
			slopes[i] = append(slopes[i], float64(rapid.IntRange(-3, 3).Draw(t, "slope")))
		}
		q.linear = append(q.linear, float64(rapid.IntRange(-4, 4).Draw(t, "linear"))/2)
		q.size = math.Max(q.size, dot(slopes[i], slopes[i]))
	}
	for i := range slopes {
		q.gram = append(q.gram, nil)
		for j := range slopes {
			q.gram[i] = append(q.gram[i], dot(slopes[i], slopes[j]))
		}
	}
	return q
}

// value returns what q maximizes, at w.
func (q *weights) value(w []float64) float64 {
	var sum float64
	for i := range w {
		sum += q.linear[i] * w[i]
		for j := range w {
			sum -= q.t / 2 * q.gram[i][j] * w[i] * w[j]
		}
	}
	return sum
}

// best returns the maximum by coordinates: every pair of cuts exchanges weight until none gains.
func (q *weights) best() float64 {
	w := make([]float64, len(q.w))
	w[0] = 1
	for range 20_000 {
		moved := false
		for i := range w {
			for j := range w {
				curve := q.t * (q.gram[i][i] + q.gram[j][j] - 2*q.gram[i][j])
				rise := q.linear[i] - q.linear[j]
				for k := range w {
					rise -= q.t * (q.gram[i][k] - q.gram[j][k]) * w[k]
				}
				if step := math.Min(w[j], rise/math.Max(curve, 1e-12)); step > 1e-12 {
					w[i], w[j], moved = w[i]+step, w[j]-step, true
				}
			}
		}
		if !moved {
			break
		}
	}
	return q.value(w)
}

// The weights are those of the maximum, wherever they begin.
func TestWeightsAgainstPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawWeights(t)
		want := q.best()
		for range 2 {
			q.solve(1e-12)
			var sum float64
			for _, w := range q.w {
				sum += w
			}
			if math.Abs(sum-1) > 1e-9 || slices.Min(q.w) < 0 {
				t.Fatalf("weights %v", q.w)
			}
			if got := q.value(q.w); math.Abs(got-want) > 1e-6 {
				t.Fatalf("weights %v are worth %.9g, the best %.9g", q.w, got, want)
			}
			// Again from the last cut.
			clear(q.w)
			q.w[len(q.w)-1] = 1
		}
	})
}

// What enters must gain more than the tolerance.
func TestWeightsTolerance(t *testing.T) {
	for tolerance, want := range map[float64]float64{1e-9: 1, 0.2: 0} {
		q := &weights{t: 1, w: []float64{1, 0}, linear: []float64{0, 0.1}, gram: [][]float64{{0, 0}, {0, 0}}}
		if q.solve(tolerance); math.Abs(q.w[1]-want) > 1e-9 {
			t.Errorf("tolerance %g: weights %v", tolerance, q.w)
		}
	}
}
