package ortools

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/must"
)

// TestHintStaysInBounds: what is handed over is whole and within the bounds, whatever was given.
func TestHintStaysInBounds(t *testing.T) {
	m := cpModel{lower: []int64{0, -3, 0, 0, 2}, upper: []int64{5, 3, 9, 9, 1}}
	m.addHint([]float64{1e300, -1e300, math.NaN(), 2.6, 1})
	var vars, values []int64
	read := func(e entry) (err error) {
		if e.field == cpHintVars {
			vars, err = e.appendIntegers(vars)
		} else {
			values, err = e.appendIntegers(values)
		}
		return err
	}
	must.Do(t, within(cpModelHint, m.encoded, read))
	if !reflect.DeepEqual(vars, []int64{0, 1, 3}) || !reflect.DeepEqual(values, []int64{5, -3, 3}) {
		t.Errorf("variables %v, values %v", vars, values)
	}
}

// TestRefusalsNameTheirPlace: numbers that an engine would round or drop are refused, with the name of
// the row or variable.
func TestRefusalsNameTheirPlace(t *testing.T) {
	opts := &milp.Options{
		FeasibilityTolerance: milp.DefaultFeasibilityTolerance, IntegralityTolerance: milp.DefaultIntegralityTolerance,
		AbsoluteGap: milp.DefaultAbsoluteGap, RelativeGap: milp.DefaultRelativeGap, Workers: 1,
	}
	for name, test := range map[string]struct {
		upper, coef, cost float64
		cp, highs, others string // what the error names; empty: no error
	}{
		"harmless":         {upper: 9, coef: 2, cost: 3},
		"large variable":   {upper: 1e19, coef: 1e-12, cost: 0, cp: `variable "x"`, others: `variable "x"`},
		"row and reach":    {upper: 1e15, coef: 1e5, cost: 0, cp: `row "r"`},
		"row not whole":    {upper: 1e12, coef: 1. / 3, cost: 0, cp: `row "r"`},
		"cost and reach":   {upper: 1e15, coef: 1, cost: 1e5, cp: "objective"},
		"tiny coefficient": {upper: 9, coef: 1e-13, cost: 0, highs: `row "r"`, others: `row "r"`},
		"large cost":       {upper: 9, coef: 1, cost: 1e16, others: `variable "x"`},
	} {
		b := milp.NewBuilder("")
		x := b.Integer(0, test.upper, "x")
		b.AtMost("r", []milp.Term{{Var: x, Coef: test.coef}}, 7)
		b.Minimize([]milp.Term{{Var: x, Coef: test.cost}}, 0)
		model := must.Have(b.Build())(t)
		_, cp := newCPModel(model, opts)
		_, highs := newHighsProblem(model, opts)
		for engine, got := range map[string]struct {
			err  error
			want string
		}{"cp-sat": {cp, test.cp}, "highs": {highs, test.highs}, "mathopt": {checkNumbers(model), test.others}} {
			if (got.err != nil) != (got.want != "") || got.err != nil && !strings.Contains(got.err.Error(), got.want) {
				t.Errorf("%s, %s: %v, want it to name %q", name, engine, got.err, got.want)
			}
			if got.err != nil && !errors.Is(got.err, apportion.ErrRange) {
				t.Errorf("%s, %s: %v is no ErrRange", name, engine, got.err)
			}
		}
	}
}

// TestBoundWithoutProof: a response without a bound looks like one with bound 0; before the end of
// a search it proves no more than the variables' own bounds do.
func TestBoundWithoutProof(t *testing.T) {
	b := milp.NewBuilder("")
	x := b.Integer(-4, 10, "")
	b.Minimize([]milp.Term{{Var: x, Coef: 0.5}}, 3)
	model := must.Have(b.Build())(t)
	m := must.Have(newCPModel(model, &milp.Options{FeasibilityTolerance: 1e-6, AbsoluteGap: 1e-9}))(t)
	for _, test := range []struct {
		response cpResponse
		min, max float64
	}{
		{cpResponse{}, -3, 1},
		{cpResponse{status: cpFeasible}, -3, 1},
		{cpResponse{status: cpFeasible, bound: 20}, 2 - 1e-9, 2},
		{cpResponse{status: cpOptimal, bound: 10}, 1 - 1e-9, 1},
	} {
		if got := m.bound(model, test.response); got < test.min || got > test.max {
			t.Errorf("%+v: bound %v, want it in [%v, %v]", test.response, got, test.min, test.max)
		}
	}
}
