// This file tests the signs on a straight line, where each is a fraction, and what chances follow from them.

package growth

import (
	"math"
	"testing"
)

// Twenty readings of 100, 99, ... 81: the last eighth of the work has a mean of 82, so that 18 are gained.
func TestEvidenceOfALine(t *testing.T) {
	want := [signs]float64{signHalf: 8.5 / 18, signThree: 13. / 18, signNoise: leastSign,
		signReadings: 20, signRecord: leastSign, signNewest: 3. / 18}
	for direction, toward := range map[Direction]float64{SmallerIsBetter: 1, LargerIsBetter: -1, EitherWay: -1} {
		var h history
		for i := range 20 {
			h.add(float64(i), toward*float64(100-i))
		}
		e, pace, ok := h.evidence(19, toward*100, direction)
		if !ok || math.Abs(pace-8.5/9.5) > 1e-12 {
			t.Errorf("%v: pace %v, evidence %v", direction, pace, ok)
		}
		worse := math.Log(0.5 / 18)
		if math.Abs(e[signWorse]-worse*worse) > 1e-9 || math.Abs(e[signLoud]-e[signNoise]*e[signNewest]) > 1e-12 {
			t.Errorf("%v: squared distance %v, loud %v", direction, e[signWorse], e[signLoud])
		}
		for k := range want {
			if k == signWorse || k == signLoud {
				continue
			}
			if got := math.Exp(e[k]); math.Abs(got-want[k]) > 1e-9 {
				t.Errorf("%v: sign %d is %v, want %v", direction, k, got, want[k])
			}
		}
	}
}

// More noise, a rise, and a record long ago show in their signs.
func TestEvidenceOfARise(t *testing.T) {
	var h history
	for i, v := range []float64{10, 2, 0, 4, 1, 5, 2, 6} {
		h.add(float64(i), v)
	}
	e, pace, _ := h.evidence(7, 10, SmallerIsBetter)
	// Bends 6, 6, 7, 7, 7, 7; the best mean is 1, at 2; the last eighth holds 6 alone.
	for k, want := range map[int]float64{signNoise: 1, signRecord: 5. / 7, signNewest: leastSign, signHalf: leastSign} {
		if got := math.Exp(e[k]); math.Abs(got-want) > 1e-9 {
			t.Errorf("sign %d is %v, want %v", k, got, want)
		}
	}
	if pace >= 0 {
		t.Errorf("pace %v of a rise", pace)
	}
}

// A chance falls with the share, is even at Ahead, and rises with what was gained lately.
func TestChance(t *testing.T) {
	e := Evidence{signHalf: -1, signThree: -0.5, signNoise: -3, signReadings: 4, signWorse: 16, signRecord: -4, signNewest: -2, signLoud: 6}
	if got := e.Chance(e.Ahead()); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("chance of %v ahead is %v", e.Ahead(), got)
	}
	late := e
	late[signNewest], late[signLoud] = -5, 15
	if !(e.Chance(0.02) > e.Chance(0.05) && e.Chance(0.05) > e.Chance(0.2) && late.Chance(0.05) < e.Chance(0.05)) {
		t.Errorf("chances %v, %v, %v, of a late one %v", e.Chance(0.02), e.Chance(0.05), e.Chance(0.2), late.Chance(0.05))
	}
}
