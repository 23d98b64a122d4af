// This file implements the five properties that Verify checks, and weight monotonicity for VerifyTree, [Ghodsi11] §3.

package drf

import (
	"math"
	"math/big"

	"github.com/apportion/apportion"
)

// verifyTolerance is the relative slack that Verify allows divisible containers: what a filling
// strays from an exact one by rounding, with a wide margin.
const verifyTolerance = 1e-9

// verifier holds a division while its properties are checked.
// Whole numbers are kept beside their floats: sums and bounds are compared exactly, and what could be
// run with a bundle in fractions.
type verifier struct {
	capacity apportion.Resources
	claims   []Claim
	// has are the containers of each claim, report what has been found so far.
	has    []float64
	whole  []int64 // has as integers; nil: containers are divisible
	report Report
}

// violate adds a violation that is about one claim and about no kind.
func (v *verifier) violate(p Property, claim int, got, limit float64) {
	v.report = append(v.report, Violation{Property: p, Claim: v.claims[claim].ID, Kind: -1, Got: got, Limit: limit})
}

// exceeds reports whether x is above limit by more than rounding.
// Below 1 the slack is absolute: a claim that has nothing is not wronged by 1e-12 of a container.
func exceeds(x, limit float64) bool {
	return x > limit+float64(verifyTolerance*max(1, math.Abs(limit)))
}

// used returns how much of kind k is handed out, exactly for whole containers.
func (v *verifier) used(k int) (amount float64, over bool) {
	if v.whole == nil {
		for i := range v.claims {
			amount += float64(v.has[i] * float64(v.claims[i].Demand[k]))
		}
		return amount, amount > float64(v.capacity[k])*(1+verifyTolerance)
	}
	// Integers of any size: a division that somebody else made may hand out more than 2^63.
	var sum, term big.Int
	for i, n := range v.whole {
		term.Mul(big.NewInt(n), big.NewInt(v.claims[i].Demand[k]))
		sum.Add(&sum, &term)
	}
	amount, _ = new(big.Float).SetInt(&sum).Float64()
	return amount, sum.Cmp(big.NewInt(v.capacity[k])) > 0
}

// checkCapacity looks for kinds of which more is handed out than there is. Whole containers are added up
// exactly, so that one unit too much is found in any sum.
func (v *verifier) checkCapacity() {
	for k, c := range v.capacity {
		if amount, over := v.used(k); over {
			v.report = append(v.report, Violation{Property: WithinCapacity, Kind: k, Got: amount, Limit: float64(c)})
		}
	}
}

// checkBounds compares each claim with its Min and Max. A claim that cannot be served must have nothing,
// whatever its Min is.
func (v *verifier) checkBounds() {
	for i := range v.claims {
		low, high := v.claims[i].Min, v.claims[i].Max
		if unservable(v.capacity, v.claims[i].Demand) >= 0 {
			low, high = 0, 0
		}
		var below, above bool
		if v.whole != nil {
			// Whole numbers are compared as such: above 2^53 two of them may be one float.
			below, above = v.whole[i] < low, v.whole[i] > high
		} else {
			below, above = exceeds(float64(low), v.has[i]), exceeds(v.has[i], float64(high))
		}
		switch {
		case below:
			v.violate(WithinBounds, i, v.has[i], float64(low))
		case above:
			v.violate(WithinBounds, i, v.has[i], float64(high))
		}
	}
}

// checkPareto looks for claims that could have more of what is left. Of a divisible kind a part of
// verifyTolerance of the capacity counts as nothing. One claim at a time is enough: what two could have
// together, either could have alone.
// A claim that demands a kind of which there is none finds nothing left of it, and is never wronged.
func (v *verifier) checkPareto() {
	left := make([]float64, len(v.capacity))
	for k, c := range v.capacity {
		amount, _ := v.used(k)
		left[k] = float64(c) - amount
		if v.whole == nil && left[k] <= verifyTolerance*float64(c) {
			left[k] = 0
		}
	}
	for i := range v.claims {
		claim, n := &v.claims[i], v.has[i]
		// more is how many containers still fit, alone, into what nobody has.
		more := min(quotient(left, claim.Demand, 1), float64(claim.Max)-n)
		if v.whole != nil && more >= 1 || v.whole == nil && exceeds(more, 0) {
			v.violate(ParetoEfficient, i, n, n+more)
		}
	}
}

