// This file implements the shapes of learning curves that a history is compared with; it is not in the
// thesis.

package growth

import "math"

// shape is a curve that falls from 1, by the part x of the run so far: exp(-x/scale) where power is 0,
// (1 + x/scale)^-power otherwise.
type shape struct{ power, scale, weight float64 }

// shapes are what is known of learning curves before one is seen: exponentials that take from
// twice the run to a twenty-fifth of it, and power laws, which go on long after. A weight is half as large
// for a power law, of which there are more that look alike.
var shapes = [...]shape{
	{0, 2, 1}, {0, 0.7, 1}, {0, 0.4, 1}, {0, 0.25, 1}, {0, 0.15, 1}, {0, 0.08, 1}, {0, 0.04, 1},
	{0.5, 0.1, 0.5}, {0.5, 0.03, 0.5}, {0.5, 0.01, 0.5}, {1, 0.1, 0.5}, {1, 0.03, 0.5}, {1, 0.01, 0.5},
	{2, 0.1, 0.5}, {2, 0.03, 0.5}, {2, 0.01, 0.5},
}

// at returns the value of a shape.
func (s shape) at(x float64) float64 {
	if s.power == 0 {
		return math.Exp(-x / s.scale)
	}
	return math.Pow(1+x/s.scale, -s.power)
}

// cells is the number of cells of a table of a shape over [0, 1]. Between them lie straight lines, which
// are off by 0.0003 at most.
const cells = 512

// drawn is a shape as a table, and what it says of its beginning, the present and a run of twice the
// length.
type drawn struct {
	table       [cells + 1]float64
	now, double float64
	weight      float64
}

// gallery holds the shapes, drawn once.
var gallery = func() (all [len(shapes)]drawn) {
	for i, s := range shapes {
		for j := range all[i].table {
			all[i].table[j] = s.at(float64(j) / cells)
		}
		all[i].now, all[i].double, all[i].weight = s.at(1), s.at(2), s.weight
	}
	return all
}()
