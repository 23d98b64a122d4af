package milp

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// fake answers with what it is told to.
type fake struct {
	answer Solution
	err    error
	can    Capability
	calls  int
	opts   *Options
}

func (f *fake) Capabilities() Capability { return f.can }

func (f *fake) Solve(_ context.Context, _ *Model, opts *Options) (Solution, error) {
	f.calls++
	f.opts = opts
	return f.answer, f.err
}

// plain is a Solver without Capabilities.
type plainSolver struct{ answer Solution }

func (p plainSolver) Solve(context.Context, *Model, *Options) (Solution, error) { return p.answer, nil }

// sample returns max 2x + y + 1 with x + y <= 3.5, x integer in [0, 3], y in [0, 10]: 7.5 at (3, 0.5).
func sample(t testing.TB) *Model {
	t.Helper()
	b := NewBuilder("sample")
	x, y := b.Integer(0, 3, "x"), b.Continuous(0, 10, "y")
	b.AtMost("cap", []Term{{x, 1}, {y, 1}}, 3.5)
	b.Maximize([]Term{{x, 2}, {y, 1}}, 1)
	m := must.Have(b.Build())(t)
	return m
}

// TestReferee lists right and wrong answers; each wrong one is caught for its reason.
func TestReferee(t *testing.T) {
	right := []float64{3, 0.5}
	for _, c := range []struct {
		name   string
		answer Solution
		opts   *Options
		fault  string // "": right
	}{
		{"optimal", Solution{Status: Optimal, Values: right, Bound: 7.5}, nil, ""},
		{"optimal within tolerance", Solution{Status: Optimal, Values: []float64{3 + 5e-7, 0.5}, Bound: 7.5 + 1e-7}, nil, ""},
		{"feasible", Solution{Status: Feasible, Values: []float64{2, 0}, Bound: 9}, nil, ""},
		{"feasible without bound", Solution{Status: Feasible, Values: []float64{2, 0}, Bound: inf}, nil, ""},
		{"limit", Solution{Status: LimitReached, Bound: 9}, nil, ""},
		{"optimal within the asked gap", Solution{Status: Optimal, Values: []float64{3, 0}, Bound: 7.6}, &Options{RelativeGap: 0.1}, ""},

		{"nothing filled in", Solution{}, nil, "no outcome"},
		{"status out of range", Solution{Status: 77}, nil, "no outcome"},
		{"no values", Solution{Status: Optimal, Bound: 7.5}, nil, "no values"},
		{"values of an infeasible model", Solution{Status: Infeasible, Values: right}, nil, "without a solution"},
		{"too few values", Solution{Status: Optimal, Values: []float64{3}, Bound: 7.5}, nil, "1 values for 2"},
		{"NaN value", Solution{Status: Feasible, Values: []float64{3, nan}, Bound: 9}, nil, `"y": value is not a finite`},
		{"infinite value", Solution{Status: Feasible, Values: []float64{3, inf}, Bound: 9}, nil, `"y": value is not a finite`},
		{"below a bound", Solution{Status: Feasible, Values: []float64{3, -0.1}, Bound: 9}, nil, "-0.1 < 0"},
		{"above a bound", Solution{Status: Feasible, Values: []float64{4, -1}, Bound: 9}, nil, "4 > 3"},
		{"not whole", Solution{Status: Feasible, Values: []float64{2.5, 0}, Bound: 9}, nil, "2.5 is not whole"},
		{"row violated", Solution{Status: Feasible, Values: []float64{3, 0.6}, Bound: 9}, nil, `row "cap": activity is out of range`},
		{"bound NaN", Solution{Status: Feasible, Values: right, Bound: nan}, nil, "bound is NaN"},
		{"bound on the wrong side", Solution{Status: Feasible, Values: right, Bound: 7.4}, nil, "better than bound"},
		{"gap open", Solution{Status: Optimal, Values: []float64{3, 0}, Bound: 7.5}, nil, "further apart"},
		{"no bound", Solution{Status: Optimal, Values: right, Bound: inf}, nil, "further apart"},
		{"cancelled by nobody", Solution{Status: Cancelled, Bound: inf}, nil, "has not ended"},
		{"unbounded", Solution{Status: Unbounded}, nil, "is bounded"},
		{"infeasible against the hint", Solution{Status: Infeasible}, &Options{Hint: []float64{1, 1}}, "starting solution or a corner"},
		{"limit below the hint", Solution{Status: LimitReached, Bound: 3}, &Options{Hint: []float64{1, 1}}, "a point with objective"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.answer.Values = slices.Clone(c.answer.Values)
			got, err := Solve(context.Background(), plainSolver{c.answer}, sample(t), c.opts)
			if c.fault == "" {
				if err != nil || got.Status != c.answer.Status {
					t.Fatalf("%v, %v", got.Status, err)
				}
				return
			}
			var wrong *WrongAnswerError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.fault) || got.Status != Invalid {
				t.Errorf("%v, error %v, want %q", got.Status, err, c.fault)
			}
		})
	}
}

