// This file draws tables of cost and problems for the property tests.

package schedule

import (
	"math/rand/v2"

	"pgregory.net/rapid"
)

// ratio is b and B of a job: y workers need ceil(y b/B) parameter servers.
type ratio struct{ b, B int64 }

func (r ratio) PSFor(y int64) int64 { return CeilMulDiv(y, r.b, r.B) }

func fromSeed(seed uint64) func(low, high int) int {
	rng := rand.New(rand.NewPCG(seed, 1))
	return func(low, high int) int { return low + rng.IntN(high-low+1) }
}

// drawTable draws a table of cost that starts at 0 and never falls.
func drawTable(t *rapid.T, most int) []float64 {
	table := []float64{0}
	for _, step := range rapid.SliceOfN(rapid.IntRange(0, 12), 0, most).Draw(t, "steps") {
		table = append(table, table[len(table)-1]+float64(step)/4)
	}
	return table
}
