// This file compares the two ways to hand out whole containers, and checks what the definition of
// max-min fairness says of the divisible one.

package drforacle

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// random draws a small cluster with claims whose demands, weights and bounds often coincide, so that there
// are ties, kinds that nobody has, and minima that do not fit.
func random(rng *rand.Rand) (capacity []int64, claims []Claim) {
	for range 1 + rng.IntN(3) {
		capacity = append(capacity, rng.Int64N(30))
	}
	for i := range 1 + rng.IntN(5) {
		c := Claim{ID: fmt.Sprint(i), Weight: []float64{0.5, 1, 2}[rng.IntN(3)], Min: rng.Int64N(3)}
		c.Max = c.Min + rng.Int64N(20)
		for range capacity {
			c.Demand = append(c.Demand, rng.Int64N(4))
		}
		c.Demand[rng.IntN(len(capacity))]++ // nobody asks for nothing
		claims = append(claims, c)
	}
	rng.Shuffle(len(claims), func(i, j int) { claims[i], claims[j] = claims[j], claims[i] })
	return capacity, claims
}

// In bulk means: the same containers as one by one.
func TestWholeInBulk(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	dropped := 0
	for n := range 400 {
		capacity, claims := random(rng)
		for _, stop := range []bool{false, true} {
			want, floors := Whole(capacity, claims, stop)
			got, same := WholeInBulk(capacity, claims, stop)
			if !slices.Equal(got, want) || floors != same {
				t.Fatalf("%d: %v of %+v, stop %t: %v, one by one %v", n, capacity, claims, stop, got, want)
			}
			if !floors {
				dropped++
			}
		}
	}
	if dropped == 0 || dropped > 600 {
		t.Errorf("minima were dropped in %d of 800 fillings", dropped)
	}
}

// A number of containers that nobody would count out is found in no time.
func TestWholeInBulkOfMany(t *testing.T) {
	const n = 1 << 50
	got, floors := WholeInBulk([]int64{9 * n, 18 * n}, []Claim{
		{"A", []int64{1, 4}, 1, 0, 9 * n}, {"B", []int64{3, 1}, 1, 0, 9 * n},
	}, false)
	if !slices.Equal(got, []int64{3 * n, 2 * n}) || !floors {
		t.Errorf("%v, floors %t", got, floors)
	}
}

// In a max-min fair filling every claim has its maximum, or asks for a kind that is used up and of which
// nobody holds more than its minimum at a higher weighted share. ([Ghodsi11] §4, bottleneck fairness)
func TestFillIsMaxMin(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for n := range 300 {
		capacity, claims := random(rng)
		counts, floors := Fill(capacity, claims)
		for i, c := range claims {
			least := new(big.Rat)
			if floors {
				least = whole(c.Min)
			}
			switch {
			case unservable(capacity, c):
				if counts[i].Sign() != 0 {
					t.Fatalf("%d: %s of %+v has %v of what nobody has", n, c.ID, claims, counts[i])
				}
				continue
			case counts[i].Cmp(least) < 0 || counts[i].Cmp(whole(c.Max)) > 0:
				t.Fatalf("%d: %s of %+v has %v", n, c.ID, claims, counts[i])
			case counts[i].Cmp(whole(c.Max)) == 0:
				continue
			}
			if !stopped(capacity, claims, counts, i, floors) {
				t.Fatalf("%d: nothing stops %s of %+v in %v at %v", n, c.ID, claims, capacity, floats(counts))
			}
		}
	}
}

// stopped reports whether a kind that claim i asks for is used up by claims that have no more than i, or
// their minimum.
func stopped(capacity []int64, claims []Claim, counts []*big.Rat, i int, floors bool) bool {
	level := weighted(capacity, claims[i], counts[i])
	for k, q := range claims[i].Demand {
		if q == 0 {
			continue
		}
		switch left(capacity, claims, counts, k).Sign() {
		case -1:
			return false // more than there is
		case 1:
			continue
		}
		fair := true
		for j, other := range claims {
			if other.Demand[k] == 0 || unservable(capacity, other) {
				continue
			}
			atFloor := floors && counts[j].Cmp(whole(other.Min)) == 0
			fair = fair && (atFloor || weighted(capacity, other, counts[j]).Cmp(level) <= 0)
		}
		if fair {
			return true
		}
	}
	return false
}