// TestSolveCompletes: whole values are exactly whole, the objective is recomputed, what has no
// solution gets the bound of its status.
func TestSolveCompletes(t *testing.T) {
	near := Solution{Status: Optimal, Values: []float64{3 - 4e-7, 0.5}, Bound: 7.5, Objective: 123}
	got, err := Solve(context.Background(), plainSolver{near}, sample(t), nil)
	if err != nil || got.Values[0] != 3 || got.Objective != 7.5 || got.Gap() != 0 || !got.HasSolution() {
		t.Errorf("%+v, %v", got, err)
	}
	b := NewBuilder("")
	b.AtLeast("", []Term{{b.Integer(0, 1, "x"), 1}}, 2)
	infeasible := must.Have(b.Build())(t)
	got, err = Solve(context.Background(), plainSolver{Solution{Status: Infeasible}}, infeasible, nil)
	if err != nil || !math.IsNaN(got.Objective) || !math.IsInf(got.Bound, 1) || !math.IsInf(got.Gap(), 1) || got.HasSolution() {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestCapabilities: each thing asked for and not claimed is named, and no call is made.
func TestCapabilities(t *testing.T) {
	b := NewBuilder("")
	b.Continuous(0, inf, "")
	endless := must.Have(b.Build())(t)
	waiting, stop := context.WithCancel(context.Background())
	defer stop()
	for _, c := range []struct {
		missing Capability
		ctx     context.Context
		model   *Model
		opts    *Options
	}{
		{CanContinuous, context.Background(), sample(t), nil},
		{CanInteger, context.Background(), sample(t), nil},
		{CanInfiniteBounds, context.Background(), endless, nil},
		{CanInterrupt, waiting, sample(t), nil},
		{CanTimeLimit, context.Background(), sample(t), &Options{TimeLimit: 1}},
		{CanNodeLimit, context.Background(), sample(t), &Options{NodeLimit: 1}},
		{CanMemoryLimit, context.Background(), sample(t), &Options{MemoryLimitBytes: 1}},
		{CanGaps, context.Background(), sample(t), &Options{RelativeGap: 0.1}},
		{CanGaps, context.Background(), sample(t), &Options{AbsoluteGap: 0.1}},
		{CanTolerances, context.Background(), sample(t), &Options{FeasibilityTolerance: 1e-8}},
		{CanTolerances, context.Background(), sample(t), &Options{IntegralityTolerance: 1e-8}},
		{CanWorkers, context.Background(), sample(t), &Options{Workers: 2}},
		{CanSeed, context.Background(), sample(t), &Options{Seed: 1}},
		{CanLog, context.Background(), sample(t), &Options{Log: func(Progress) {}}},
		{CanHint, context.Background(), sample(t), &Options{Hint: make([]float64, 2)}},
	} {
		solver := &fake{can: CanEverything &^ c.missing, answer: Solution{Status: LimitReached, Bound: inf}}
		_, err := Solve(c.ctx, solver, c.model, c.opts)
		var refusal *CapabilityError
		if !errors.As(err, &refusal) || refusal.Missing != c.missing || solver.calls != 0 ||
			err.Error() != "milp: *milp.fake cannot do: "+c.missing.String() {
			t.Errorf("%v: error %v, %d calls", c.missing, err, solver.calls)
		}
		solver.can = CanEverything
		if solver.answer.Bound = -c.model.sense.worst(); c.missing != CanInterrupt {
			if _, err := Solve(c.ctx, solver, c.model, c.opts); err != nil || solver.calls != 1 {
				t.Errorf("with %v: error %v, %d calls", c.missing, err, solver.calls)
			}
		}
	}
	if got := CanEverything.String(); strings.Count(got, ",") != len(capabilityNames)-1 {
		t.Errorf("names %q", got)
	}
}

// TestOptions: faults are all listed; defaults are filled in; the hint is a copy.
func TestOptions(t *testing.T) {
	bad := &Options{
		TimeLimit: -1, NodeLimit: -2, MemoryLimitBytes: -3, Workers: -4,
		RelativeGap: -0.1, AbsoluteGap: inf, FeasibilityTolerance: nan, IntegralityTolerance: 0.1, Hint: []float64{1, inf},
	}
	got, err := Solve(context.Background(), &fake{}, sample(t), bad)
	var faults apportion.Faults
	if !errors.As(err, &faults) || len(faults) != 9 || got.Status != Invalid {
		t.Errorf("faults %v", err)
	}
	if _, err := Solve(context.Background(), &fake{}, sample(t), &Options{Hint: []float64{1}}); !errors.Is(err, apportion.ErrLength) {
		t.Errorf("short hint: %v", err)
	}
	solver := &fake{can: CanEverything, answer: Solution{Status: LimitReached, Bound: inf}}
	hint := []float64{nan, 2}
	must.Have(Solve(context.Background(), solver, sample(t), &Options{Hint: hint}))(t)
	o := solver.opts
	if o.Workers != 1 || o.RelativeGap != DefaultRelativeGap || o.AbsoluteGap != DefaultAbsoluteGap ||
		o.FeasibilityTolerance != DefaultFeasibilityTolerance || o.IntegralityTolerance != DefaultIntegralityTolerance {
		t.Errorf("options %+v", o)
	}
	if o.Hint[1] = 5; hint[1] != 2 {
		t.Error("the hint is not a copy")
	}
}

// TestCalls: what cannot be called, fails, or is cancelled before.
func TestCalls(t *testing.T) {
	if _, err := Solve(context.Background(), nil, sample(t), nil); !errors.Is(err, apportion.ErrEmpty) {
		t.Errorf("no solver: %v", err)
	}
	if _, err := Solve(context.Background(), &fake{}, nil, nil); !errors.Is(err, apportion.ErrEmpty) {
		t.Errorf("no model: %v", err)
	}
	broken := errors.New("library is missing")
	got, err := Solve(context.Background(), &fake{can: CanEverything, err: broken, answer: Solution{Status: Optimal}}, sample(t), nil)
	if !errors.Is(err, broken) || got.Status != Invalid || !strings.HasPrefix(err.Error(), "milp: *milp.fake: ") {
		t.Errorf("%v, %v", got.Status, err)
	}
	ended, stop := context.WithCancel(context.Background())
	stop()
	solver := &fake{can: CanEverything}
	got, err = Solve(ended, solver, sample(t), nil)
	if err != nil || got.Status != Cancelled || got.HasSolution() || solver.calls != 0 || !math.IsInf(got.Bound, 1) || got.Reason == "" {
		t.Errorf("%+v, %v, %d calls", got, err, solver.calls)
	}
}

// TestCancelledWithPoint: an incumbent of a cancelled search is checked like any other.
func TestCancelledWithPoint(t *testing.T) {
	for _, c := range []struct {
		values []float64
		ok     bool
	}{{[]float64{1, 1}, true}, {[]float64{3, 3}, false}, {nil, true}} {
		ctx, stop := context.WithCancel(context.Background())
		solver := stopping{stop, Solution{Status: Cancelled, Values: c.values, Bound: inf}}
		got, err := Solve(ctx, solver, sample(t), nil)
		if (err == nil) != c.ok || c.ok && got.HasSolution() != (c.values != nil) {
			t.Errorf("%v: %+v, %v", c.values, got, err)
		}
	}
}

// stopping cancels its own context while it solves.
type stopping struct {
	stop   context.CancelFunc
	answer Solution
}

func (s stopping) Solve(context.Context, *Model, *Options) (Solution, error) {
	s.stop()
	return s.answer, nil
}

// TestGap: |bound - objective| / |bound|, with its corner cases.
func TestGap(t *testing.T) {
	some := []float64{}
	for _, c := range []struct{ objective, bound, want float64 }{
		{10, 8, 0.25}, {-9, -12, 0.25}, {10, 10, 0}, {0, 0, 0}, {0, -1, 1}, {1, 0, inf}, {5, -inf, inf}, {-4, 4, 2},
	} {
		if got := (Solution{Values: some, Objective: c.objective, Bound: c.bound}).Gap(); got != c.want {
			t.Errorf("gap of %v and %v: %v, want %v", c.objective, c.bound, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	want := []string{"invalid", "optimal", "feasible", "infeasible", "unbounded", "limit reached", "cancelled", "unknown 7"}
	for s, name := range want {
		if got := Status(s).String(); got != name {
			t.Errorf("status %d: %q", s, got)
		}
	}
	if Status(9).String() != "unknown 9" || Maximize.String() != "maximize" || Minimize.String() != "minimize" {
		t.Error("names")
	}
}