// checkEnvy compares each claim with what every other one has.
// A pair is reported once in each direction in which it holds. O(K n²).
func (v *verifier) checkEnvy() {
	// One buffer for all bundles: the loop below visits O(n^2) pairs.
	bundle := make([]float64, len(v.capacity))
	for j := range v.claims {
		other, n := &v.claims[j], v.has[j]
		// Nobody envies what another one has as its Min: that was not up to the filling.
		if n <= float64(other.Min) {
			continue
		}
		// Of whole containers the last one may be a matter of order: who would have no more without it envies nobody.
		if v.whole != nil {
			n--
		}
		for k, q := range other.Demand {
			bundle[k] = n * float64(q)
		}
		for i := range v.claims {
			claim := &v.claims[i]
			// Envy is weighted: twice the weight may look at twice the bundle, [Ghodsi11] §4.3.
			possible := min(quotient(bundle, claim.Demand, claim.Weight/other.Weight), float64(claim.Max))
			if i != j && exceeds(possible, v.has[i]) {
				v.violate(EnvyFree, i, v.has[i], possible)
				v.report[len(v.report)-1].Other = other.ID
			}
		}
	}
}

// checkWeights looks for pairs of the same demand of which the one with no less weight has less.
func (v *verifier) checkWeights() {
	for i := range v.claims {
		a := &v.claims[i]
		for j := range v.claims {
			b := &v.claims[j]
			// What another one has as its Min was not up to the filling, whatever the weights.
			if i == j || a.Weight < b.Weight || !a.Demand.Equal(b.Demand) || v.has[j] <= float64(b.Min) {
				continue
			}
			// Of whole containers one more may be a matter of names.
			due := min(v.has[j], float64(a.Max))
			if v.whole != nil {
				due--
			}
			if exceeds(due, v.has[i]) {
				v.violate(WeightMonotone, i, v.has[i], due)
				v.report[len(v.report)-1].Other = b.ID
			}
		}
	}
}

// checkIncentive compares each claim with a part of the cluster of its own.
// A claim that cannot be served has a part of 0 containers, and needs no case of its own.
func (v *verifier) checkIncentive() {
	// A sum of up to millions of weights; its rounding is far below the tolerance.
	// The part of a claim is its weight over all weights: of every kind alike, whether it demands it or not.
	weights, whole := 0.0, make([]float64, len(v.capacity))
	for i := range v.claims {
		weights += v.claims[i].Weight
	}
	for k, c := range v.capacity {
		whole[k] = float64(c)
	}
	// A claim is due what it could run alone on its part of every kind.
	for i := range v.claims {
		claim := &v.claims[i]
		due := min(quotient(whole, claim.Demand, claim.Weight/weights), float64(claim.Max))
		// Its part may hold fractions of a container, which nobody is due. The tolerance keeps a 3 that rounding has made a
		// little less from becoming 2.
		if v.whole != nil {
			due = math.Floor(due * (1 + verifyTolerance))
		}
		if exceeds(due, v.has[i]) {
			v.violate(SharingIncentive, i, v.has[i], due)
		}
	}
}

// quotient returns how many containers of demand, in fractions, fit in scale times bundle. Kinds that it does not demand do not
// limit them: of a demand of nothing any number fits, +Inf, and the callers' Max is what counts.
func quotient(bundle []float64, demand apportion.Resources, scale float64) float64 {
	most := math.Inf(1)
	for k, q := range demand {
		if q > 0 {
			most = min(most, bundle[k]*scale/float64(q))
		}
	}
	return most
}
