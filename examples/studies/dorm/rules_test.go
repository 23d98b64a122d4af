package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
)

// On a day with few GPUs the default rule serves everybody, as the skipping loop does, and nobody is on more than
// a server holds, which the simulator checks.
func TestRules(t *testing.T) {
	for r := range rules {
		var result ruleResult
		played := must.Have(sim.Run(t.Context(), fewGPUs(2), rules[r].make()))(t)
		result.add(played)
		all := result.completed == dayJobs && result.idle == 0
		must.Equal(t, all, rules[r].name != "paper", rules[r].name, result)
	}
}

func TestRuleResult(t *testing.T) {
	var r ruleResult
	r.add(&sim.Result{End: 4 * time.Hour,
		Jobs: []sim.Outcome{
			{Completed: true, Arrival: time.Hour, Start: 2 * time.Hour, Completion: 4 * time.Hour},
			{Completed: true, Start: 0, Completion: 2 * time.Hour}, {Arrival: time.Hour},
		},
		Samples: []sim.Sample{{Utilization: []float64{1, .5}}, {At: 2 * time.Hour, Utilization: []float64{1, 1}}, {At: 3 * time.Hour, Utilization: []float64{0, 0}}},
	})
	// Half of the GPUs for two hours and all for one, of four hours, on one of ten days.
	if got, want := strings.Fields(r.String()), strings.Fields("1 of 10 2 of 400 30m0s 2h30m0s 5 %"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
