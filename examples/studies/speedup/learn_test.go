// This file tests how measurements are divided into those that are known and those that are predicted.

package main

import (
	"math"
	"testing"

	"github.com/apportion/apportion/growth/speedup"
	"github.com/apportion/apportion/internal/must"
)

// counted are measurements on 1 to n containers that halve with each doubling.
func counted(n int64) []speedup.Observation {
	var all []speedup.Observation
	for c := int64(1); c <= n; c++ {
		all = append(all, speedup.Observation{Containers: c, Servers: 1, Samples: 64, Seconds: 1 / float64(c)})
	}
	return all
}

// A measurement may be in both parts or in none, and both keep their order.
func TestSplit(t *testing.T) {
	a, b := split(counted(9), func(o *speedup.Observation) bool { return o.Containers <= 3 },
		func(o *speedup.Observation) bool { return o.Containers%3 == 0 })
	if len(a) != 3 || len(b) != 3 || a[0].Containers != 1 || a[2].Containers != 3 || b[0].Containers != 3 || b[2].Containers != 9 {
		t.Errorf("%v and %v", a, b)
	}
	if a, b = split(nil, nil, nil); a != nil || b != nil {
		t.Errorf("of nothing: %v and %v", a, b)
	}
}

// Of too many the first of each stretch is kept.
func TestThin(t *testing.T) {
	all := counted(10)
	must.Equal(t, len(thin(all, 10)), 10, "of 10")
	got := thin(all, 4)
	for i, want := range []int64{1, 3, 6, 8} {
		must.Equal(t, got[i].Containers, want, "the", i, "-th is on", "containers")
	}
	if got[0].Containers = 99; all[0].Containers == 99 {
		t.Error("the measurements themselves were changed")
	}
}

// What a model is told it predicts nearly, and the rest of a job that halves with each doubling, too. The same seeds draw the same.
func TestLearn(t *testing.T) {
	j := &job{name: "a", small: counted(16)}
	first := must.Have(learn(j, 12, 2))(t)
	must.Equal(t, len(first), len(models), "models")
	for m, model := range models {
		if off := first[m].off; off.n != 8 || math.IsNaN(off.percent()) {
			t.Errorf("%v: %d predictions off by %v %%, want 4 of 2 draws", model, off.n, off.percent())
		}
	}
	// Speed that is linear is what the linear model says.
	if off := first[0].off.percent(); models[0] != speedup.Linear || off > 1e-6 {
		t.Errorf("%v is off by %v %%", models[0], off)
	}
	again, err := learn(j, 12, 2)
	for m := range first {
		if err != nil || again[m] != first[m] {
			t.Errorf("%v: %+v, then %+v (%v)", models[m], first[m], again[m], err)
		}
	}
	one, err := learn(j, 1, 1)
	if err != nil || one[0].off.n != 15 || one[len(one)-1].named != 0 {
		t.Errorf("one configuration: %+v, %v", one, err)
	}
}
