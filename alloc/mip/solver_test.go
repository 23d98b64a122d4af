package mip_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

// saying is a back-end that answers the n-th model as it is told, and the others by branch and bound.
type saying struct {
	bb.Solver
	asked  *int
	at     int
	answer milp.Solution
	err    error
	unsure bool // of the answer to that model: feasible, not optimal
}

func (s saying) Solve(ctx context.Context, model *milp.Model, opts *milp.Options) (milp.Solution, error) {
	*s.asked++
	if *s.asked != s.at || s.unsure {
		answer, err := s.Solver.Solve(ctx, model, opts)
		if *s.asked == s.at && answer.Status == milp.Optimal {
			answer.Status = milp.Feasible
		}
		return answer, err
	}
	return s.answer, s.err
}

// Every answer says who gave it and how, also that there is none.
func TestCertificateNamesTheSolver(t *testing.T) {
	impossible := solvertest.Tiny()
	impossible.AdjustBudget = 0
	for _, c := range []struct {
		name string
		inst *solver.Instance
		opts *mip.Options
		want solver.Settings
	}{
		{"by its type", solvertest.Tiny(), nil, solver.Settings{Solver: "bb.Solver", Form: "verbatim"}},
		{"by its name", solvertest.Tiny(), &mip.Options{Name: "ours", Preference: solver.ByLoss, Search: milp.Options{RelativeGap: .5}},
			solver.Settings{Solver: "ours", Form: "verbatim", Preference: solver.ByLoss, Gap: .5}},
		{"without a solution", impossible, nil, solver.Settings{Solver: "bb.Solver", Form: "verbatim"}},
	} {
		s, err := mip.New(bb.Solver{}, mip.Verbatim, c.opts).Solve(context.Background(), c.inst)
		if err != nil || s.By != c.want || !s.Searched || s.Multipliers != nil || s.Bound > c.inst.Cap() {
			t.Errorf("%s: %+v, %v; want by %+v, proven by a search", c.name, s, err, c.want)
		}
	}
}

// A limit is no error: what is known by then is the answer, and its bound is at most the cap.
func TestLimits(t *testing.T) {
	inst := solvertest.Tiny()
	for _, c := range []struct {
		name   string
		answer milp.Solution
		want   solver.Status
		cut    bool
	}{
		{"no point, no bound", milp.Solution{Status: milp.LimitReached, Bound: math.Inf(1)}, solver.Unknown, false},
		{"no point, a bound", milp.Solution{Status: milp.LimitReached, Bound: 2.5}, solver.Unknown, false},
	} {
		s, err := mip.New(saying{asked: new(int), at: 1, answer: c.answer}, mip.Disjunctive, nil).Solve(context.Background(), inst)
		if err != nil || s.Status != c.want || s.Bound != math.Min(c.answer.Bound, inst.Cap()) || s.Interrupted != c.cut {
			t.Errorf("%s: %+v, %v", c.name, s, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if s, err := mip.New(bb.Solver{}, mip.Disjunctive, nil).Solve(ctx, inst); err != nil || s.Status != solver.Unknown || !s.Interrupted {
		t.Errorf("cancelled: %+v, %v", s, err)
	}
}

// What goes wrong further down the preference leaves the levels above proven.
func TestPreferenceStops(t *testing.T) {
	opts := &mip.Options{Preference: solver.ByAdjusted}
	for at, want := range map[int]solver.Rank{2: solver.ByUtilization, 3: solver.ByLoss} {
		stopped := milp.Solution{Status: milp.LimitReached, Bound: math.Inf(-1)}
		s, err := mip.New(saying{asked: new(int), at: at, answer: stopped}, mip.Verbatim, opts).Solve(context.Background(), solvertest.Tiny())
		if err != nil || s.Status != solver.Optimal || s.Proven != want || s.Objective != 2.375 {
			t.Errorf("model %d stopped: %+v, %v; want proven by %s", at, s, err, want)
		}
		s, err = mip.New(saying{asked: new(int), at: at, unsure: true}, mip.Verbatim, opts).Solve(context.Background(), solvertest.Tiny())
		if err != nil || s.Status != solver.Optimal || s.Proven != want || s.Objective != 2.375 {
			t.Errorf("model %d not proven: %+v, %v; want proven by %s", at, s, err, want)
		}
	}
}

func TestSolveErrors(t *testing.T) {
	broken := errors.New("broken")
	bad := solvertest.Tiny()
	bad.Apps[1].Demand[0] = -1
	for _, c := range []struct {
		name    string
		backend milp.Solver
		form    mip.Form
		inst    *solver.Instance
		want    error
		text    string
	}{
		{"no instance", bb.Solver{}, mip.Verbatim, bad, apportion.ErrNegative, "application 1: Demand"},
		{"no form", bb.Solver{}, "cubic", solvertest.Tiny(), apportion.ErrUnknown, `"cubic"`},
		{"a back-end that fails", saying{asked: new(int), at: 1, err: broken}, mip.Class, solvertest.Tiny(), broken, "class form"},
		{"one that fails later", saying{asked: new(int), at: 2, err: broken}, mip.Verbatim, solvertest.Tiny(), broken, "preference by loss"},
	} {
		s, err := mip.New(c.backend, c.form, &mip.Options{Preference: solver.ByLoss}).Solve(context.Background(), c.inst)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %+v, %v; want %v with %q", c.name, s, err, c.want, c.text)
		}
	}
	// A point that the model admits and P2 does not is the back-end's fault, and milp's referee names it.
	wrong := milp.Solution{Status: milp.Optimal, Values: []float64{1}, Bound: 1}
	var fault *milp.WrongAnswerError
	if _, err := mip.New(saying{asked: new(int), at: 1, answer: wrong}, mip.Verbatim, nil).Solve(context.Background(), solvertest.Tiny()); !errors.As(err, &fault) {
		t.Errorf("a wrong answer: %v", err)
	}
}
