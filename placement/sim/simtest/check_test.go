// This file tests the referee: it accepts a result that was counted by hand, and sees every single
// thing that is made wrong with it.

package simtest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/simtest"
	"github.com/apportion/apportion/primaldual"
)

const second = time.Second

// containers returns two jobs on a server of four, and what they did: a runs on one container for 10 s, is moved to
// two, pauses for 5 s and ends at 20 s with 20 s of work; b waits until 15 s and never ends.
func containers() (*sim.Scenario, *sim.Result) {
	s := &sim.Scenario{
		Kinds: apportion.Kinds{"cpu"}, AdjustCost: 5 * second, Horizon: 30 * second,
		Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{4}}},
	}
	for _, id := range []string{"a", "b"} {
		job := sim.Job{Work: 20 * second, Fixed: 1}
		job.ID, job.Demand, job.Weight, job.Min, job.Max = id, apportion.Resources{2}, 1, 1, 2
		s.Jobs = append(s.Jobs, job)
	}
	on := func(n int64) []apportion.Placement { return []apportion.Placement{{Server: 0, Count: n}} }
	r := &sim.Result{
		Policy: "hand", End: 30 * second,
		Jobs: []sim.Outcome{{
			ID: "a", Started: true, Completed: true, Completion: 20 * second, Adjusted: 1, Paused: 5 * second,
			Spans: []sim.Span{
				{From: 0, Until: 10 * second, Places: on(1), Rate: sim.Whole},
				{From: 10 * second, Until: 15 * second, Places: on(2)},
				{From: 15 * second, Until: 20 * second, Places: on(2), Rate: 2 * sim.Whole},
			},
		}, {
			ID: "b", Started: true, Start: 20 * second,
			Spans: []sim.Span{{From: 20 * second, Until: 30 * second, Places: on(1), Rate: sim.Whole}},
		}},
		Samples: []sim.Sample{
			{At: 0, Total: .5}, {At: 10 * second, Total: 1, Adjusted: 1}, {At: 20 * second, Total: .5},
		},
	}
	return s, r
}

