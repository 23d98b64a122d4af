// This file checks the truth that rankings are held against, the measures and the fit.

package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/must"
)

// What is left counts from the first value to the best mean, whichever way is better; a value that is not finite is as
// bad as the worst.
func TestLook(t *testing.T) {
	for _, test := range []struct {
		better       growth.Direction
		values, left []float64
	}{
		{growth.SmallerIsBetter, []float64{10, 6, 8, 2, 4}, []float64{1, 0.5, 0.5, 0, 0}},
		{growth.LargerIsBetter, []float64{0, 4, 2, 8, 6}, []float64{1, 0.5, 0.5, 0, 0}},
		{growth.SmallerIsBetter, []float64{3, math.NaN(), math.Inf(1), 1}, []float64{1, 1, 1, 0}},
		{growth.SmallerIsBetter, []float64{3, 4, 5}, []float64{0, 0, 0}},
	} {
		c := &curve{better: test.better, values: test.values}
		c.look()
		for i := range test.left {
			if math.Abs(c.left[i]-test.left[i]) > 1e-12 {
				t.Errorf("%v: left %v, want %v", test.values, c.left, test.left)
				break
			}
		}
	}
}

func TestPoint(t *testing.T) {
	c := &curve{at: []float64{0, 0.25, 0.5, 1}}
	for at, want := range map[float64]int{0: 0, 0.2: 0, 0.25: 1, 0.6: 2, 1: 3} {
		must.Equal(t, c.point(at), want, "at", at, "point")
	}
}

// A ranking by the truth has 1, by its opposite 0, by a clock 0.5, since only jobs at the same reading are compared.
func TestAUC(t *testing.T) {
	var all []moment
	for i := range 40 {
		all = append(all, moment{length: 20, part: i % 2, left: float64(i/2%3) / 20})
	}
	any := func(*moment) bool { return true }
	for want, score := range map[float64]func(i int) float64{
		1:   func(i int) float64 { return all[i].left },
		0:   func(i int) float64 { return -all[i].left },
		0.5: func(i int) float64 { return -float64(all[i].part) },
	} {
		must.Equal(t, auc(all, score, any), want)
	}
}

// The fit finds the weights that drew the truth.
func TestFit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var all []moment
	for range 20000 {
		m := moment{evidence: growth.Evidence{random.NormFloat64(), random.NormFloat64()}}
		if random.Float64() < logistic(0.5+2*m.evidence[0]-m.evidence[1]) {
			m.left = 1
		}
		all = append(all, m)
	}
	m := fit(all, signsOf([]int{0, 1}), []float64{enough}, "none")
	for k, want := range []float64{0.5, 0, 2, -1} {
		if math.Abs(m.weights[k]-want) > 0.1 {
			t.Errorf("weights %v", m.weights)
		}
	}
}

// A call is taken back where the odds have risen by more than the hysteresis; every run begins as growing.
func TestTally(t *testing.T) {
	j := &judged{logits: []float64{0, -5, 0, 5, -5, -5}}
	for i, part := range []int{3, 4, 5, 6, 3, 4} {
		j.all = append(j.all, moment{part: part, left: float64(i % 2)})
	}
	got := j.tally(func(*moment) bool { return true }, j.prospect)
	if got.runs != 2 || got.back != 1 || got.counts != [2][2]float64{{2, 1}, {2, 1}} {
		t.Errorf("%+v", got)
	}
}

// The library has the weights that the command prints.
func TestWeightsAreThoseOfTheLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("trains 68 networks and replays 95 curves")
	}
	curves := must.Have(readCurves("../../../../growth/testdata/curves"))(t)
	all := gather(append(curves, trained(known)...), 1)
	m := fit(all, signsOf(whole), shares, "")
	for i := 0; i < len(all); i += 1000 {
		e := all[i].evidence
		for _, share := range shares {
			if got, want := e.Chance(share), chance(m.logit(&all[i], share)); math.Abs(got-want) > 1e-3 {
				t.Fatalf("chance of %g ahead: %v, by the fit %v", share, got, want)
			}
		}
	}
}
