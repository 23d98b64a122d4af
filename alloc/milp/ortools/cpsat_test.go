package ortools

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/must"
)

// defaults returns the options as milp.Solve hands them to a back-end that was asked for nothing.
func defaults() *milp.Options {
	return &milp.Options{
		FeasibilityTolerance: milp.DefaultFeasibilityTolerance, IntegralityTolerance: milp.DefaultIntegralityTolerance,
		AbsoluteGap: milp.DefaultAbsoluteGap, RelativeGap: milp.DefaultRelativeGap, Workers: 1,
	}
}

// built returns what add makes of an empty builder.
func built(t testing.TB, add func(b *milp.Builder)) *milp.Model {
	t.Helper()
	b := milp.NewBuilder("")
	add(b)
	model := must.Have(b.Build())(t)
	return model
}

// written is a CpModelProto read back: domains, rows and the objective.
type written struct {
	domains [][]int64
	rows    []writtenRow
	vars    []int64
	coefs   []int64
	offset  float64
	costs   bool
}

type writtenRow struct{ vars, coefs, domain []int64 }

// read decodes what newCPModel has written, with the package's own decoder and the published numbers.
func read(t interface {
	Helper()
	Fatal(...any)
}, encoded []byte) (w written) {
	t.Helper()
	must.Do(t, decode(encoded, func(e entry) error {
		switch e.field {
		case cpModelVariables:
			var domain []int64
			err := decode(e.bytes, func(e entry) (err error) {
				domain, err = e.appendIntegers(domain)
				return err
			})
			w.domains = append(w.domains, domain)
			return err
		case cpModelConstraints:
			var r writtenRow
			err := within(cpConstraintLinear, e.bytes, func(e entry) (err error) {
				switch e.field {
				case cpLinearVars:
					r.vars, err = e.appendIntegers(r.vars)
				case cpLinearCoefs:
					r.coefs, err = e.appendIntegers(r.coefs)
				case cpLinearDomain:
					r.domain, err = e.appendIntegers(r.domain)
				}
				return err
			})
			w.rows = append(w.rows, r)
			return err
		case cpModelObjective:
			w.costs = true
			return decode(e.bytes, func(e entry) (err error) {
				switch e.field {
				case cpObjectiveVars:
					w.vars, err = e.appendIntegers(w.vars)
				case cpObjectiveCoefs:
					w.coefs, err = e.appendIntegers(w.coefs)
				case cpObjectiveOffset:
					w.offset = e.double()
				}
				return err
			})
		}
		return nil
	}))
	return w
}

// TestCPModel: domains are rounded inwards, rows scaled with their bounds, and the objective is
// minimised whatever the model does.
func TestCPModel(t *testing.T) {
	inf := math.Inf(1)
	model := built(t, func(b *milp.Builder) {
		x, y := b.Integer(-2.5, 3.5, ""), b.Binary("")
		b.AtMost("", []milp.Term{{Var: x, Coef: 0.5}, {Var: y, Coef: 0.1}}, 1.2)
		b.Row("", -4, []milp.Term{{Var: y, Coef: 3}}, 2)
		b.Row("", -inf, []milp.Term{{Var: x, Coef: 1}}, inf) // says nothing
		b.AtMost("", nil, 0)                                 // holds
		b.Maximize([]milp.Term{{Var: x, Coef: 2}, {Var: y, Coef: -0.5}}, 7)
	})
	m := must.Have(newCPModel(model, defaults()))(t)
	got := read(t, m.encoded)
	want := written{
		domains: [][]int64{{-2, 3}, {0, 1}},
		rows: []writtenRow{
			{[]int64{0, 1}, []int64{5, 1}, []int64{math.MinInt64, 12}},
			{[]int64{1}, []int64{3}, []int64{-4, 2}},
		},
		vars: []int64{0, 1}, coefs: []int64{-20, 5}, offset: -70, costs: true,
	}
	if !reflect.DeepEqual(got, want) || m.infeasible || m.objective.scale != 10 {
		t.Errorf("%+v, want %+v; infeasible %v, scale %g", got, want, m.infeasible, m.objective.scale)
	}
	if !slices.Equal(m.lower, []int64{-2, 0}) || !slices.Equal(m.upper, []int64{3, 1}) || !slices.Equal(m.reach, []float64{3, 1}) {
		t.Errorf("lower %v, upper %v, reach %v", m.lower, m.upper, m.reach)
	}
}

