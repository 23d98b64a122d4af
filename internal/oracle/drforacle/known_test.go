// This file changes inputs of the twin in ways whose effect on a fair division is known, and tests its parts.

package drforacle

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// same compares rational counts.
func same(a, b []*big.Rat) bool {
	return slices.EqualFunc(a, b, func(x, y *big.Rat) bool { return x.Cmp(y) == 0 })
}

// Other units of a kind, twice every weight, the claims in another order, and a kind that nobody wants change no
// count; twice the cluster without bounds doubles every count.
func TestKnownChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for n := range 200 {
		capacity, claims := random(rng)
		want, floors := Fill(capacity, claims)
		whole, _ := Whole(capacity, claims, false)
		check := func(what string, capacity []int64, claims []Claim) {
			t.Helper()
			got, kept := Fill(capacity, claims)
			containers, _ := Whole(capacity, claims, false)
			if !same(got, want) || kept != floors || !slices.Equal(containers, whole) {
				t.Fatalf("%d: %s: %v and %v, as it was %v and %v", n, what, floats(got), containers, floats(want), whole)
			}
		}
		units, unitClaims := slices.Clone(capacity), cloned(claims)
		units[0] *= 7
		for i := range unitClaims {
			unitClaims[i].Demand[0] *= 7
		}
		check("the first kind in sevenths", units, unitClaims)
		heavy := cloned(claims)
		for i := range heavy {
			heavy[i].Weight *= 2
		}
		check("twice the weights", capacity, heavy)
		idle, idleClaims := append(slices.Clone(capacity), 5), cloned(claims)
		for i := range idleClaims {
			idleClaims[i].Demand = append(idleClaims[i].Demand, 0)
		}
		check("a kind that nobody wants", idle, idleClaims)
		slices.Reverse(want)
		slices.Reverse(whole)
		reversed := cloned(claims)
		slices.Reverse(reversed)
		check("the other way round", capacity, reversed)
	}
}

// Without bounds a cluster of twice the size gives everybody twice as much.
func TestTwiceTheCluster(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for n := range 100 {
		capacity, claims := random(rng)
		for i := range claims {
			claims[i].Min, claims[i].Max = 0, unbounded
		}
		want, _ := Fill(capacity, claims)
		twice := slices.Clone(capacity)
		for k := range twice {
			twice[k] *= 2
		}
		got, _ := Fill(twice, claims)
		for i := range want {
			want[i].Add(want[i], want[i])
		}
		if !same(got, want) {
			t.Fatalf("%d: %v of twice %v, want %v", n, floats(got), capacity, floats(want))
		}
	}
}

// cloned copies claims with their demands.
func cloned(claims []Claim) []Claim {
	out := slices.Clone(claims)
	for i := range out {
		out[i].Demand = slices.Clone(out[i].Demand)
	}
	return out
}

// The parts: what is left of a kind, the dominant share of a container and its pace, who comes first.
func TestParts(t *testing.T) {
	capacity := []int64{9, 18, 0}
	a, b := claim("A", 1, 4, 0), claim("B", 3, 1, 0)
	b.Weight = 0.5
	claims, counts := []Claim{a, b}, []*big.Rat{big.NewRat(3, 2), big.NewRat(1, 1)}
	for what, got := range map[string]*big.Rat{
		"9/2":  left(capacity, claims, counts, 0),
		"11/1": left(capacity, claims, counts, 1),
		"0/1":  left(capacity, claims, counts, 2),
		"2/9":  delta(capacity, a),
		"1/3":  delta(capacity, b),
		"3/2":  pace(capacity, b),
		"2/3":  weighted(capacity, b, counts[1]),
	} {
		if got.String() != what {
			t.Errorf("%s, want %s", got, what)
		}
	}
	for what, got := range map[string]bool{
		"fewer":                    before(capacity, a, big.NewRat(1, 1), a, big.NewRat(2, 1)),
		"equal, smaller ID":        before(capacity, a, big.NewRat(3, 1), Claim{ID: "B", Demand: a.Demand, Weight: 1}, big.NewRat(3, 1)),
		"a kind that nobody has":   unservable(capacity, claim("C", 0, 0, 1)),
		"nobody at the same place": !before(capacity, a, big.NewRat(3, 1), a, big.NewRat(3, 1)),
		"none of what nobody has":  !unservable(capacity, a),
	} {
		if !got {
			t.Errorf("%s: no", what)
		}
	}
}
