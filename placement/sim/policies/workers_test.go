// This file drives FlowCon and SpeCon by hand.

package policies

import (
	"reflect"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/simtest"
)

// What happens on another worker between two runs must not cut a measurement short.
func TestFlowConMeasuresWholeIntervals(t *testing.T) {
	policy := must.Have(NewFlowCon(flowcon.Config{Interval: 20 * second, Alpha: 0.1}, nil))(t)
	var slow []growth.Change
	policy.Observe = func(_ time.Duration, move growth.Change) {
		if move.Cause == growth.GrowsSlowly {
			slow = append(slow, move)
		}
	}
	a, b := whole("a", 0, 100*second), whole("b", 0, 100*second)
	for _, now := range []time.Duration{0, 10 * second, 20 * second} {
		// a uses half of the worker until 10 s and nothing after, and goes from 1 to 0.6.
		state := &sim.State{Scenario: onWorkers(2), Now: now, Jobs: []sim.JobState{{Job: &a, Index: 0, Places: on(0),
			Value: 1 - 0.02*now.Seconds(), Left: a.Work - min(now, 10*second)/2}}}
		if now > 0 {
			state.Jobs = append(state.Jobs, sim.JobState{Job: &b, Index: 1, Places: on(1), Left: b.Work})
		}
		must.Have(policy.Decide(t.Context(), state))(t)
	}
	// 0.02 a second at a usage of a quarter.
	if len(slow) != 1 || slow[0].Job != "a" || slow[0].Growth < 0.07999 || slow[0].Growth > 0.08001 {
		t.Errorf("slow: %v, want a with 0.08", slow)
	}
}

// Workers run at intervals of their own; the policy is asked when the first of them is due.
func TestFlowConWakesForTheFirst(t *testing.T) {
	policy := must.Have(NewFlowCon(flowcon.Config{Interval: 20 * second, Alpha: 0.1}, nil))(t)
	a, b := whole("a", 0, 100*second), whole("b", 10*second, 100*second)
	state := &sim.State{Scenario: onWorkers(2), Jobs: []sim.JobState{{Job: &a, Index: 0, Places: on(0), Left: a.Work}}}
	if orders, err := policy.Decide(t.Context(), state); err != nil || orders.Next != 20*second {
		t.Errorf("next at %v (%v), want 20 s", orders.Next, err)
	}
	state.Now = 10 * second
	state.Jobs = append(state.Jobs, sim.JobState{Job: &b, Index: 1, New: true, Places: on(1), Left: b.Work})
	if orders, err := policy.Decide(t.Context(), state); err != nil || orders.Next != 20*second {
		t.Errorf("next at %v (%v), want 20 s for the first worker, not 30 s for the second", orders.Next, err)
	}
}

// stage plays SpeCon checks 10 s apart, with jobs on the workers given; value tells the value of a
// job at a check. It returns the orders of each check.
func stage(t *testing.T, checks int, workers []int, value func(index, check int) float64) (*SpeCon, *sim.State, []sim.Orders) {
	t.Helper()
	policy := must.Have(NewSpeCon(specon.Config{Interval: 10 * second, Alpha: 0.05}, nil))(t)
	state := &sim.State{Scenario: onWorkers(2)}
	for i, w := range workers {
		j := whole(string(rune('a'+i)), 0, 1000*second)
		state.Jobs = append(state.Jobs, sim.JobState{Job: &j, Index: i, Places: on(w), Left: j.Work})
	}
	var all []sim.Orders
	for check := range checks {
		state.Now = time.Duration(check) * 10 * second
		for i := range state.Jobs {
			state.Jobs[i].Value, state.Jobs[i].New = value(state.Jobs[i].Index, check), check == 0
		}
		orders := must.Have(policy.Decide(t.Context(), state))(t)
		all = append(all, orders)
		for _, p := range orders.Places {
			state.Jobs[p.Job[0]-'a'].Places = p.On // jobs are called a, b, ...
		}
	}
	return policy, state, all
}

// shrinking returns a value whose gains shrink from below alpha, so that it is slow at every check
// from the second on.
func shrinking(check int) float64 {
	value, gain := 1.0, 0.04
	for range check {
		value -= gain
		gain *= 0.6
	}
	return value
}

// Job a is decided on once, at the fourth check after the first gain, although it stays slow and two
// others on its new worker go on growing.
func TestSpeConDecidesOnce(t *testing.T) {
	policy, _, all := stage(t, 8, []int{0, 0, 0, 0, 0, 1, 1}, func(index, check int) float64 {
		if index == 0 {
			return shrinking(check)
		}
		return 100 - 10*float64(check) // grows by a tenth of its first value
	})
	for check, orders := range all {
		var want []sim.Place
		if check == 4 { // checks: 0 first value, 1 first gain, 2 watching, 3 converged, 4 asks
			want = []sim.Place{{Job: "a", On: on(1), Why: slow}}
		}
		if !reflect.DeepEqual(orders.Places, want) {
			t.Errorf("check %d: %v, want %v", check, orders.Places, want)
		}
		must.Equal(t, orders.Next, time.Duration(check+1)*10*second, "check", check, "next")
	}
	if job := policy.manager.State().Jobs[0]; !job.Decided || job.Since != 40*second {
		t.Errorf("decided %v at %v, want only at 40 s", job.Decided, job.Since)
	}
}

