// This file checks the truth that classifiers are held against, how alphas are chosen, and what the README claims.

package main

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/growth"
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
		if got := c.point(at); got != want {
			t.Errorf("at %v point %d, want %d", at, got, want)
		}
	}
}

// Harm is time with more than 5 % ahead that was called converged, waste the other way round.
func TestTruth(t *testing.T) {
	var sum tally
	for _, c := range []struct{ ahead, converged bool }{{true, true}, {true, false}, {true, false}, {true, false}, {false, false}, {false, true}, {false, true}, {false, true}, {false, true}} {
		sum.add(truth(c.ahead, c.converged, 0.5))
	}
	if sum.harm() != 0.25 || sum.waste() != 0.2 || math.Abs(sum.balanced()-0.775) > 1e-12 {
		t.Errorf("%+v: harm %v, waste %v, balanced %v", sum, sum.harm(), sum.waste(), sum.balanced())
	}
}

// A restart takes half of the work away at half the run.
func TestPosition(t *testing.T) {
	r := &replay{length: 1000, noise: noisy.Noise{Restart: true}}
	for at, want := range map[int64]float64{0: 0, 499: 0.499, 500: 0.25, 1000: 0.75} {
		if got := r.position(time.Duration(at)); math.Abs(got-want) > 1e-9 {
			t.Errorf("at %d: %v, want %v", at, got, want)
		}
	}
}

// all reads and judges curves.
func all(t *testing.T, folder string) ([]*curve, verdicts) {
	t.Helper()
	curves, err := readCurves(folder)
	if err != nil {
		t.Fatal(err)
	}
	v, err := judgeAll(context.Background(), curves, 1, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return curves, v
}

// Waste at a harm lies on the line between two alphas, and on that from or to the trivial answers beyond them.
func TestWasteAt(t *testing.T) {
	_, v := all(t, filepath.Join("testdata", "few"))
	any := func(int) bool { return true }
	for _, g := range groups() {
		if got := v.wasteAt(g, 0, any); got < 0 || got > 1 {
			t.Errorf("%s: waste %v without harm", g.name, got)
		}
		if got := v.wasteAt(g, 1, any); got != 0 {
			t.Errorf("%s: waste %v where all is harm", g.name, got)
		}
		for _, m := range g.members {
			one := v.total(m, func(int, int) bool { return true })
			if got := v.wasteAt(group{name: g.name, members: []int{m}}, one.harm(), any); math.Abs(got-one.waste()) > 1e-9 && one.harm() > 0 {
				t.Errorf("%s: waste %v at its own harm, want %v", contestants()[m], got, one.waste())
			}
		}
	}
}

// The alpha for a family is chosen without it.
func TestChooseLeavesOut(t *testing.T) {
	curves, v := all(t, filepath.Join("testdata", "few"))
	g, family := groups()[0], families(curves)[0]
	chosen := v.choose(g, curves, family)
	// Whatever happens on the family that is left out changes nothing.
	for c := range curves {
		for _, m := range g.members {
			for r := range v[m] {
				if curves[c].family == family {
					v[m][r][c] = tally{ahead: 9, harmed: 9, done: 9, wasted: 9 * float64((m+chosen+1)%2)}
				}
			}
		}
	}
	if again := v.choose(g, curves, family); again != chosen {
		t.Errorf("%s: %d, then %d", family, chosen, again)
	}
	if other := v.choose(g, curves, "no family"); other == chosen {
		t.Error("the change shows nothing: it is not seen either where no family is left out")
	}
}

// What the README says of all curves.
func TestOursIsAhead(t *testing.T) {
	if testing.Short() {
		t.Skip("replays 27 curves 1,900 times")
	}
	curves, v := all(t, filepath.Join("..", "..", "..", "..", "growth", "testdata", "curves"))
	for name, least := range map[string]float64{"clean": 0.82, "30 %": 0.765, "heavy tails": 0.775} {
		if got := v.fixed(ofNoise(name)); got.balanced() < least {
			t.Errorf("%s: %s, want at least %v", name, got.errors(), least)
		}
	}
	for _, noise := range noisy.Noises() {
		unseen := map[string]float64{}
		for _, g := range groups() {
			t := v.unseen(g, curves, ofNoise(noise.Name))
			unseen[g.name] = t.balanced()
		}
		for name, balanced := range unseen {
			if name != ours && balanced >= unseen[ours] {
				t.Errorf("%s: %s has %.3f, ours %.3f", noise.Name, name, balanced, unseen[ours])
			}
		}
	}
	less := 0
	for i := range rows() {
		t, other, _ := v.compare(curves, i)
		if t.waste() < other {
			less++
		}
	}
	if less < 46 {
		t.Errorf("less waste at equal harm in %d of %d rows", less, len(rows()))
	}
}
