// This file tests the parts of a decision by themselves: orders that are tidied, room that is added up, instants at
// which something happens, and the spans that are noted.

package sim

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/primaldual"
)

// on returns placements from pairs of server and count.
func on(pairs ...int64) (places []apportion.Placement) {
	for i := 0; i < len(pairs); i += 2 {
		places = append(places, apportion.Placement{Server: int(pairs[i]), Count: pairs[i+1]})
	}
	return places
}

// Placements come out ascending, one for each server, with their sum, and the policy's own list stays as it was.
func TestMerge(t *testing.T) {
	for _, test := range []struct {
		places, want []apportion.Placement
		sum          int64
		fault        string
	}{
		{nil, nil, 0, ""},
		{on(1, 2), on(1, 2), 2, ""},
		{on(2, 1, 0, 3, 2, 4), on(0, 3, 2, 5), 8, ""},
		{on(0, 0), nil, 0, "0 containers on server 0 of 3"},
		{on(0, -1), nil, 0, "-1 containers"},
		{on(3, 1), nil, 0, "1 containers on server 3 of 3"},
		{on(-1, 1), nil, 0, "server -1"},
		{on(0, math.MaxInt64, 1, 1), nil, 0, "more containers than can be counted"},
	} {
		given := append([]apportion.Placement{}, test.places...)
		got, sum, fault := merge(test.places, 3)
		if diff := cmp.Diff(test.want, got); diff != "" || sum != test.sum || !strings.HasPrefix(fault, test.fault) && !strings.Contains(fault, test.fault) || (fault == "") != (test.fault == "") {
			t.Errorf("%v: %v, %d, %q; want %v, %d, %q", given, got, sum, fault, test.want, test.sum, test.fault)
		}
		for i := range given {
			if test.places[i] != given[i] {
				t.Errorf("the policy's list became %v, was %v", test.places, given)
			}
		}
	}
}

