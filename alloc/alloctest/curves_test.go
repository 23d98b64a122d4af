package alloctest

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// restricted returns an application that holds so many containers, restricted to powers of two.
func restricted(held, least, most int64) solver.App {
	app := solver.App{Min: least, Max: most}
	if held > 0 {
		app.Previous = []apportion.Placement{{Server: 0, Count: held}}
	}
	addPowers(&app)
	return app
}

// Powers of two within the bounds are allowed, and what runs now.
func TestAddPowers(t *testing.T) {
	for name, c := range map[string]struct {
		held, least, most int64
		want              []int64
	}{
		"a newcomer":                     {0, 1, 16, []int64{1, 2, 4, 8, 16}},
		"a maximum between two powers":   {0, 1, 15, []int64{1, 2, 4, 8}},
		"a minimum":                      {0, 3, 16, []int64{4, 8, 16}},
		"it holds a power":               {4, 1, 8, []int64{1, 2, 4, 8}},
		"it holds another number":        {3, 1, 8, []int64{1, 2, 3, 4, 8}},
		"it holds more than every power": {7, 1, 7, []int64{1, 2, 4, 7}},
		"one container at most":          {1, 1, 1, []int64{1}},
	} {
		if got := restricted(c.held, c.least, c.most).Counts; !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// One curve holds for all numbers of an application: with part s serial, n containers are 1/(s + (1-s)/n) times as fast as
// one. The worth of one and of two gives s and the weight, and these give the others.
func TestWorthsAreAmdahls(t *testing.T) {
	for seed := range uint64(12) {
		inst := GPUs(seed, 8, 10, true)
		AddWorths(seed, inst)
		for i := range inst.Apps {
			app := &inst.Apps[i]
			if app.Value != 0 || app.Idle != 0 || app.Counts != nil || app.Max < 3 || seed%2 == 0 {
				continue // seeds that are even take the logarithm, see below
			}
			weight := app.Worth[0] // the speed-up of one is 1
			serial := 2*weight/app.Worth[1] - 1
			if serial < 0 || serial > .5 || weight < math.Exp(-1) || weight > math.E {
				t.Errorf("seed %d, application %d: weight %g, serial %g", seed, i, weight, serial)
			}
			for at, worth := range app.Worth {
				if want := weight / (serial + (1-serial)/float64(at+1)); math.Abs(worth-want) > 1e-9*want {
					t.Errorf("seed %d, application %d: %d containers are worth %g, want %g", seed, i, at+1, worth, want)
				}
			}
		}
	}
	// The logarithm of no speed-up is 0, whatever the weight.
	inst := GPUs(0, 8, 10, false)
	AddWorths(0, inst)
	for i := range inst.Apps {
		if app := &inst.Apps[i]; app.AtLeast(1) == 1 && app.Worth[0] != 0 {
			t.Errorf("application %d: one container is worth %g", i, app.Worth[0])
		}
	}
	// Who does not run has no price of a restart.
	for i := range inst.Apps {
		if inst.Apps[i].Stay != 0 {
			t.Errorf("application %d is new, and staying is worth %g", i, inst.Apps[i].Stay)
		}
	}
}

// What runs goes to the servers of its kind, the first ones that have some left, and no further than its maximum.
func TestHold(t *testing.T) {
	for name, c := range map[string]struct {
		kind    int
		left    []int64
		n, most int64
		want    []apportion.Placement
		after   []int64
	}{
		"the first of its kind":  {0, []int64{4, 4, 4}, 3, 9, []apportion.Placement{{Server: 0, Count: 3}}, []int64{1, 4, 4}},
		"the other kind":         {1, []int64{4, 4, 4, 4}, 2, 9, []apportion.Placement{{Server: 1, Count: 2}}, []int64{4, 2, 4, 4}},
		"over two servers":       {0, []int64{1, 4, 4}, 3, 9, []apportion.Placement{{Server: 0, Count: 1}, {Server: 2, Count: 2}}, []int64{0, 4, 2}},
		"past a full one":        {0, []int64{0, 4, 4}, 3, 9, []apportion.Placement{{Server: 2, Count: 3}}, []int64{0, 4, 1}},
		"its maximum":            {0, []int64{4}, 3, 2, []apportion.Placement{{Server: 0, Count: 2}}, []int64{2}},
		"as much as there is":    {0, []int64{1, 4}, 3, 9, []apportion.Placement{{Server: 0, Count: 1}}, []int64{0, 4}},
		"nothing is left for it": {1, []int64{4, 0}, 3, 9, nil, []int64{4, 0}},
	} {
		app := solver.App{Max: c.most}
		hold(&app, c.kind, c.left, c.n)
		if diff := cmp.Diff(c.want, app.Previous); diff != "" || !slices.Equal(c.left, c.after) || app.Running != (c.want != nil) {
			t.Errorf("%s: running %v, left %v (-want +got):\n%s", name, app.Running, c.left, diff)
		}
	}
}

// A new accelerator is 1.2 to 4 times as fast as an old one, whatever the number; either way of a job lasts as long.
func TestAcceleratorsAreFaster(t *testing.T) {
	slowest, fastest := math.Inf(1), 0.0
	for seed := range uint64(30) {
		inst := Accelerators(seed, 6, 9, false)
		for c := range inst.Choices {
			former, later := &inst.Apps[inst.Choices[c].Apps[0]], &inst.Apps[inst.Choices[c].Apps[1]]
			if former.Max != later.Max || len(former.Worth) != int(former.Max) || former.Running || later.Running {
				t.Fatalf("seed %d: %+v and %+v", seed, former, later)
			}
			if !former.Demand.Equal(apportion.Resources{1, 0}) || !later.Demand.Equal(apportion.Resources{0, 1}) {
				t.Errorf("seed %d: demands %v and %v", seed, former.Demand, later.Demand)
			}
			// log(1 + x) of one container by the old kind, with x = 1, gives the weight.
			weight := former.Worth[0] / math.Log(2)
			times := math.Exp(later.Worth[0]/weight) - 1
			slowest, fastest = math.Min(slowest, times), math.Max(fastest, times)
			for at := range former.Worth {
				one, other := math.Exp(former.Worth[at]/weight)-1, math.Exp(later.Worth[at]/weight)-1
				if math.Abs(other/one-times) > 1e-6*times {
					t.Errorf("seed %d: %d containers are %g times as fast, one is %g", seed, at+1, other/one, times)
				}
			}
		}
	}
	if slowest < 1.2-1e-9 || slowest > 1.4 || fastest > 4+1e-9 || fastest < 3.8 {
		t.Errorf("from %g to %g times as fast, want nearly all from 1.2 to 4", slowest, fastest)
	}
}