func TestCheck(t *testing.T) {
	must.Do(t, simtest.Check(containers()))
	for name, test := range map[string]struct {
		spoil func(s *sim.Scenario, r *sim.Result)
		want  string
	}{
		"a job is lost":       {func(_ *sim.Scenario, r *sim.Result) { r.Jobs = r.Jobs[:1] }, "1 outcomes for 2 jobs"},
		"another job":         {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[0].ID = "x" }, `the outcome is that of "x"`},
		"another arrival":     {func(s *sim.Scenario, _ *sim.Result) { s.Jobs[1].Arrival = second }, "the outcome is that of"},
		"before its arrival":  {func(s *sim.Scenario, r *sim.Result) { s.Jobs[0].Arrival, r.Jobs[0].Arrival = second, second }, "span 0 from 0s"},
		"spans overlap":       {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[0].Spans[1].From -= second }, "span 1 from 9s"},
		"a span of no time":   {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[0].Spans[0].Until = 0 }, "span 0 from 0s until 0s"},
		"beyond the horizon":  {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[1].Spans[0].Until += 1 }, "until 30.000000001s"},
		"too many containers": {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[0].Spans[2].Places[0].Count = 3 }, "holds 3 containers"},
		"no containers":       {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[1].Spans[0].Places = nil }, "holds 0 containers"},
		"less than its Min":   {func(s *sim.Scenario, _ *sim.Result) { s.Jobs[1].Min = 2 }, "holds 1 containers"},
		"parameter servers": {func(_ *sim.Scenario, r *sim.Result) {
			r.Jobs[1].Spans[0].ParameterServers = []apportion.Placement{{Count: 1}}
		}, "1 parameter servers"},
		"too fast": {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[1].Spans[0].Rate += 2 }, "runs at 1000002 on 1 containers"},
		"not by its speed-up": {func(s *sim.Scenario, _ *sim.Result) {
			s.Jobs[1].Speedup = func(n int64) float64 { return float64(2 * n) }
		}, "runs at 1000000"},
		"never started":        {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[1].Started = false }, "started false"},
		"another start":        {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[1].Start++ }, "started true"},
		"refused, and ran":     {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[1].Refused = true }, "refused true"},
		"another completion":   {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[0].Completion-- }, "completed at 19.999999999s"},
		"not completed":        {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[0].Completed = false }, "completed false with"},
		"not done":             {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[1].Completed, r.Jobs[1].Completion = true, 30*second }, "completed true with"},
		"works on":             {func(s *sim.Scenario, _ *sim.Result) { s.Jobs[0].Work -= second }, "works on for"},
		"pauses uncounted":     {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[0].Paused = 0 }, "paused 5s for 1 adjustments, noted 0s"},
		"pauses without cause": {func(s *sim.Scenario, _ *sim.Result) { s.AdjustCost-- }, "paused 5s for 1 adjustments"},
		"held by two": {func(s *sim.Scenario, _ *sim.Result) { s.Servers[0].Capacity[0] = 3 },
			`server "s" holds [4] of [3] at 10s`},
		"held by two jobs": {func(_ *sim.Scenario, r *sim.Result) {
			r.Jobs[1].Start, r.Jobs[1].Spans[0].From, r.Jobs[1].Spans[0].Until = 12*second, 12*second, 22*second
		}, `server "s" holds [6] of [4] at 15s`},
		"samples descend":      {func(_ *sim.Scenario, r *sim.Result) { r.Samples[1].At = 0 }, "sample at 0s after 0s"},
		"a sample at the end":  {func(_ *sim.Scenario, r *sim.Result) { r.End = 19 * second }, "sample at 20s after 10s, the end is 19s"},
		"another utilization":  {func(_ *sim.Scenario, r *sim.Result) { r.Samples[2].Total = .6 }, "utilization 0.6, want 0.5"},
		"a negative loss":      {func(_ *sim.Scenario, r *sim.Result) { r.Samples[2].FairnessLoss = -1 }, "losses -1, 0"},
		"a negative loss, too": {func(_ *sim.Scenario, r *sim.Result) { r.Samples[2].RunningLoss = -1 }, "losses 0, -1"},
		"an adjustment more":   {func(_ *sim.Scenario, r *sim.Result) { r.Samples[2].Adjusted = 1 }, "1 more adjustments"},
	} {
		s, r := containers()
		test.spoil(s, r)
		if err := simtest.Check(s, r); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// On a shared worker a job has what it uses, at most its demand, and what all use fits.
func TestCheckShared(t *testing.T) {
	shared := func(rate int64) (*sim.Scenario, *sim.Result) {
		s := &sim.Scenario{
			Kinds: apportion.Kinds{"cpu"}, Law: sim.Shared{}, Horizon: 10 * second,
			Servers: []apportion.Server{{ID: "w", Capacity: apportion.Resources{sim.Whole}}},
			Jobs:    []sim.Job{sim.SharedJob("a", 0, 20*second, 600_000), sim.SharedJob("b", 0, 20*second, 600_000)},
		}
		r := &sim.Result{End: 10 * second, Samples: []sim.Sample{{Total: 2 * sim.Fraction(rate)}}}
		for _, id := range []string{"a", "b"} {
			r.Jobs = append(r.Jobs, sim.Outcome{ID: id, Started: true, Spans: []sim.Span{
				{Until: 10 * second, Places: []apportion.Placement{{Server: 0, Count: 1}}, Rate: rate},
			}})
		}
		return s, r
	}
	for rate, want := range map[int64]string{500_000: "", 500_001: `server "w" holds`, 600_001: "uses 600001 of a demand of 600000", -1: "uses -1"} {
		switch err := simtest.Check(shared(rate)); {
		case err == nil && want != "", err != nil && (want == "" || !strings.Contains(err.Error(), want)):
			t.Errorf("rate %d: %v, want %q", rate, err, want)
		}
	}
}

// In slots a job ends with its slot, and holds parameter servers on servers of their own.
func TestCheckSlots(t *testing.T) {
	slots := func() (*sim.Scenario, *sim.Result) {
		cluster := &primaldual.Cluster{
			Kinds: apportion.Kinds{"cpu"}, Slots: 4,
			WorkerServers: []apportion.Server{{ID: "w", Capacity: apportion.Resources{4}}},
			PSServers:     []apportion.Server{{ID: "p", Capacity: apportion.Resources{2}}},
		}
		// Five worker-slots, two workers for each parameter server.
		job := primaldual.Job{
			ID: "a", Arrival: 1, Epochs: 5, Chunks: 4, Minibatches: 1, MinibatchSlots: .25, WorkerBandwidth: 1, PSBandwidth: 2,
			Worker: apportion.Resources{1}, PS: apportion.Resources{1}, Utility: primaldual.Sigmoid{Gamma1: 10},
		}
		s := must.Have(sim.FromSlots(cluster, []primaldual.Job{job}, []int64{3}, second))(t)
		three, two := []apportion.Placement{{Server: 0, Count: 3}}, []apportion.Placement{{Server: 0, Count: 2}}
		return s, &sim.Result{
			End: 2 * second, Samples: []sim.Sample{{Total: .75 + 1}, {At: 2 * second}},
			Jobs: []sim.Outcome{{ID: "a", Started: true, Completed: true, Completion: 2 * second, Spans: []sim.Span{
				{Until: 2 * second, Places: three, ParameterServers: two, Rate: 3 * sim.Whole},
			}}},
		}
	}
	for name, test := range map[string]struct {
		spoil func(s *sim.Scenario, r *sim.Result)
		want  string
	}{
		"right":                {func(*sim.Scenario, *sim.Result) {}, ""},
		"one parameter server": {func(_ *sim.Scenario, r *sim.Result) { r.Jobs[0].Spans[0].ParameterServers[0].Count = 1 }, "3 containers and 1 parameter servers"},
		"no room for two":      {func(s *sim.Scenario, _ *sim.Result) { s.ParameterServers[0].Capacity[0] = 1 }, `server "p" holds [2] of [1]`},
		"a slot too long": {func(s *sim.Scenario, r *sim.Result) {
			r.Jobs[0].Spans[0].Until, r.Jobs[0].Completion, r.End = 3*second, 3*second, 3*second
		}, "works on for"},
	} {
		s, r := slots()
		test.spoil(s, r)
		if err := simtest.Check(s, r); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
