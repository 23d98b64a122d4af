// This file tests the curve of a running job: what is kept, what is forgotten, and JSON.

package speedup

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

func TestEstimator(t *testing.T) {
	e := Estimator{Request: 4}
	c, err := e.Curve()
	if want, _ := Cold(4); err != nil || !cmp.Equal(c, want) {
		t.Errorf("before the first: %+v (%v)", c, err)
	}
	params := []float64{0.01, 0.1}
	for round := range 3 {
		for _, n := range []int64{1, 2, 4} {
			o := made(params, n, 1, 64)
			if round == 1 && n == 2 {
				o.Seconds *= 50 // outvoted by the two others
			}
			must.Do(t, e.Observe(o))
		}
	}
	c, err = e.Curve()
	if err != nil || c.Model != Amdahl || math.Abs(c.Params[0]-0.01) > 1e-9 || math.Abs(c.Params[1]-0.1) > 1e-9 || c.Most != 8 || c.Samples != 64 {
		t.Errorf("%+v (%v)", c, err)
	}
	// The samples are those of the newest measurement.
	must.Do(t, e.Observe(made(params, 1, 1, 32)))
	if c, err := e.Curve(); err != nil || c.Samples != 32 {
		t.Errorf("samples %g, want 32 (%v)", c.Samples, err)
	}
	var none Estimator
	if c, err := none.Curve(); err != nil || c.Most != 1 {
		t.Errorf("without a request: %+v (%v)", c, err)
	}
}

// A job whose steps have become slower is known by its newest times.
func TestEstimatorForgets(t *testing.T) {
	var e Estimator
	for i := range 30 {
		seconds := 1.0
		if i >= 20 {
			seconds = 3
		}
		must.Do(t, e.Observe(Observation{2, 1, 8, seconds}))
	}
	if c, err := e.Curve(); err != nil || math.Abs(c.StepTime(2, 1, 8)-3) > 1e-9 {
		t.Errorf("a step of %g, want 3 (%v)", c.StepTime(2, 1, 8), err)
	}
	if len(e.Kept) != 1 || len(e.Kept[0].Seconds) != mostTimes || e.Count != 30 || e.Kept[0].Newest != 30 {
		t.Errorf("%+v", e)
	}
}

// The configuration that was not measured for longest makes room.
func TestEstimatorIsBounded(t *testing.T) {
	var e Estimator
	observe := func(n int64) {
		must.Do(t, e.Observe(Observation{n, 1, 8, 1 / float64(n)}))
	}
	for n := int64(1); n <= mostKept; n++ {
		observe(n)
	}
	observe(1) // the first is not the oldest any more
	observe(1000)
	there := map[int64]bool{}
	for _, k := range e.Kept {
		there[k.Containers] = true
	}
	if len(e.Kept) != mostKept || !there[1] || there[2] || !there[1000] {
		t.Errorf("%d kept: %v", len(e.Kept), there)
	}
	must.Equal(t, len(e.Observations()), mostKept+1, "observations")
}

// An estimator that was written and read goes on as if nothing had been.
func TestEstimatorJSON(t *testing.T) {
	var e Estimator
	for n := int64(1); n < 5; n++ {
		must.Do(t, e.Observe(Observation{n, 1, 8, 1 / float64(n)}))
	}
	text := must.Have(json.Marshal(&e))(t)
	var read Estimator
	if err := json.Unmarshal(text, &read); err != nil || !cmp.Equal(e, read) {
		t.Errorf("%v: %s", err, cmp.Diff(e, read))
	}
	a, errA := e.Curve()
	b, errB := read.Curve()
	if errA != nil || errB != nil || !cmp.Equal(a, b) {
		t.Errorf("%v, %v: %s", errA, errB, cmp.Diff(a, b))
	}
	// Fields that somebody has spoilt are faults, not panics.
	read.Kept[0].Seconds[0] = -1
	must.Fail(read.Curve())(t, apportion.ErrRange, "a negative time")
	read.Kept[0].Seconds = nil
	must.Have(read.Curve())(t, "a configuration without times")
	empty := Estimator{Kept: []Kept{{Containers: 1, Servers: 1, Samples: 1}}}
	must.Fail(empty.Curve())(t, apportion.ErrEmpty, "no times at all")
}
