// This file tests the arithmetic against math/big, and the text form against itself, on random
// vectors.

package apportion_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

func bigInt(x int64) *big.Int { return big.NewInt(x) }

// Count is the largest number of copies that FitsIn: one more does not fit, or does not exist.
func TestPropCountIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		demand, room := pair(t)
		n := demand.CountIn(room)
		if demand.IsZero() {
			must.Equal(t, n, maxInt, demand, ".CountIn(", room)
			return
		}
		if n < 0 || !timesFits(n, demand, room) || timesFits(n+1, demand, room) {
			t.Fatalf("%v.CountIn(%v) = %d is not the most", demand, room, n)
		}
		must.Equal(t, n >= 1, demand.FitsIn(room), demand, ".CountIn(", room, n, "FitsIn")
	})
}

// timesFits computes in big integers; n may be MaxInt64+1 written as MinInt64.
func timesFits(n int64, demand, room apportion.Resources) bool {
	times := new(big.Int).SetUint64(uint64(n))
	for k := range demand {
		if new(big.Int).Mul(times, bigInt(demand[k])).Cmp(bigInt(room[k])) > 0 {
			return false
		}
	}
	return true
}

// DominantShare names the first kind whose fraction no other exceeds, compared as fractions.
func TestPropDominantShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, total := pair(t)
		var most *big.Rat
		want := -1
		for k := range r {
			if r[k] == 0 || total[k] == 0 {
				continue
			}
			if f := big.NewRat(r[k], total[k]); most == nil || f.Cmp(most) > 0 {
				most, want = f, k
			}
		}
		share, kind := r.DominantShare(total)
		must.Equal(t, kind, want, r, "of", total, "kind")
		wantShare := 0.0
		if want >= 0 {
			wantShare = float64(r[want]) / float64(total[want])
		}
		must.Equal(t, share, wantShare, r, "of", total, "share")
	})
}

// What Format writes, Parse reads back.
func TestPropTextForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := apportion.Kinds(rapid.SliceOfNDistinct(rapid.String(), 1, 6, rapid.ID[string]).Draw(t, "kinds"))
		if kinds.Validate() != nil {
			t.Skip("names that Validate refuses")
		}
		r := resources(len(kinds)).Draw(t, "r")
		got, err := kinds.Parse(kinds.Format(r))
		if err != nil || !got.Equal(r) {
			t.Fatalf("Parse(%q) = %v, %v, want %v", kinds.Format(r), got, err, r)
		}
	})
}
