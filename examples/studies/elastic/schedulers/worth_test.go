// This file tests what containers are worth to the optimizer: curves, weights, bounds, and the price of a restart.

package schedulers

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/worth"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
)

// asked returns what a policy says of the first application of a state.
func asked(t *testing.T, p *Worth, state *sim.State) *alloc.Application {
	t.Helper()
	p.book = *opened(t, state)
	app := state.Problem().Applications[0]
	must.Do(t, p.state(state, 0, &app))
	return &app
}

// amdahl is a job of 1 to 8 containers with a serial part of a tenth.
func amdahl() sim.Job {
	j := job("a", 0, 1000, 3, 8)
	j.Speedup, _ = sim.Amdahl(0.1)
	return j
}

// Counts, bounds and the worth of being idle, by the choices: who may be suspended has no least number, and a curve that is
// straight ends with what was submitted. A worth never falls with the containers, although two servers are slower than one.
func TestWorthStates(t *testing.T) {
	s := scenario(servers(4, "", ""), amdahl())
	s.Jobs[0].Min = 2
	s.Jobs[0].SpeedOn = func(on []apportion.Placement) float64 { return float64(on[0].Count) / float64(len(on)*len(on)) }
	for _, test := range []struct {
		name     string
		policy   *Worth
		counts   []int64
		min, max int64
		idle     bool
	}{
		{"as it is", &Worth{}, []int64{2, 3, 4, 8}, 2, 8, false},
		{"any number", &Worth{Any: true}, []int64{2, 3, 4, 5, 6, 7, 8}, 2, 8, false},
		{"may be suspended", &Worth{Preempt: true}, []int64{2, 3, 4, 8}, 0, 8, true},
		{"straight", &Worth{Linear: true}, []int64{2, 3}, 2, 3, false},
	} {
		app := asked(t, test.policy, at(s, 0, map[string][]apportion.Placement{"a": nil}))
		if !cmp.Equal(app.Counts, test.counts) || app.Min != test.min || app.Max != test.max || (app.IdleWorth != 0) != test.idle || len(app.Worth) != len(test.counts) {
			t.Errorf("%s: counts %v in [%d, %d], idle %g, worth %v", test.name, app.Counts, app.Min, app.Max, app.IdleWorth, app.Worth)
		}
		for i := 1; i < len(app.Worth); i++ {
			if app.Worth[i] < app.Worth[i-1] {
				t.Errorf("%s: worth %v falls", test.name, app.Worth)
			}
		}
	}
}

// Worths are those of package worth for the speeds, the fair number of containers, and the weight: made by hand here.
func TestWorthIsThatOfSpeeds(t *testing.T) {
	s := scenario(servers(4, "", ""), amdahl())
	speed := func(n int64) float64 { return math.Floor(1e6/(0.1+0.9/float64(n))) / 1e6 } // in millionths, as the simulator has it
	var counts []int64
	var speeds []float64
	for _, n := range []int64{1, 2, 3, 4, 8} {
		counts, speeds = append(counts, n), append(speeds, speed(n))
	}
	for _, test := range []struct {
		name    string
		policy  *Worth
		jobs    int
		service float64
		weight  float64
	}{
		{"alone", &Worth{}, 1, 0, 1},
		{"of four", &Worth{}, 4, 0, 1},
		{"attained twice the scale", &Worth{Power: 1}, 4, 2 * scale, 1. / 3},
		{"attained the scale, squared", &Worth{Power: 2}, 4, scale, 1. / 4},
		{"weighed by hand", &Worth{Weigh: func(*sim.JobState) float64 { return 5 }}, 4, 0, 5},
	} {
		state := at(s, 0, map[string][]apportion.Placement{"a": nil})
		test.policy.book = *opened(t, state)
		test.policy.book.jobs["a"].service = test.service
		app := state.Problem().Applications[0]
		state.Jobs = slices.Repeat(state.Jobs, test.jobs)
		must.Do(t, test.policy.state(state, 0, &app))
		want := must.Have(worth.Of(&worth.Job{Weight: test.weight, Speeds: speeds, Restart: 1,
			Fair: worth.FairSpeed(counts, speeds, 8/float64(test.jobs))}, worth.Fair))(t)
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-5 })
		must.Equal(t, cmp.Diff(want.Worth, app.Worth, near), "", test.name)
	}
}

