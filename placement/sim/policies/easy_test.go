package policies_test

import (
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// short is a job of so many units with a limit, submitted at a second.
func short(id string, submit, units int64, limit float64) sim.Job {
	app := alloc.Application{ID: id, Weight: 1, Ends: &limit, Form: alloc.Form{Demand: apportion.Resources{1}, Min: units, Max: units}}
	return sim.Job{Application: app, Arrival: time.Duration(submit) * time.Second, Fixed: units, Work: time.Duration(limit*float64(units)/2) * time.Second}
}

// Every job uses half of its limit. b waits for a; what is shorter than that passes b, what is longer does not, unless it fits beside b.
func TestEASY(t *testing.T) {
	s := &sim.Scenario{Kinds: apportion.Kinds{"units"}, Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{10}}}}
	s.Jobs = []sim.Job{
		short("a", 0, 6, 100), short("b", 1, 8, 100), short("passes", 2, 4, 90), short("delays", 3, 4, 100), short("beside", 4, 2, 1000), short("second", 5, 2, 1000),
	}
	for _, test := range []struct {
		policy sim.Policy
		want   []int64
	}{
		{&policies.EASY{}, []int64{0, 50, 2, 100, 47, 100}},
		// The widest of those that wait goes first, which is b as well.
		{&policies.EASY{Score: func(_, _, containers float64) float64 { return containers }}, []int64{0, 50, 2, 100, 47, 100}},
	} {
		r := must.Have(sim.Run(t.Context(), s, test.policy))(t)
		var got []int64
		for i := range r.Jobs {
			got = append(got, int64(r.Jobs[i].Start.Seconds()))
		}
		must.Same(t, got, test.want, test.policy, "starts at")
	}
}
