// This file tests that units do not matter.

package growth_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/growth"
)

// Values times a factor, and mirrored with their direction, lead to the same verdicts.
func TestPropUnitsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		factor := rapid.SampledFrom([]float64{1e-9, 0.5, 1e12, -1, -1e6}).Draw(t, "factor")
		// Thousandths: of values that differ in the last bit a factor makes equal ones.
		thousandth := rapid.Map(rapid.IntRange(-8000, 8000), func(i int) float64 { return float64(i) / 1000 })
		values := rapid.SliceOfN(thousandth, 3, 80).Draw(t, "values")
		var a, b growth.Series
		a.Toward(growth.SmallerIsBetter)
		b.Toward(growth.SmallerIsBetter)
		if factor < 0 {
			b = growth.Series{}
			b.Toward(growth.LargerIsBetter)
		}
		prospect := growth.Prospect{Alpha: 0.05}
		for i, v := range values {
			at := time.Duration(i) * 10 * second
			x, y := growth.Judge(prospect, &a, a.Add(at, v, growth.Used(1))), growth.Judge(prospect, &b, b.Add(at, v*factor, growth.Used(1)))
			e, _ := a.Evidence()
			odds := math.Log(4 * e.Chance(0.05) / (1 - e.Chance(0.05)))
			close := math.Abs(odds) < 1e-3 || math.Abs(odds-4*math.Ln2) < 1e-3
			if x != y && !close {
				t.Fatalf("reading %d: %v, in another unit %v", i, x, y)
			}
		}
	})
}