// TestCPModelKnowsInfeasible: what has no value left is found while the model is written.
func TestCPModelKnowsInfeasible(t *testing.T) {
	for name, test := range map[string]struct {
		add  func(b *milp.Builder)
		want bool
	}{
		"no whole number":   {func(b *milp.Builder) { b.Integer(0.2, 0.8, "") }, true},
		"a single one":      {func(b *milp.Builder) { b.Integer(0.2, 1.8, "") }, false},
		"empty row below":   {func(b *milp.Builder) { b.AtLeast("", nil, 1) }, true},
		"empty row above":   {func(b *milp.Builder) { b.AtMost("", nil, -1) }, true},
		"empty row holds":   {func(b *milp.Builder) { b.Row("", -1, nil, 1) }, false},
		"row without whole": {func(b *milp.Builder) { b.Row("", 1.2, []milp.Term{{Var: b.Binary(""), Coef: 3}}, 1.8) }, true},
	} {
		m, err := newCPModel(built(t, test.add), defaults())
		if err != nil || m.infeasible != test.want {
			t.Errorf("%s: infeasible %v, %v", name, m.infeasible, err)
		}
	}
}

// TestCPModelOfAPoint: a point is within the written rows where it is within the model's, for
// coefficients that need no rounding.
func TestCPModelOfAPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quarter := func(name string) float64 { return float64(rapid.IntRange(-20, 20).Draw(t, name)) / 4 }
		b := milp.NewBuilder("")
		vars := make([]milp.Var, 3)
		point := make([]float64, 3)
		for j := range vars {
			vars[j] = b.Integer(-5, 5, "")
			point[j] = float64(rapid.IntRange(-5, 5).Draw(t, "x"))
		}
		for range 3 {
			var terms []milp.Term
			activity := 0.0
			for j, x := range vars {
				coef := quarter("coef")
				terms = append(terms, milp.Term{Var: x, Coef: coef})
				activity += coef * point[j]
			}
			// Bounds close to the point, on both sides of it: most rows hold, some by nothing.
			near := rapid.SampledFrom([]float64{0, 0, 0.25, 0.5, 9, 0, 0.25, -0.25})
			below := near.Draw(t, "below")
			above := math.Max(-below, near.Draw(t, "above"))
			b.Row("", activity-below, terms, activity+above)
		}
		model := must.Have(b.Build())(t)
		m := must.Have(newCPModel(model, defaults()))(t)
		inside := !m.infeasible
		for _, r := range read(t, m.encoded).rows {
			sum := int64(0)
			for k, j := range r.vars {
				sum += r.coefs[k] * int64(point[j])
			}
			inside = inside && r.domain[0] <= sum && sum <= r.domain[1]
		}
		if want := model.Verify(point, 1e-9, 0) == nil; inside != want {
			t.Fatalf("%v: within the written rows %v, within the model's %v", point, inside, want)
		}
	})
}

// TestParameters: every option has its field, in CP-SAT's units; what was not asked for is absent.
func TestParameters(t *testing.T) {
	m := &cpModel{objective: integerForm{scale: 100}}
	fields := func(opts *milp.Options, deterministic bool) map[protowire.Number]entry {
		t.Helper()
		encoded := must.Have(m.parameters(opts, deterministic))(t)
		found := map[protowire.Number]entry{}
		must.Do(t, decode(encoded, func(e entry) error { found[e.field] = e; return nil }))
		return found
	}
	plain := fields(defaults(), true)
	for _, absent := range []protowire.Number{satSeed, satTimeLimit, satInterleave} {
		if _, there := plain[absent]; there {
			t.Errorf("field %d is there", absent)
		}
	}
	if e, there := plain[satSignals]; !there || e.bits != 0 || plain[satWorkers].bits != 1 {
		t.Errorf("signals %+v, workers %d", e, plain[satWorkers].bits)
	}
	opts := defaults()
	opts.Workers, opts.Seed, opts.TimeLimit, opts.RelativeGap, opts.AbsoluteGap = 4, 17, 1500*time.Millisecond, 0.25, 0.5
	asked := fields(opts, true)
	if asked[satWorkers].bits != 4 || asked[satSeed].bits != 17 || asked[satInterleave].bits != 1 ||
		asked[satTimeLimit].double() != 1.5 || asked[satRelativeGap].double() != 0.2 || asked[satAbsoluteGap].double() != 50 {
		t.Errorf("%+v", asked)
	}
	if _, there := fields(opts, false)[satInterleave]; there {
		t.Error("interleaved although repeatability was not asked for")
	}
	for _, refuse := range []func(*milp.Options){
		func(o *milp.Options) { o.Seed = -1 }, func(o *milp.Options) { o.Seed = math.MaxInt32 + 1 },
		func(o *milp.Options) { o.Workers = maxWorkers + 1 },
	} {
		opts := defaults()
		refuse(opts)
		if _, err := m.parameters(opts, false); err == nil || !strings.Contains(err.Error(), "Seed or Workers") {
			t.Errorf("seed %d, %d workers: %v", opts.Seed, opts.Workers, err)
		}
	}
}

