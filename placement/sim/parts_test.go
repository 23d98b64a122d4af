// This file tests how room is added up, and the parts of parameter servers.

package sim

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual"
)

// on returns placements from pairs of server and count.
func on(pairs ...int64) (places []apportion.Placement) {
	for i := 0; i < len(pairs); i += 2 {
		places = append(places, apportion.Placement{Server: int(pairs[i]), Count: pairs[i+1]})
	}
	return places
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
		must.Equal(t, servers[i].Capacity[0], 4, "the capacity of a server has changed")
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
	must.Equal(t, cmp.Diff(apportion.Resources{667, 334}, containerPart(training, 2)), "")
	must.Equal(t, cmp.Diff(apportion.Resources{0, 0}, containerPart(nil, 2)), "")
	s.ParameterServers[0].Capacity[0] = math.MaxInt64 / 2
	must.Fail(serverPart(s))(t, must.ErrAny, "thousandths that overflow are no error")
}