// When all jobs have converged, idle workers get the jobs that converged last, each job once.
func TestSpeConRebalances(t *testing.T) {
	policy, state, all := stage(t, 7, []int{0, 0, 0, 0}, func(index, check int) float64 {
		return shrinking(max(0, check-index/2)) // c and d start to move one check later
	})
	var moved []sim.Place
	for _, orders := range all {
		moved = append(moved, orders.Places...)
	}
	want := []sim.Place{{Job: "c", On: on(1), Why: rebalanced}, {Job: "d", On: on(1), Why: rebalanced}}
	if !reflect.DeepEqual(moved, want) {
		t.Errorf("moved %v, want %v", moved, want)
	}
	// The jobs of worker 0 leave: it is idle, and those of worker 1 have been moved before.
	state.Jobs, state.Ended = state.Jobs[2:], []string{"a", "b"}
	state.Now += second
	orders := must.Have(policy.Decide(t.Context(), state))(t)
	must.Equal(t, len(orders.Places), 0, "moved again", orders.Places)
	if jobs := policy.manager.State().Jobs; len(jobs) != 2 {
		t.Errorf("the manager knows %d jobs, want the two that are left", len(jobs))
	}
}

func TestMeters(t *testing.T) {
	m := meters{}
	a := whole("a", 0, 10*second)
	job := &sim.JobState{Job: &a, Left: 9 * second}
	if _, measured := m.read(job, 5*second).Share(); measured {
		t.Error("the first reading has measured something")
	}
	job.Left = 8 * second
	if got, _ := m.read(job, 9*second).Share(); got != 0.25 {
		t.Errorf("usage %v, want 0.25", got)
	}
	if _, measured := m.read(job, 9*second).Share(); measured {
		t.Error("something was measured over no time")
	}
}

// A job that stands still while two others grow on its worker is moved to the idle worker, once.
func TestSpeConMovesTheSlowJob(t *testing.T) {
	s := onWorkers(2)
	s.AdjustCost = 5 * second
	for i := range 3 {
		j := whole(string(rune('a'+i)), 0, 300*second)
		j.Curve = through(100, 50, 20, 8, 3, 1)
		s.Jobs = append(s.Jobs, j)
	}
	s.Jobs[0].Curve = through(1, .9999, .99985, .99984, .999835, .999834, .9998339)
	policy := must.Have(NewSpeCon(specon.Config{Interval: 20 * second, Alpha: 0.01}, nil))(t)
	result, err := sim.Run(t.Context(), s, policy) // no requests: all start on the first worker
	if err != nil {
		t.Fatal(err)
	}
	slows := 0
	for i := range result.Jobs {
		for _, m := range result.Jobs[i].Moves() {
			if m.Why == slow {
				slows++
				if i != 0 || m.Places[0].Server != 1 {
					t.Errorf("moved %s to %+v, want a to worker 1", result.Jobs[i].ID, m.Places)
				}
			}
		}
	}
	must.Equal(t, slows, 1, "moves of slow jobs")
	base := must.Have(sim.Run(t.Context(), s, &Default{}))(t)
	if sooner, _ := result.Gains(base); sooner != 3 {
		t.Errorf("%d jobs gain, want 3", sooner)
	}
}

// through returns a learning curve with values at equal steps.
func through(values ...float64) *sim.Curve {
	at := make([]float64, len(values))
	for i := range at {
		at[i] = float64(i)
	}
	c, err := sim.NewCurve(at, values)
	if err != nil {
		panic(err)
	}
	return c
}

func TestDefaultPlacesByRequests(t *testing.T) {
	s := onWorkers(2)
	for i, request := range []int64{3, 1, 1, 2} {
		j := whole(string(rune('a'+i)), time.Duration(i)*second, 100*second)
		j.Request = request
		s.Jobs = append(s.Jobs, j)
	}
	result := must.Have(sim.Run(t.Context(), s, &Default{}))(t)
	for i, want := range []int{0, 1, 1, 1} {
		job := &result.Jobs[i]
		if got := job.Spans[0].Places[0].Server; got != want || job.Adjusted != 0 || job.Spans[0].Why != "arrived" {
			t.Errorf("%s: worker %d, %d adjustments, %q; want worker %d for good", job.ID, got, job.Adjusted, job.Spans[0].Why, want)
		}
	}
}

// Without interference and with jobs that can use a whole worker, limits do not change when one worker
// is done with all jobs: at most a nanosecond for each completion is lost.
func TestPropLimitsDoNotWaste(t *testing.T) {
	for seed := range uint64(100) {
		s := simtest.Scenario(simtest.Workers, seed)
		s.Servers, s.Law = s.Servers[:1], nil
		s.Law = sim.Shared{}
		for i := range s.Jobs {
			s.Jobs[i].Demand[0] = sim.Whole
		}
		policy := must.Have(NewFlowCon(flowcon.Config{Interval: 20 * second, Alpha: 0.002}, nil))(t)
		var spans []time.Duration
		for _, policy := range []sim.Policy{&Default{}, policy} {
			result := must.Have(sim.Run(t.Context(), s, policy))(t)
			spans = append(spans, result.Makespan())
		}
		if slack := (spans[0] - spans[1]).Abs(); slack > time.Duration(len(s.Jobs)) {
			t.Errorf("scenario %d: makespans %v differ by more than %d ns", seed, spans, len(s.Jobs))
		}
	}
}

func TestPoliciesRefuseWrongSettings(t *testing.T) {
	must.Fail(NewFlowCon(flowcon.Config{}, nil))(t, apportion.ErrRange, "FlowCon")
	must.Fail(NewSpeCon(specon.Config{}, nil))(t, apportion.ErrRange, "SpeCon")
}