// TestCPSolution: every status of a response, with and without an ended context.
func TestCPSolution(t *testing.T) {
	model := built(t, func(b *milp.Builder) {
		b.Maximize([]milp.Term{{Var: b.Integer(0, 9, ""), Coef: 1}}, 0)
	})
	m := must.Have(newCPModel(model, defaults()))(t)
	running := context.Background()
	for _, test := range []struct {
		name     string
		ctx      context.Context
		response cpResponse
		status   milp.Status
		values   []float64
		bound    float64
	}{
		{"optimal", running, cpResponse{status: cpOptimal, values: []int64{9}, bound: -9}, milp.Optimal, []float64{9}, 9},
		{"optimal just before the end", ended(), cpResponse{status: cpOptimal, values: []int64{9}, bound: -9}, milp.Optimal, []float64{9}, 9},
		{"feasible", running, cpResponse{status: cpFeasible, values: []int64{4}, bound: -7}, milp.Feasible, []float64{4}, 7},
		{"cancelled with a point", ended(), cpResponse{status: cpFeasible, values: []int64{4}, bound: -7}, milp.Cancelled, []float64{4}, 7},
		{"nothing", running, cpResponse{}, milp.LimitReached, nil, 9},
		{"cancelled with nothing", ended(), cpResponse{}, milp.Cancelled, nil, 9},
		{"a bound of minus infinity", running, cpResponse{bound: math.Inf(-1)}, milp.LimitReached, nil, 9},
		{"infeasible", running, cpResponse{status: cpInfeasible}, milp.Infeasible, nil, 0},
	} {
		test.response.branches = 12
		got, err := m.solution(test.ctx, model, test.response)
		if err != nil || got.Status != test.status || !slices.Equal(got.Values, test.values) || got.Nodes != 12 ||
			math.Abs(got.Bound-test.bound) > 1e-9 {
			t.Errorf("%s: %+v, %v", test.name, got, err)
		}
		if early := got.Status != milp.Optimal && got.Status != milp.Infeasible; early != (got.Reason != "") {
			t.Errorf("%s: reason %q", test.name, got.Reason)
		}
	}
	for text, response := range map[string]cpResponse{
		"no such variable":         {status: cpInvalid, info: "no such variable"},
		"2 values for 1 variables": {status: cpOptimal, values: []int64{1, 2}},
		"0 values for 1 variables": {status: cpFeasible},
	} {
		if _, err := m.solution(running, model, response); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v, want %q", response, err, text)
		}
	}
}

// TestReadCPResponse: packed values and single ones are the same list; unknown fields are passed over,
// and a message that ends in its midst is an error.
func TestReadCPResponse(t *testing.T) {
	var packed, single message
	for _, m := range []*message{&packed, &single} {
		m.integer(cpResponseStatus, cpFeasible)
		m.double(cpResponseBound, -2.5)
		m.integer(cpResponseBranches, 8)
		m.nested(cpResponseInfo, message("why"))
		m.integer(99, 5)
	}
	packed.integers(cpResponseSolution, 3, -4)
	single.integer(cpResponseSolution, 3)
	single.integer(cpResponseSolution, -4)
	want := cpResponse{status: cpFeasible, values: []int64{3, -4}, bound: -2.5, branches: 8, info: "why"}
	for _, m := range []message{packed, single} {
		if got, err := readCPResponse(m); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
		if _, err := readCPResponse(m[:len(m)-1]); err == nil {
			t.Error("a message without its last byte was read")
		}
	}
}

// TestCPBoundIsOutward: the bound of the model is never better than what CP-SAT has proven of the exact
// objective, and not much worse.
func TestCPBoundIsOutward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := milp.NewBuilder("")
		x := b.Integer(-9, 9, "")
		cost := rapid.SampledFrom([]float64{1, 0.1, 1. / 3, -0.7, 12.25}).Draw(t, "cost")
		constant := rapid.SampledFrom([]float64{0, 0.1, -1e6}).Draw(t, "constant")
		terms := []milp.Term{{Var: x, Coef: cost}}
		if rapid.Bool().Draw(t, "maximise") {
			b.Maximize(terms, constant)
		} else {
			b.Minimize(terms, constant)
		}
		model := must.Have(b.Build())(t)
		m := must.Have(newCPModel(model, defaults()))(t)
		value := rapid.Int64Range(-9, 9).Filter(func(v int64) bool { return v != 0 }).Draw(t, "value")
		// CP-SAT says: the scaled objective, offset included, is at least what it is at value.
		sign := direction(model)
		proven := float64(m.objective.coefs[0]*value) + sign*constant*m.objective.scale
		got := m.bound(model, cpResponse{status: cpOptimal, bound: proven})
		at := model.Objective([]float64{float64(value)})
		if miss := sign * (got - at); miss > 0 || miss < -1e-6 {
			t.Fatalf("bound %v where the objective is %v: off by %g", got, at, miss)
		}
	})
}
