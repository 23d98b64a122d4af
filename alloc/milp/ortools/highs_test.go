package ortools

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/must"
)

// TestHighsProblem: the model by rows, minimised, with HiGHS' codes.
func TestHighsProblem(t *testing.T) {
	inf := math.Inf(1)
	model := built(t, func(b *milp.Builder) {
		x, y := b.Integer(-1, 5, ""), b.Continuous(-inf, inf, "")
		b.AtMost("", []milp.Term{{Var: x, Coef: 2}, {Var: y, Coef: -3}}, 7)
		b.AtLeast("", nil, -1)
		b.Equal("", []milp.Term{{Var: y, Coef: 4}}, 8)
		b.Maximize([]milp.Term{{Var: x, Coef: 1}, {Var: y, Coef: -2}}, 10)
	})
	p := must.Have(newHighsProblem(model, defaults()))(t)
	for _, c := range []struct {
		name      string
		got, want []float64
	}{
		{"cost", p.cost, []float64{-1, 2}}, {"offset", []float64{p.offset}, []float64{-10}},
		{"lower", p.lower, []float64{-1, -inf}}, {"upper", p.upper, []float64{5, inf}},
		{"row lower", p.rowLower, []float64{-inf, -1, 8}}, {"row upper", p.rowUpper, []float64{7, inf, 8}},
		{"coefficients", p.coefs, []float64{2, -3, 4}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s %v, want %v", c.name, c.got, c.want)
		}
	}
	if !slices.Equal(p.start, []int32{0, 2, 2, 3}) || !slices.Equal(p.index, []int32{0, 1, 1}) || !slices.Equal(p.integer, []int32{1, 0}) {
		t.Errorf("start %v, index %v, integer %v", p.start, p.index, p.integer)
	}
	if p.hintIndex != nil || p.found == nil || !math.IsInf(p.found.bound, -1) {
		t.Errorf("hint %v, found %+v", p.hintIndex, p.found)
	}
}

// option returns the last setting of an option, as HiGHS lets the later one count.
func (p *highsProblem) option(name string) (value any) {
	for _, o := range p.options {
		if o.name == name {
			value = o.value
		}
	}
	return value
}

