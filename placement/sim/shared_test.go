// This file tests how a worker's CPU is shared.

package sim

import (
	"testing"

	"pgregory.net/rapid"
)

// Shares add up exactly, nobody gets more than its demand, limits hold while others can use what is
// left, and a job gets no less than another that claims no more.
func TestPropDivide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 6).Draw(t, "n")
		one := rapid.Custom(func(t *rapid.T) int64 { return rapid.Int64Range(0, Whole).Draw(t, "share") })
		limits := rapid.SliceOfN(one, n, n).Draw(t, "limits")
		demands := rapid.SliceOfN(one, n, n).Draw(t, "demands")
		capacity := one.Draw(t, "capacity")
		got := Divide(capacity, limits, demands)
		var sum, wanted, claimed int64
		for i := range got {
			if got[i] < 0 || got[i] > demands[i] {
				t.Fatalf("job %d gets %d of a demand of %d", i, got[i], demands[i])
			}
			sum += got[i]
			wanted += demands[i]
			claimed += min(limits[i], demands[i])
		}
		if want := min(capacity, wanted); sum != want {
			t.Fatalf("shares add up to %d, want %d", sum, want)
		}
		for i := range got {
			if claimed >= capacity && got[i] > limits[i] {
				t.Fatalf("job %d gets %d above its limit of %d while others are short", i, got[i], limits[i])
			}
			for k := range got {
				if limits[i] >= limits[k] && demands[i] >= demands[k] && got[i] < got[k]-2 {
					t.Fatalf("job %d gets %d, job %d that claims no more %d", i, got[i], k, got[k])
				}
			}
		}
	})
}
