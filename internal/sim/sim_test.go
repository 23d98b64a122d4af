// This file tests the simulator's edges, refusals and averages.

package sim

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// oneServer is a cluster of 4 CPUs.
func oneServer(apps ...App) *Scenario {
	return &Scenario{
		Kinds:   apportion.Kinds{"cpu"},
		Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{4}}},
		Apps:    apps,
	}
}

func app(id string, arrival, duration time.Duration) App {
	return App{
		Application: alloc.Application{ID: id, Demand: apportion.Resources{1}, Weight: 1, Max: 4, Min: 1},
		Arrival:     arrival, Fixed: 2, Duration: duration,
	}
}

func TestValidateNamesEveryFault(t *testing.T) {
	s := oneServer(app("a", -1, 1), app("a", 0, 0), app("", 0, 1))
	s.Apps[2].Fixed = 0
	s.AdjustCost, s.Horizon = -1, -1
	err := s.Validate()
	faults := apportion.Faults(nil)
	if !errors.As(err, &faults) || len(faults) != 7 {
		t.Fatalf("faults %v, want 7", err)
	}
	for _, want := range []error{apportion.ErrNegative, apportion.ErrDuplicate, apportion.ErrRange, apportion.ErrEmpty} {
		if !errors.Is(err, want) {
			t.Errorf("no %v in %v", want, err)
		}
	}
	if _, err := Run(t.Context(), s, Swarm{}); !errors.As(err, &faults) {
		t.Errorf("Run returned %v, want the faults", err)
	}
}

func TestNobodyComes(t *testing.T) {
	result, err := Run(t.Context(), oneServer(), Swarm{})
	if err != nil || len(result.Samples) != 0 || result.End != 0 {
		t.Errorf("%+v, %v, want nothing", result, err)
	}
}

// answer is a policy that always answers the same.
type answer struct {
	allocation alloc.Allocation
	err        error
}

func (answer) Name() string { return "answer" }

func (a answer) Decide(context.Context, *State) (alloc.Allocation, error) { return a.allocation, a.err }

func TestWrongPolicies(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name   string
		policy answer
		want   error
	}{
		{"overfills", answer{alloc.Allocation{"a": {"s": 5}}, nil}, ErrPolicy},
		{"negative", answer{alloc.Allocation{"a": {"s": -1}}, nil}, ErrPolicy},
		{"overflows", answer{alloc.Allocation{"a": {"s": math.MaxInt64}}, nil}, ErrPolicy},
		{"unknown application", answer{alloc.Allocation{"b": {"s": 1}}, nil}, apportion.ErrUnknown},
		{"unknown server", answer{alloc.Allocation{"a": {"t": 1}}, nil}, apportion.ErrUnknown},
		{"fails", answer{nil, broken}, broken},
	} {
		a := app("a", 0, time.Hour)
		a.Demand = apportion.Resources{2}
		if _, err := Run(t.Context(), oneServer(a), test.policy); !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
	}
}

func TestWrongSpeedup(t *testing.T) {
	for _, speed := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		a := app("a", 0, time.Hour)
		a.Speedup = func(n int64) float64 {
			if n == 2 {
				return 1
			}
			return speed
		}
		_, err := Run(t.Context(), oneServer(a), answer{alloc.Allocation{"a": {"s": 3}}, nil})
		fault := (*apportion.FieldError)(nil)
		if !errors.As(err, &fault) || fault.Field != "Speedup(3)" {
			t.Errorf("speed %v: error %v, want one of Speedup(3)", speed, err)
		}
		a.Fixed = 3
		if _, err := Run(t.Context(), oneServer(a), Swarm{}); !errors.Is(err, apportion.ErrRange) {
			t.Errorf("speed %v of the fixed containers: error %v, want %v", speed, err, apportion.ErrRange)
		}
	}
}

func TestCompletionBeyondTime(t *testing.T) {
	a := app("a", math.MaxInt64-1, time.Hour)
	if _, err := Run(t.Context(), oneServer(a), Swarm{}); !errors.Is(err, apportion.ErrOverflow) {
		t.Errorf("error %v, want %v", err, apportion.ErrOverflow)
	}
}

