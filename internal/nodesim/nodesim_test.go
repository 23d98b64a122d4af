// This file checks single rules of the simulation.

package nodesim

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/growth/specon"
)

func TestCurveValue(t *testing.T) {
	c, err := NewCurve([]float64{10, 20, 40, 50, 110}, []float64{8, 4, math.NaN(), 2, math.Inf(1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ progress, want float64 }{
		{-1, 8}, {0, 8}, {0.05, 6}, {0.1, 4}, {0.2, 4}, {0.4, 2}, {0.7, 2}, {1, math.Inf(1)}, {2, math.Inf(1)},
	} {
		if got := c.Value(test.progress); got != test.want {
			t.Errorf("Value(%v) = %v, want %v", test.progress, got, test.want)
		}
	}
	if got := c.Value(0.3); !math.IsNaN(got) {
		t.Errorf("Value at a point that is no number = %v", got)
	}
}

func TestCurveFaults(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, at := range [][]float64{nil, {1}, {1, 1}, {2, 1}, {1, nan}, {nan, 1}, {1, inf}, {-math.MaxFloat64, math.MaxFloat64}} {
		if _, err := NewCurve(at, make([]float64, len(at))); !errors.Is(err, ErrCurve) {
			t.Errorf("steps %v: error %v, want %v", at, err, ErrCurve)
		}
	}
	if _, err := NewCurve([]float64{1, 2}, []float64{1}); !errors.Is(err, ErrCurve) {
		t.Errorf("missing value: error %v", err)
	}
	if _, err := ReadCurve("one", strings.NewReader("step,t_s,value\n1,,2\n")); !errors.Is(err, ErrCurve) || !strings.Contains(err.Error(), "one") {
		t.Errorf("one point: error %v", err)
	}
	if _, err := Recorded("nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("unknown curve: error %v", err)
	}
}

// The embedded curves can be read and are those that package growth tests with.
func TestRecordedCurvesAreCopies(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("curves", "*.csv"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, path := range names {
		name := filepath.Base(path)
		if _, err := Recorded(strings.TrimSuffix(name, ".csv")); err != nil {
			t.Error(err)
		}
		ours, err := os.ReadFile(path)
		theirs, err2 := os.ReadFile(filepath.Join("..", "..", "growth", "testdata", "curves", name))
		if err := errors.Join(err, err2); err != nil || !bytes.Equal(ours, theirs) {
			t.Errorf("%s is not a copy (%v)", name, err)
		}
	}
}

func TestValidate(t *testing.T) {
	good := func() *Scenario { return &Scenario{Workers: 1, Jobs: []Job{job1("a", 0, second)}} }
	for _, test := range []struct {
		field   string
		want    error
		corrupt func(*Scenario)
	}{
		{"Workers", apportion.ErrRange, func(s *Scenario) { s.Workers = 0 }},
		{"Jobs", apportion.ErrRange, func(s *Scenario) { s.Jobs = make([]Job, maxJobs+1) }},
		{"MoveCost", apportion.ErrRange, func(s *Scenario) { s.MoveCost = -1 }},
		{"Interference", apportion.ErrRange, func(s *Scenario) { s.Interference = math.NaN() }},
		{"ID", apportion.ErrEmpty, func(s *Scenario) { s.Jobs[0].ID = "" }},
		{"ID", apportion.ErrDuplicate, func(s *Scenario) { s.Jobs = append(s.Jobs, s.Jobs[0]) }},
		{"Arrival", apportion.ErrNegative, func(s *Scenario) { s.Jobs[0].Arrival = -1 }},
		{"Work", apportion.ErrRange, func(s *Scenario) { s.Jobs[0].Work = 0 }},
		{"Work", apportion.ErrRange, func(s *Scenario) { s.Jobs[0].Work = MaxWork + 1 }},
		{"Demand", apportion.ErrRange, func(s *Scenario) { s.Jobs[0].Demand = Whole + 1 }},
		{"Request", apportion.ErrRange, func(s *Scenario) { s.Jobs[0].Request = math.Inf(1) }},
		{"Curve", apportion.ErrEmpty, func(s *Scenario) { s.Jobs[0].Curve = nil }},
	} {
		s := good()
		test.corrupt(s)
		_, err := Run(s, &Default{})
		var fault *apportion.FieldError
		if !errors.As(err, &fault) || fault.Field != test.field || !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.field, err, test.want)
		}
	}
	if _, err := Run(good(), &Default{}); err != nil {
		t.Error(err)
	}
}

// said is a policy that gives the same orders always.
type said struct {
	Orders
	err error
}

func (said) Name() string                    { return "said" }
func (s said) Decide(*State) (Orders, error) { return s.Orders, s.err }

func TestWrongOrders(t *testing.T) {
	placed := []Placement{{Index: 0, Worker: 0}}
	own := errors.New("own")
	for _, test := range []struct {
		name   string
		policy said
		want   error
	}{
		{"job without worker", said{}, ErrPolicy},
		{"unknown worker", said{Orders: Orders{Placements: []Placement{{Index: 0, Worker: 1}}}}, ErrPolicy},
		{"unknown job", said{Orders: Orders{Placements: []Placement{{Index: 7}}}}, ErrPolicy},
		{"limit of an unknown job", said{Orders: Orders{Placements: placed, Limits: []Limit{{Index: 7}}}}, ErrPolicy},
		{"negative limit", said{Orders: Orders{Placements: placed, Limits: []Limit{{Index: 0, Limit: -1}}}}, ErrPolicy},
		{"decision in the past", said{Orders: Orders{Placements: placed, Next: -1}}, ErrPolicy},
		{"error of its own", said{err: own}, own},
	} {
		if _, err := Run(&Scenario{Workers: 1, Jobs: []Job{job1("a", 0, second)}}, test.policy); !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
	}
}

// mover moves job 0 to worker 1 at its second decision.
type mover struct{ asked int }

func (*mover) Name() string { return "mover" }
func (m *mover) Decide(state *State) (Orders, error) {
	m.asked++
	switch m.asked {
	case 1:
		return Orders{Placements: []Placement{{Index: 0, Worker: 0}}, Next: 4 * second}, nil
	case 2:
		return Orders{Placements: []Placement{{Index: 0, Worker: 1, Why: Slow}}}, nil
	}
	return Orders{}, nil
}

// A job that is moved pauses for MoveCost and uses no CPU meanwhile.
func TestMoveCost(t *testing.T) {
	result, err := Run(&Scenario{Workers: 2, MoveCost: 5 * second, Jobs: []Job{job1("a", 0, 10*second)}}, &mover{})
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Makespan(); got != 15*second {
		t.Errorf("makespan %v, want 15 s", got)
	}
	want := []Migration{{At: 4 * second, Job: 0, From: 0, To: 1, Why: Slow}}
	if !slices.Equal(result.Migrations, want) {
		t.Errorf("migrations %v, want %v", result.Migrations, want)
	}
	if paused := result.Samples[1].Running[0]; paused.Share != 0 || paused.Worker != 1 || result.Samples[2].At != 9*second {
		t.Errorf("paused as %+v until %v", paused, result.Samples[2].At)
	}
}

// Two jobs beside one another lose a fifth at an interference of a quarter.
func TestInterference(t *testing.T) {
	result, err := Run(&Scenario{Workers: 1, Interference: 0.25, Jobs: []Job{job1("a", 0, 4*second), job1("b", 0, 4*second)}}, &Default{})
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Makespan(); got != 10*second {
		t.Errorf("makespan %v, want 10 s", got)
	}
}

func TestDefaultPlacesByRequests(t *testing.T) {
	s := &Scenario{Workers: 2}
	for i, request := range []float64{3, 1, 1, 2} {
		j := job1(string(rune('a'+i)), time.Duration(i)*second, 100*second)
		j.Request = request
		s.Jobs = append(s.Jobs, j)
	}
	result, err := Run(s, &Default{})
	if err != nil {
		t.Fatal(err)
	}
	var workers []int
	for _, r := range result.Samples[3].Running {
		workers = append(workers, r.Worker)
	}
	if want := []int{0, 1, 1, 1}; !slices.Equal(workers, want) {
		t.Errorf("workers %v, want %v", workers, want)
	}
	if len(result.Migrations) != 0 {
		t.Errorf("migrations %v, want none", result.Migrations)
	}
}

// A job that stands still while two others grow on its worker is moved to the idle worker, once.
func TestSpeConMovesTheSlowJob(t *testing.T) {
	s := &Scenario{Workers: 2, MoveCost: 5 * second}
	steep := mustCurve(100, 50, 20, 8, 3, 1)
	for i := range 3 {
		j := job1(string(rune('a'+i)), 0, 300*second)
		j.Curve = steep
		s.Jobs = append(s.Jobs, j)
	}
	s.Jobs[0].Curve = mustCurve(1, .9999, .99985, .99984, .999835, .999834, .9998339)
	specon, err := NewSpeCon(specon.Config{Interval: 20 * second, Alpha: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	specon.Place = Default{} // no requests: all on the first worker
	result, err := Run(s, specon)
	if err != nil {
		t.Fatal(err)
	}
	slow := 0
	for _, m := range result.Migrations {
		if m.Why == Slow {
			slow++
			if m.Job != 0 || m.From != 0 || m.To != 1 {
				t.Errorf("moved %+v, want job 0 to worker 1", m)
			}
		}
	}
	if slow != 1 {
		t.Errorf("%d moves of slow jobs, want 1", slow)
	}
	base, err := Run(s, &Default{})
	if err != nil {
		t.Fatal(err)
	}
	if sooner, _ := result.Gains(base); sooner != 3 {
		t.Errorf("%d jobs gain, want 3", sooner)
	}
}

func TestEmpty(t *testing.T) {
	for _, policy := range policies() {
		result, err := Run(&Scenario{Workers: 1}, policy)
		if err != nil || result.Makespan() != 0 || result.Mean() != 0 || len(result.Samples) != 0 {
			t.Errorf("%s: %+v, %v", policy.Name(), result, err)
		}
	}
}

func TestPoliciesRefuseWrongSettings(t *testing.T) {
	if _, err := NewFlowCon(flowcon.Config{}, nil); !errors.Is(err, apportion.ErrRange) {
		t.Errorf("FlowCon: %v", err)
	}
	if _, err := NewSpeCon(specon.Config{}, nil); !errors.Is(err, apportion.ErrRange) {
		t.Errorf("SpeCon: %v", err)
	}
}

func TestGains(t *testing.T) {
	of := func(times ...time.Duration) *Result {
		r := &Result{}
		for _, d := range times {
			r.Outcomes = append(r.Outcomes, Outcome{Arrival: second, Completion: second + d})
		}
		return r
	}
	base := of(10*second, 10*second, 10*second, 10*second)
	sooner, reductions := of(5*second, 10*second-3, 9990*time.Millisecond, 15*second).Gains(base)
	if sooner != 2 || reductions[0] != 0.5 || reductions[3] != -0.5 {
		t.Errorf("%d sooner, reductions %v; want 2, and 0.5 and -0.5 for the first and the last", sooner, reductions)
	}
	if got := base.Mean(); got != 10*second {
		t.Errorf("mean %v, want 10 s", got)
	}
}
