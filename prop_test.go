// This file tests the arithmetic against math/big, and the text form against itself, on random
// vectors.

package apportion_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
)

func bigInt(x int64) *big.Int { return big.NewInt(x) }

// Count is the largest number of copies that FitsIn: one more does not fit, or does not exist.
func TestPropCountIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		demand, room := pair(t)
		n := demand.CountIn(room)
		if demand.IsZero() {
			if n != maxInt {
				t.Fatalf("%v.CountIn(%v) = %d", demand, room, n)
			}
			return
		}
		if n < 0 || !timesFits(n, demand, room) || timesFits(n+1, demand, room) {
			t.Fatalf("%v.CountIn(%v) = %d is not the most", demand, room, n)
		}
		if (n >= 1) != demand.FitsIn(room) {
			t.Fatalf("%v.CountIn(%v) = %d, FitsIn %v", demand, room, n, demand.FitsIn(room))
		}
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
		if kind != want {
			t.Fatalf("%v of %v: kind %d, want %d", r, total, kind, want)
		}
		wantShare := 0.0
		if want >= 0 {
			wantShare = float64(r[want]) / float64(total[want])
		}
		if share != wantShare {
			t.Fatalf("%v of %v: share %g, want %g", r, total, share, wantShare)
		}
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