func TestPauseBeyondTime(t *testing.T) {
	s := oneServer(app("a", 0, time.Hour), app("b", time.Minute, time.Hour))
	s.AdjustCost = math.MaxInt64
	script := &scripted{[]alloc.Allocation{{"a": {"s": 4}}, {"a": {"s": 2}, "b": {"s": 2}}}}
	if _, err := Run(t.Context(), s, script); !errors.Is(err, apportion.ErrOverflow) {
		t.Errorf("error %v, want %v", err, apportion.ErrOverflow)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, oneServer(app("a", 0, time.Hour)), Swarm{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// An application that can never run must not block those behind it, nor be lost.
func TestSwarmPassesOverWhatNeverFits(t *testing.T) {
	giant := app("giant", 0, time.Hour)
	giant.Fixed = 5
	result, err := Run(t.Context(), oneServer(giant, app("b", 0, time.Hour)), Swarm{})
	if err != nil {
		t.Fatal(err)
	}
	if g := result.Outcomes[0]; g.Started || g.Completed {
		t.Errorf("the giant ran: %+v", g)
	}
	if b := result.Outcomes[1]; b.Completion != time.Hour {
		t.Errorf("b completed at %v, want 1h", b.Completion)
	}
	if last := result.Samples[len(result.Samples)-1]; last.Waiting != 1 || last.RunningLoss != 0 {
		t.Errorf("at the end %+v, want the giant waiting and no loss among the running", last)
	}
}

// The head of the queue holds up everyone behind it, even who would fit.
func TestSwarmHeadOfLine(t *testing.T) {
	first, head, small := app("first", 0, time.Hour), app("head", time.Second, time.Hour), app("small", 2*time.Second, time.Hour)
	head.Fixed, small.Fixed = 4, 1
	result, err := Run(t.Context(), oneServer(first, head, small), Swarm{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{0, time.Hour, 2 * time.Hour} {
		if got := result.Outcomes[i].Start; got != want {
			t.Errorf("%s started at %v, want %v", result.Outcomes[i].ID, got, want)
		}
	}
}

// Spread: the server with the fewest containers, the first one on a tie, only those with room.
func TestSwarmSpreads(t *testing.T) {
	a := app("a", 0, time.Hour)
	a.Fixed = 4
	state := &State{
		Kinds: apportion.Kinds{"cpu"},
		Servers: []apportion.Server{
			{ID: "full", Capacity: apportion.Resources{0}}, {ID: "s", Capacity: apportion.Resources{9}},
			{ID: "t", Capacity: apportion.Resources{9}}, {ID: "small", Capacity: apportion.Resources{1}},
		},
		Apps: []*App{&a},
	}
	next, err := Swarm{}.Decide(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	for server, want := range map[string]int64{"full": 0, "s": 2, "t": 1, "small": 1} {
		if got := next["a"][server]; got != want {
			t.Errorf("%d containers on %s, want %d", got, server, want)
		}
	}
}

// Fairness loss and utilization are those of package alloc for the same problem.
func TestSamplesAreMeasured(t *testing.T) {
	s := oneServer(app("a", 0, time.Hour), app("b", time.Minute, time.Hour), app("c", 2*time.Minute, time.Hour))
	result, err := Run(t.Context(), s, Swarm{})
	if err != nil {
		t.Fatal(err)
	}
	third := result.Samples[2]
	// a and b hold half of the cluster each, c waits: everybody is due a third.
	if want := 2*(1./2-1./3) + 1./3; math.Abs(third.FairnessLoss-want) > 1e-12 {
		t.Errorf("loss %v, want %v", third.FairnessLoss, want)
	}
	if third.RunningLoss > 1e-12 {
		t.Errorf("loss among the running %v, want 0", third.RunningLoss)
	}
	if third.Total != 1 || third.Running != 2 || third.Waiting != 1 {
		t.Errorf("%+v, want utilization 1, 2 running, 1 waiting", third)
	}
}

func TestMeanAndMax(t *testing.T) {
	r := &Result{Samples: []Sample{{At: 2, Total: 1}, {At: 4, Total: 3}}}
	total := func(s *Sample) float64 { return s.Total }
	for _, test := range []struct {
		from, to  time.Duration
		mean, max float64
	}{
		{0, 2, 0, 0}, {0, 4, 0.5, 1}, {0, 8, 14. / 8, 3}, {3, 5, 2, 3}, {5, 9, 3, 0}, {4, 4, 0, 0}, {5, 3, 0, 0},
	} {
		if got := r.Mean(test.from, test.to, total); math.Abs(got-test.mean) > 1e-12 {
			t.Errorf("mean over [%d, %d): %v, want %v", test.from, test.to, got, test.mean)
		}
		if got := r.Max(test.from, test.to, total); got != test.max {
			t.Errorf("max over [%d, %d): %v, want %v", test.from, test.to, got, test.max)
		}
	}
}