// What a job that runs would keep: its speed where it is now, whatever the packed one would be, and without one that of
// its number of containers.
func TestWorthOfStaying(t *testing.T) {
	s := scenario(servers(4, "", ""), amdahl())
	stay := func(p *Worth, rate int64, n int64) float64 {
		state := at(s, 100, map[string][]apportion.Placement{"a": on(0, n)})
		state.Jobs[0].Rate = rate
		return *asked(t, p, state).StayWorth
	}
	packed := stay(&Worth{}, 0, 2)
	if got := stay(&Worth{}, sim.Whole, 2); got >= packed {
		t.Errorf("at speed 1 staying is worth %g, at that of two containers %g", got, packed)
	}
	if got := stay(&Worth{}, 8*sim.Whole, 2); got <= packed {
		t.Errorf("at speed 8 staying is worth %g, at that of two containers %g", got, packed)
	}
	if got, other := stay(&Worth{Linear: true}, sim.Whole, 2), stay(&Worth{Linear: true}, 0, 2); got != other {
		t.Errorf("straight: worth %g at speed 1, %g else", got, other)
	}
	// Beyond what it may have it counts as the most that it may have.
	if got, other := stay(&Worth{Linear: true}, 0, 4), stay(&Worth{Linear: true}, 0, 3); got != other {
		t.Errorf("four of three: %g, three: %g", got, other)
	}
}

// The part of its speeds that a job keeps: by the horizon, never less than a hundredth; by age and restarts; or all.
func TestRestartPrice(t *testing.T) {
	s := scenario(servers(4, ""), amdahl())
	state := at(s, 90, map[string][]apportion.Placement{"a": on(0, 1)})
	for _, test := range []struct {
		policy   Worth
		cost     time.Duration
		restarts int
		want     float64
	}{
		{Worth{}, 30 * time.Second, 0, 0.9}, {Worth{}, 0, 0, 1}, {Worth{Horizon: time.Minute}, 30 * time.Second, 5, 0.5},
		{Worth{Horizon: time.Minute}, time.Minute, 0, 0.01}, {Worth{Horizon: time.Minute}, time.Hour, 0, 0.01},
		{Worth{Price: Age}, 30 * time.Second, 0, 0.75}, {Worth{Price: Age}, 30 * time.Second, 1, 0.5}, {Worth{Price: Age}, 30 * time.Second, 9, 0.01},
		{Worth{Price: Free}, time.Hour, 9, 1}, {Worth{Price: Free, Horizon: time.Second}, time.Hour, 0, 1},
	} {
		s.AdjustCost = test.cost
		got := test.policy.restart(state, &state.Jobs[0], &record{restarts: test.restarts})
		if math.Abs(got-test.want) > 1e-12 {
			t.Errorf("price %v, horizon %v, cost %v, %d restarts: %g, want %g", test.policy.Price, test.policy.Horizon, test.cost, test.restarts, got, test.want)
		}
	}
}

// A job costs nothing in (16) until it has grown, where there is a budget and growth is not charged.
func TestFirstGrowthIsFree(t *testing.T) {
	s := scenario(servers(4, "", ""), amdahl())
	state := at(s, 0, map[string][]apportion.Placement{"a": on(0, 1)})
	for _, test := range []struct {
		policy Worth
		grown  bool
		free   bool
	}{
		{Worth{Theta2: 0.1}, false, true}, {Worth{Theta2: 0.1}, true, false},
		{Worth{Theta2: 0.1, ChargeGrowth: true}, false, false}, {Worth{}, false, false},
	} {
		p := &test.policy
		p.book = *opened(t, state)
		p.book.jobs["a"].grown = test.grown
		p.Observe = func(problem *alloc.Problem, _ *alloc.Decision) {
			if cost := problem.Applications[0].AdjustCost; (cost != nil && *cost == 0) != test.free {
				t.Errorf("theta2 %g, charged %v, grown %v: cost %v", p.Theta2, p.ChargeGrowth, test.grown, cost)
			}
		}
		must.Have(p.Decide(t.Context(), state))(t)
	}
}