// TestHighsOptions: every option of milp has its counterpart, and tolerances are sharper than asked for.
func TestHighsOptions(t *testing.T) {
	var p highsProblem
	p.addOptions(defaults())
	for name, want := range map[string]any{
		"output_flag": false, "log_to_console": false, "threads": int32(1), "random_seed": int32(0), "time_limit": nil, "mip_max_nodes": nil,
		"large_matrix_value": milp.Infinite, "small_matrix_value": smallestCoef, "presolve_rule_off": int32(presolveRuleOff),
	} {
		if got := p.option(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	opts := defaults()
	opts.Log = func(milp.Progress) {}
	opts.Workers, opts.Seed, opts.TimeLimit, opts.NodeLimit = 3, 99, 2500*time.Millisecond, math.MaxInt64
	opts.RelativeGap, opts.AbsoluteGap = 1, 0.125
	opts.FeasibilityTolerance, opts.IntegralityTolerance = 1e-4, 1e-8
	p.addOptions(opts)
	for name, want := range map[string]any{
		"output_flag": true, "log_to_console": false, "threads": int32(3), "random_seed": int32(99), "time_limit": 2.5,
		"mip_max_nodes": int32(math.MaxInt32), "mip_rel_gap": 0.5, "mip_abs_gap": 0.125,
		"mip_feasibility_tolerance": sharper * 1e-8, "primal_feasibility_tolerance": sharper * 1e-4,
	} {
		if got := p.option(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	opts.FeasibilityTolerance, opts.IntegralityTolerance = 1e-12, 1e-12
	if p.addOptions(opts); p.option("mip_feasibility_tolerance") != sharpest || p.option("primal_feasibility_tolerance") != sharpest {
		t.Error("a tolerance is sharper than HiGHS takes")
	}
}

// TestHighsHint: values are whole where they must be, within the bounds, and left out where none is given;
// a linear program gets none.
func TestHighsHint(t *testing.T) {
	for _, integer := range []bool{true, false} {
		model := built(t, func(b *milp.Builder) {
			if integer {
				b.Integer(0, 5, "")
			} else {
				b.Continuous(0, 5, "")
			}
			b.Continuous(0, 5, "")
			b.Continuous(-1, 1, "")
			b.Continuous(-1, 1, "")
		})
		var p highsProblem
		p.addHint(model, []float64{2.6, 2.6, math.NaN(), -7})
		var index []int32
		var value []float64
		if integer {
			index, value = []int32{0, 1, 3}, []float64{3, 2.6, -1}
		}
		if !slices.Equal(p.hintIndex, index) || !slices.Equal(p.hintValue, value) {
			t.Errorf("integer %v: %v at %v, want %v at %v", integer, p.hintValue, p.hintIndex, value, index)
		}
	}
}

// TestHighsRefusesOptions: seeds and workers beyond HiGHS' numbers are refused before the call.
func TestHighsRefusesOptions(t *testing.T) {
	for name, spoil := range map[string]func(*milp.Options){
		"seed below 0": func(o *milp.Options) { o.Seed = -1 }, "seed of 32 bits": func(o *milp.Options) { o.Seed = 1 << 31 },
		"workers": func(o *milp.Options) { o.Workers = maxWorkers + 1 },
	} {
		opts := defaults()
		spoil(opts)
		if _, err := newHighsProblem(one(t, true), opts); err == nil || !strings.Contains(err.Error(), "Workers or Seed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	opts := defaults()
	opts.Seed, opts.Workers = math.MaxInt32, maxWorkers
	if _, err := newHighsProblem(one(t, true), opts); err != nil {
		t.Errorf("the largest that fit: %v", err)
	}
}

// TestHighsAnswer: every model status, for an integer search and a linear program, running and cancelled.
func TestHighsAnswer(t *testing.T) {
	running, inf := context.Background(), math.Inf(1)
	point := []float64{4}
	for _, test := range []struct {
		name    string
		ctx     context.Context
		integer bool
		answer  highsAnswer
		status  milp.Status
		bound   float64
		reason  string
		values  bool
	}{
		{"optimal", running, true, highsAnswer{status: highsOptimal, objective: -4, bound: -4.5, values: point}, milp.Optimal, 4.5, "", true},
		{"optimal, linear", running, false, highsAnswer{status: highsOptimal, objective: -4, bound: 99, values: point}, milp.Optimal, 4, "", true},
		{"optimal although cancelled", ended(), true, highsAnswer{status: highsOptimal, bound: -4, values: point}, milp.Optimal, 4, "", true},
		{"infeasible", running, true, highsAnswer{status: highsInfeasible}, milp.Infeasible, 0, "", false},
		{"time limit", running, true, highsAnswer{status: highsTimeLimit, bound: -9}, milp.LimitReached, 9, "time limit", false},
		{"time limit with a point", running, true, highsAnswer{status: highsTimeLimit, bound: -9, values: point}, milp.Feasible, 9, "time limit", true},
		{"node limit", running, true, highsAnswer{status: highsSolutionLimit, bound: -9}, milp.LimitReached, 9, "node limit", false},
		{"iteration limit", running, false, highsAnswer{status: highsIterationLimit, bound: -9}, milp.LimitReached, inf, "", false},
		{"interrupted", ended(), true, highsAnswer{status: highsInterrupt, bound: -9, values: point}, milp.Cancelled, 9, "context canceled", true},
		{"a limit and the end", ended(), true, highsAnswer{status: highsTimeLimit, bound: -9}, milp.Cancelled, 9, "context canceled", false},
	} {
		model := built(t, func(b *milp.Builder) {
			x := b.Integer(0, 9, "")
			if !test.integer {
				x = b.Continuous(0, 9, "")
			}
			b.Maximize([]milp.Term{{Var: x, Coef: 1}}, 0)
		})
		if !test.integer {
			model = built(t, func(b *milp.Builder) { b.Maximize([]milp.Term{{Var: b.Continuous(0, 9, ""), Coef: 1}}, 0) })
		}
		test.answer.nodes = 3
		got, err := test.answer.solution(test.ctx, model)
		if err != nil || got.Status != test.status || got.Reason != test.reason || got.Nodes != 3 || got.HasSolution() != test.values {
			t.Errorf("%s: %+v, %v", test.name, got, err)
		}
		if got.Status != milp.Infeasible && got.Bound != test.bound {
			t.Errorf("%s: bound %v, want %v", test.name, got.Bound, test.bound)
		}
	}
	if _, err := (highsAnswer{status: 4}).solution(running, one(t, true)); err == nil || !strings.Contains(err.Error(), "model status 4") {
		t.Errorf("a status that is no outcome: %v", err)
	}
}

// TestWithoutVariables: rows over nothing hold or they do not, and the constant is the optimum.
func TestWithoutVariables(t *testing.T) {
	for _, test := range []struct {
		upper float64
		want  milp.Status
	}{{0, milp.Optimal}, {-1e-9, milp.Optimal}, {-1, milp.Infeasible}} {
		model := built(t, func(b *milp.Builder) {
			b.AtMost("", nil, test.upper)
			b.Maximize(nil, 7)
		})
		got := withoutVariables(model, defaults())
		if got.Status != test.want || got.Status == milp.Optimal && (got.Bound != 7 || got.Values == nil) {
			t.Errorf("at most %v: %+v", test.upper, got)
		}
	}
}

// TestUnboundedIfFeasible: a feasible point turns an unbounded relaxation into an unbounded model; what is not
// known of the point is not known of the model.
func TestUnboundedIfFeasible(t *testing.T) {
	model := built(t, func(b *milp.Builder) {
		b.Maximize([]milp.Term{{Var: b.Integer(0, math.Inf(1), ""), Coef: 1}}, 0)
	})
	for _, test := range []struct{ without, want milp.Status }{
		{milp.Optimal, milp.Unbounded}, {milp.Infeasible, milp.Infeasible},
		{milp.LimitReached, milp.LimitReached}, {milp.Cancelled, milp.Cancelled},
	} {
		answer := milp.Solution{Status: test.without, Bound: 5}
		if test.without == milp.Optimal {
			answer.Values = []float64{0}
		}
		got := unboundedIfFeasible(model, answer)
		if got.Status != test.want || got.HasSolution() || !math.IsInf(got.Bound, 1) && got.Status != milp.Infeasible {
			t.Errorf("%v without costs: %+v", test.without, got)
		}
	}
}