// The job that overfills a server is blamed, whichever came before it, and so is one whose product overflows.
func TestFill(t *testing.T) {
	servers := []apportion.Server{{ID: "a", Capacity: apportion.Resources{4, 4}}, {ID: "b", Capacity: apportion.Resources{4, 0}}}
	holder := func(id string, places []apportion.Placement, demand ...int64) *job {
		j := &job{Job: &Job{}, places: places}
		j.ID, j.Demand = id, demand
		return j
	}
	held := func(j *job) ([]apportion.Placement, apportion.Resources) { return j.places, j.Demand }
	for name, test := range map[string]struct {
		jobs []*job
		want string // who is blamed, and with what words
	}{
		"nobody":               {nil, ""},
		"all fits":             {[]*job{holder("x", on(0, 2, 1, 4), 1, 0), holder("y", on(0, 2), 1, 2)}, ""},
		"the second is one":    {[]*job{holder("x", on(0, 3), 1, 0), holder("y", on(0, 2), 1, 0)}, `y server "a" would hold`},
		"another kind":         {[]*job{holder("x", on(1, 1), 1, 1)}, `x server "b" would hold`},
		"more than can be":     {[]*job{holder("x", on(0, math.MaxInt64), 2, 0)}, `x 9223372036854775807 containers on server "a"`},
		"who holds nothing":    {[]*job{holder("x", nil, 9, 9), holder("y", on(0, 4), 1, 1)}, ""},
		"the sum overflows":    {[]*job{holder("x", on(0, 1), 4, 4), holder("y", on(0, 1), math.MaxInt64, 0)}, `y 1 containers on server "a"`},
		"the order of the two": {[]*job{holder("y", on(0, 4), 1, 0), holder("x", on(0, 1), 1, 0)}, `x server "a" would hold`},
	} {
		blame, fault := fill(apportion.Kinds{"cpu", "gpu"}, servers, test.jobs, held)
		got := ""
		if blame != nil {
			got = blame.ID + " " + fault
		}
		if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	for i := range servers {
		if servers[i].Capacity[0] != 4 {
			t.Error("the capacity of a server has changed")
		}
	}
}

func TestRatios(t *testing.T) {
	got := ratios(apportion.Resources{1, 0, 3, math.MaxInt64}, apportion.Resources{4, 0, 3, math.MaxInt64})
	if diff := cmp.Diff([]float64{0.25, 0, 1, 1}, got); diff != "" {
		t.Error(diff)
	}
	sum := apportion.Resources{1, 2}
	addUp(sum, apportion.Resources{3, 0})
	if diff := cmp.Diff(apportion.Resources{4, 2}, sum); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(apportion.Resources{0, 6}, times(3, apportion.Resources{0, 2})); diff != "" {
		t.Error(diff)
	}
}

// A paused job resumes when its pause ends, one that waits never does anything by itself, and one that runs completes
// when its work is done, in slots at the end of one.
func TestNextOfAJob(t *testing.T) {
	for name, test := range map[string]struct {
		j         job
		now, slot time.Duration
		want      time.Duration
		fails     bool
	}{
		"paused":              {job{n: 1, resumes: 9, left: product(1, 5)}, 3, 0, 9, false},
		"resumed just now":    {job{n: 1, resumes: 3, rate: Whole, left: product(Whole, 4)}, 3, 0, 7, false},
		"waits":               {job{left: product(Whole, 4)}, 3, 0, never, false},
		"a part of a unit":    {job{n: 1, rate: 3, left: product(1, 4)}, 3, 0, 5, false},
		"at the end of slots": {job{n: 1, rate: Whole, left: product(Whole, 4)}, 10, 10, 20, false},
		"just within a slot":  {job{n: 1, rate: Whole, left: product(Whole, 10)}, 10, 10, 20, false},
		"beyond the end":      {job{n: 1, rate: 1, left: product(math.MaxInt64, math.MaxInt64)}, 3, 0, 0, true},
		"sum beyond the end":  {job{n: 1, rate: Whole, left: product(Whole, math.MaxInt64)}, 1, 0, 0, true},
	} {
		test.j.Job = &Job{}
		got, err := test.j.next(test.now, test.slot)
		if (err != nil) != test.fails || got != test.want {
			t.Errorf("%s: %d, %v; want %d", name, got, err, test.want)
		}
	}
}

// A span is noted where something changes, closed where something else begins, and never split without a cause.
func TestSpans(t *testing.T) {
	j := &job{Job: &Job{}, outcome: &Outcome{}}
	step := func(now time.Duration, rate int64, places []apportion.Placement) {
		j.rate, j.places, j.n = rate, places, count(places)
		j.note(now)
	}
	step(1, 0, nil) // it waits
	step(2, 5, on(0, 1))
	step(3, 5, on(0, 1)) // nothing new
	step(4, 7, on(0, 1))
	step(5, 7, on(1, 1))
	step(6, 0, nil) // suspended
	step(8, 5, on(0, 1))
	j.end(9)
	j.end(10) // it is closed already
	want := []Span{{From: 2, Until: 4, Places: on(0, 1), Rate: 5}, {From: 4, Until: 5, Places: on(0, 1), Rate: 7},
		{From: 5, Until: 6, Places: on(1, 1), Rate: 7}, {From: 8, Until: 9, Places: on(0, 1), Rate: 5}}
	if diff := cmp.Diff(want, j.outcome.Spans); diff != "" {
		t.Error(diff)
	}
}

// A container's part of a parameter server is rounded up and a server's part of them all down, so that what fits the
// view fits the cluster.
func TestParts(t *testing.T) {
	s := &Scenario{Kinds: apportion.Kinds{"cpu", "gpu"}, Servers: make([]apportion.Server, 3),
		ParameterServers: []apportion.Server{{Capacity: apportion.Resources{5, 1}}, {Capacity: apportion.Resources{5, 0}}}}
	part, err := serverPart(s)
	if diff := cmp.Diff(apportion.Resources{3333, 333}, part); diff != "" || err != nil {
		t.Error(err, diff)
	}
	training := &primaldual.Job{PS: apportion.Resources{2, 1}, WorkerBandwidth: 1, PSBandwidth: 3}
	if diff := cmp.Diff(apportion.Resources{667, 334}, containerPart(training, 2)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(apportion.Resources{0, 0}, containerPart(nil, 2)); diff != "" {
		t.Error(diff)
	}
	s.ParameterServers[0].Capacity[0] = math.MaxInt64 / 2
	if _, err := serverPart(s); err == nil {
		t.Error("thousandths that overflow are no error")
	}
}
