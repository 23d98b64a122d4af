package ortools

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/must"
)

// lists decodes a message of packed lists, of whole numbers or of doubles, into its fields.
func lists(t *testing.T, encoded []byte, doubles ...protowire.Number) map[protowire.Number][]float64 {
	t.Helper()
	found := map[protowire.Number][]float64{}
	must.Do(t, decode(encoded, func(e entry) error {
		if slices.Contains(doubles, e.field) {
			values, err := e.appendDoubles(nil)
			found[e.field] = values
			return err
		}
		values, err := e.appendIntegers(nil)
		for _, v := range values {
			found[e.field] = append(found[e.field], float64(v))
		}
		return err
	}))
	return found
}

// TestMathOptModel: variables, matrix and rows under the published numbers, minimised; without costs
// nothing is left of the objective.
func TestMathOptModel(t *testing.T) {
	inf := math.Inf(1)
	model := built(t, func(b *milp.Builder) {
		x, y := b.Integer(-1, 5, ""), b.Continuous(-inf, inf, "")
		b.AtMost("", []milp.Term{{Var: x, Coef: 2}, {Var: y, Coef: -3}}, 7)
		b.AtLeast("", []milp.Term{{Var: y, Coef: 0.5}}, -1)
		b.Maximize([]milp.Term{{Var: y, Coef: 1.5}}, 10)
	})
	for _, costs := range []bool{true, false} {
		parts := map[protowire.Number][]byte{}
		must.Do(t, decode(mathOptModel(model, costs), func(e entry) error { parts[e.field] = e.bytes; return nil }))
		variables := lists(t, parts[moModelVariables], moLower, moUpper)
		rows := lists(t, parts[moModelConstraints], moLower, moUpper)
		matrix := lists(t, parts[moModelMatrix], moMatrixCoefs)
		for _, c := range []struct {
			name      string
			got, want map[protowire.Number][]float64
		}{
			{"variables", variables, map[protowire.Number][]float64{moIDs: {0, 1}, moLower: {-1, -inf}, moUpper: {5, inf}, moIntegers: {1, 0}}},
			{"rows", rows, map[protowire.Number][]float64{moIDs: {0, 1}, moLower: {-inf, -1}, moUpper: {7, inf}}},
			{"matrix", matrix, map[protowire.Number][]float64{moMatrixRows: {0, 0, 1}, moMatrixColumns: {0, 1, 1}, moMatrixCoefs: {2, -3, 0.5}}},
		} {
			if !reflect.DeepEqual(c.got, c.want) {
				t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
			}
		}
		offset, linear := 0.0, map[protowire.Number][]float64{}
		err := decode(parts[moModelObjective], func(e entry) error {
			if e.field == moObjectiveOffset {
				offset = e.double()
			} else {
				linear = lists(t, e.bytes, moValues)
			}
			return nil
		})
		want := map[protowire.Number][]float64{}
		if costs {
			want = map[protowire.Number][]float64{moIDs: {1}, moValues: {-1.5}}
		}
		if err != nil || (offset != -10) == costs || !reflect.DeepEqual(linear, want) {
			t.Errorf("costs %v: offset %v, %v, want %v (%v)", costs, offset, linear, want, err)
		}
	}
}

// mathOptMessage writes a SolveResultProto the way MathOpt does.
func mathOptMessage(reason int64, bound float64, nodes int64, points ...message) message {
	var m, termination, bounds, stats message
	bounds.double(moDualBound, bound)
	termination.integer(moReason, reason)
	termination.nested(moDetail, message("because"))
	termination.nested(moBounds, bounds)
	stats.integer(moStatsNodes, nodes)
	m.nested(moResultTermination, termination)
	for _, p := range points {
		var solution message
		solution.nested(moSolutionPrimal, p)
		m.nested(moResultSolutions, solution)
	}
	m.nested(moResultStats, stats)
	return m
}

// primal writes a PrimalSolutionProto.
func primal(status int64, ids []int64, values []float64) message {
	var vector, p message
	vector.integers(moIDs, ids...)
	vector.doubles(moValues, values)
	p.nested(moPrimalValues, vector)
	p.integer(moPrimalStatus, status)
	return p
}

// TestReadMathOptResult: the first solution is the best; bounds that are absent and bounds of 0 are told apart.
func TestReadMathOptResult(t *testing.T) {
	best := primal(moPointFeasible, []int64{0, 2}, []float64{1.5, -2})
	second := primal(moPointFeasible, []int64{1}, []float64{9})
	got, err := readMathOptResult(mathOptMessage(moOptimal, -7.5, 21, best, second))
	want := mathOptResult{reason: moOptimal, nodes: 21, detail: "because", bound: -7.5, ids: []int64{0, 2}, values: []float64{1.5, -2}, solutions: 2, feasible: true}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}

	if got, err := readMathOptResult(nil); err != nil || !math.IsInf(got.bound, -1) {
		t.Errorf("an empty message: %+v, %v", got, err)
	}
	var m, termination message
	termination.nested(moBounds, nil)
	m.nested(moResultTermination, termination)
	if got, err := readMathOptResult(m); err != nil || got.bound != 0 {
		t.Errorf("bounds without a number: %+v, %v", got, err)
	}

	infeasible := primal(3, []int64{0}, []float64{1})
	if got, err := readMathOptResult(mathOptMessage(moFeasible, 0, 0, infeasible)); err != nil || got.feasible {
		t.Errorf("a point that is not feasible: %+v, %v", got, err)
	}
	whole := mathOptMessage(moOptimal, -7.5, 21, best)
	for cut := 1; cut < 4; cut++ {
		if _, err := readMathOptResult(whole[:len(whole)-cut]); err == nil {
			t.Errorf("a message without its last %d bytes was read", cut)
		}
	}
}

