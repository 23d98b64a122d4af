// This file checks the workload against what the paper says of it.

package main

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

func long(apps int) settings {
	return baseSettings(&options{apps: apps})
}

// Reference: [Dorm] §V-A1: 20 slaves, 240 CPU cores, 5 GPUs, 2.5 TB.
func TestTestbed(t *testing.T) {
	total := make(apportion.Resources, len(paperKinds))
	for _, slave := range testbed() {
		for k, q := range slave.Capacity {
			total[k] += q
		}
	}
	if want := (apportion.Resources{240, 5, 2560}); !total.Equal(want) || len(testbed()) != 20 {
		t.Errorf("%d slaves with %v, want 20 with %v", len(testbed()), total, want)
	}
}

// Reference: [Dorm] Table II: 50 applications, so many of each model.
func TestWorkloadIsTableII(t *testing.T) {
	scenario := paperScenario(long(paperApps), 3)
	must.Do(t, scenario.Validate())
	counts := make(map[string]int)
	for i := range scenario.Jobs {
		counts[modelOf(&scenario.Jobs[i])]++
	}
	for i := range tableII {
		must.Equal(t, counts[tableII[i].name], tableII[i].number, "applications of", tableII[i].name)
	}
	must.Equal(t, len(scenario.Jobs), paperApps, "applications")
	must.Equal(t, len(paperScenario(long(2*paperApps+1), 3).Jobs), 2*paperApps+1, "applications")
}

// Reference: [Dorm] §V-B1: the baseline can only handle the first 15 submitted applications. True
// of LR, MF and CaffeNet, which use 16 of the 240 cores each.
func TestBaselineHandlesFifteen(t *testing.T) {
	scenario := paperScenario(long(paperApps), 1)
	scenario.Jobs = slices.DeleteFunc(scenario.Jobs, func(app sim.Job) bool { return app.Demand[1] > 0 })
	for i := range scenario.Jobs {
		scenario.Jobs[i].Work = work(sim.Linear, scenario.Jobs[i].Fixed, 1000*time.Hour)
	}
	scenario.Horizon = 100 * time.Hour
	result := must.Have(sim.Run(t.Context(), scenario, policies.Swarm{}))(t)
	for i := range result.Jobs {
		must.Equal(t, result.Jobs[i].Started, i < 15, "submission", i+1, "started")
	}
}

// Reference: [Dorm] §I: about 90 % run for more than 6 hours; §V-A3: every 20 minutes.
func TestDurationsAndArrivals(t *testing.T) {
	const n = 20_000
	scenario := paperScenario(long(n), 7)
	hours := make([]float64, n)
	above := 0
	for i := range scenario.Jobs {
		hours[i] = duration(&scenario.Jobs[i]).Hours()
		if hours[i] > 6 {
			above++
		}
	}
	if share := float64(above) / n; math.Abs(share-0.9) > 0.01 {
		t.Errorf("%v of the durations are above 6 h, want 0.9", share)
	}
	if m := quantile(hours, 0.5); math.Abs(m-8) > 0.1 {
		t.Errorf("median %v h, want 8", m)
	}
	if gap := scenario.Jobs[n-1].Arrival.Minutes() / n; math.Abs(gap-20) > 0.5 {
		t.Errorf("an arrival every %v minutes, want 20", gap)
	}
	set := long(n)
	set.scale = shortScale
	for i, app := range paperScenario(set, 7).Jobs {
		if d := 2*duration(&app) - duration(&scenario.Jobs[i]); d < -time.Second || d > time.Second || app.Arrival != scenario.Jobs[i].Arrival {
			t.Fatalf("short application %d: %v from %v, long one %v from %v", i, duration(&app), app.Arrival,
				duration(&scenario.Jobs[i]), scenario.Jobs[i].Arrival)
		}
	}
}

// The extract has all its jobs, and each becomes the application that the rule says.
func TestTraceScenario(t *testing.T) {
	scenario := must.Have(traceScenario(itpDay, traceJobs))(t)
	must.Do(t, scenario.Validate())
	must.Equal(t, len(scenario.Jobs), traceJobs, "applications")
	// c07-1287,4599,6415,8: submitted after 4599 s, 6415 s on 8 GPUs.
	if a := scenario.Jobs[1]; a.Arrival != 4599*time.Second || duration(&a) != 6415*time.Second || a.Fixed != 8 || a.Max != 32 || a.Min != 1 {
		t.Errorf("%+v", a)
	}
}

func TestTraceScenarioRefuses(t *testing.T) {
	header, _, _ := strings.Cut(string(itpDay), "\n")
	for _, line := range []string{
		"j,0,100,,,,,g,,,,,,,,",    // GPUs unknown
		"j,0,,1,,,,g,,,,,,,,",      // duration unknown
		"j,0,100,0.5,,,,g,,,,,,,,", // part of a GPU
		"j,0,100,0,,,,g,,,,,,,,",   // no GPU
		"j,0,x,1,,,,g,,,,,,,,",     // no number
	} {
		must.Fail(traceScenario([]byte(header+"\n"+line+"\n"), 5))(t, must.ErrAny, line, "was made an application")
	}
}