// TestMathOptSolution: every reason to end, running and cancelled; values that were left out are 0.
func TestMathOptSolution(t *testing.T) {
	model := built(t, func(b *milp.Builder) {
		x, y := b.Integer(0, 9, ""), b.Integer(0, 9, "")
		b.Maximize([]milp.Term{{Var: x, Coef: 1}, {Var: y, Coef: 1}}, 0)
	})
	point := mathOptResult{bound: -8, feasible: true, ids: []int64{1}, values: []float64{4}, nodes: 5}
	running := context.Background()
	for _, test := range []struct {
		name   string
		ctx    context.Context
		reason uint64
		status milp.Status
		values bool
	}{
		{"optimal", running, moOptimal, milp.Optimal, true},
		{"optimal although cancelled", ended(), moOptimal, milp.Optimal, true},
		{"feasible", running, moFeasible, milp.Feasible, true},
		{"cancelled with a point", ended(), moFeasible, milp.Cancelled, true},
		{"no solution", running, moNoSolution, milp.LimitReached, false},
		{"infeasible", running, moInfeasible, milp.Infeasible, false},
		{"unbounded", running, moUnbounded, milp.Unbounded, false},
		{"one of the two", running, moInfeasibleOrUnbounded, milp.Unbounded, false},
	} {
		r := point
		r.reason = test.reason
		got, err := r.solution(test.ctx, model)
		if err != nil || got.Status != test.status || got.HasSolution() != test.values || got.Bound != 8 || got.Nodes != 5 {
			t.Errorf("%s: %+v, %v", test.name, got, err)
		}
		if test.values && !slices.Equal(got.Values, []float64{0, 4}) {
			t.Errorf("%s: values %v", test.name, got.Values)
		}
		if early := got.Status == milp.Feasible || got.Status == milp.LimitReached || got.Status == milp.Cancelled; early != (got.Reason != "") {
			t.Errorf("%s: reason %q", test.name, got.Reason)
		}
	}
	for text, r := range map[string]mathOptResult{
		"reason 5: numbers":       {reason: 5, detail: "numbers"},
		"parts of different":      {reason: moOptimal, feasible: true, ids: []int64{0}},
		"variable 2 of 2":         {reason: moOptimal, feasible: true, ids: []int64{2}, values: []float64{1}},
		"value for variable -1 o": {reason: moOptimal, feasible: true, ids: []int64{-1}, values: []float64{1}},
	} {
		if _, err := r.solution(running, model); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v, want %q", r, err, text)
		}
	}
	r := point
	r.reason, r.feasible = moFeasible, false
	if got, err := r.solution(running, model); err != nil || got.HasSolution() {
		t.Errorf("a point that is not feasible is handed out: %+v, %v", got, err)
	}
}

// TestFits: what MathOpt's engines take, at its edges.
func TestFits(t *testing.T) {
	for _, test := range []struct {
		x, least float64
		want     bool
	}{
		{0, 0, true}, {0, smallest, false}, {smallest, smallest, true}, {-smallest, smallest, true}, {smallest / 2, smallest, false},
		{largest, 0, true}, {-largest, 0, true}, {2 * largest, 0, false}, {-2 * largest, 0, false}, {math.Inf(-1), 0, true}, {math.Inf(1), smallest, true},
	} {
		if got := fits(test.x, test.least); got != test.want {
			t.Errorf("%g with at least %g: %v", test.x, test.least, got)
		}
	}
}

// TestCapabilitiesAreHonest: no engine claims what its interface cannot be told.
func TestCapabilitiesAreHonest(t *testing.T) {
	for name, test := range map[string]struct {
		solver milp.Capable
		lacks  milp.Capability
	}{
		"cp-sat": {CPSAT{}, milp.CanContinuous | milp.CanInfiniteBounds | milp.CanNodeLimit | milp.CanMemoryLimit | milp.CanLog},
		"highs":  {HiGHS{}, milp.CanMemoryLimit},
		"scip": {SCIP{}, milp.CanNodeLimit | milp.CanMemoryLimit | milp.CanGaps | milp.CanTolerances | milp.CanWorkers |
			milp.CanSeed | milp.CanLog | milp.CanHint},
		"glop": {GLOP{}, milp.CanInteger | milp.CanNodeLimit | milp.CanMemoryLimit | milp.CanGaps | milp.CanTolerances | milp.CanWorkers |
			milp.CanSeed | milp.CanLog | milp.CanHint},
	} {
		if got := milp.CanEverything &^ test.solver.Capabilities(); got != test.lacks {
			t.Errorf("%s lacks %v, want %v", name, got, test.lacks)
		}
	}
}
