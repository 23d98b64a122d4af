// This file implements the back-ends SCIP and GLOP, which are reached through MathOpt.

package ortools

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/check"
)

// SCIP is the solver of mixed-integer programs by constraint integer programming [Achterberg09]. Its
// zero value is ready; it may be used by many goroutines. MathOpt's C interface takes no
// parameters: no gaps, tolerances, workers, seed, log or starting solution.
type SCIP struct {
	// Library is the folder of the libraries, or one of them; empty: EnvLibrary, then the usual places.
	Library string
}

// GLOP is OR-Tools' own solver of linear programs: no integer variables. Its zero value is ready; it
// may be used by many goroutines.
type GLOP struct {
	// Library is as in SCIP.
	Library string
}

var (
	_ milp.Solver  = SCIP{}
	_ milp.Capable = SCIP{}
	_ milp.Solver  = GLOP{}
	_ milp.Capable = GLOP{}
)

// Capabilities returns what is left without parameters. Interruption takes longer than the 100 ms that
// the other engines keep: 210 ms of work in the median, 285 ms at most, in 100 interrupted searches of a
// model whose root it cuts at length. MathOpt looks at the interrupter at SCIP's events only, between
// rounds of cuts, linear programs and nodes, and hands the best point out when SCIP has ended, not
// before; so the call waits for it.
func (SCIP) Capabilities() milp.Capability { return GLOP{}.Capabilities() | milp.CanInteger }

// Capabilities returns what is left without parameters and integer variables. Interruption: 8 ms of work
// in the median, 91 ms at most, in 100 interrupted searches of a program of 1.4 million coefficients. The
// call returns after 30 ms, without a point, which GLOP has only at the end.
func (GLOP) Capabilities() milp.Capability {
	return milp.CanContinuous | milp.CanInfiniteBounds | milp.CanInterrupt | milp.CanTimeLimit
}

// Solve implements [milp.Solver]. Its errors are ErrUnavailable, [apportion.FieldError] for numbers of
// extreme size, and what MathOpt says.
func (s SCIP) Solve(ctx context.Context, model *milp.Model, opts *milp.Options) (milp.Solution, error) {
	return mathOpt(ctx, call{engineSCIP, s.Library}, model, opts)
}

// Solve implements [milp.Solver]. Its errors are those of SCIP.
func (s GLOP) Solve(ctx context.Context, model *milp.Model, opts *milp.Options) (milp.Solution, error) {
	return mathOpt(ctx, call{engineGLOP, s.Library}, model, opts)
}

// engine is a SolverTypeProto. Only these two are ever asked for: MathOpt ends the process when it is
// asked for one that it lists but was built without.
type engine int32

const (
	engineSCIP engine = 1
	engineGLOP engine = 3
)

// call says which engine of which library.
type call struct {
	engine  engine
	library string
}

// infiniteObjective is in MathOpt's error where SCIP has found the model to be unbounded together with a
// point of infinite objective: MathOpt refuses to pass such a point on.
const infiniteObjective = "found value: -inf; invalid PrimalSolutionProto.objective_value"

// mathOpt solves the model. The time limit is kept by the interrupter, as the end of a context is.
func mathOpt(ctx context.Context, c call, model *milp.Model, opts *milp.Options) (milp.Solution, error) {
	library, err := openORTools(place(c.library))
	if err != nil {
		return milp.Solution{}, err
	}
	if err := checkNumbers(model); err != nil {
		return milp.Solution{}, err
	}
	// MathOpt's C interface takes no parameters, so a context carries the time limit.
	limited, cancel := withLimit(ctx, opts.TimeLimit)
	defer cancel()
	// run makes one call; without costs it asks whether the model is feasible at all.
	run := func(costs bool) (milp.Solution, error) {
		encoded, err := library.solveMathOpt(limited, c.engine, mathOptModel(model, costs))
		if err != nil && strings.Contains(err.Error(), infiniteObjective) {
			return milp.Solution{Status: milp.Unbounded}, nil
		}
		if err != nil {
			return milp.Solution{}, err
		}
		result, err := readMathOptResult(encoded)
		if err != nil {
			return milp.Solution{}, fmt.Errorf("MathOpt's result: %w", err)
		}
		// ctx and not limited: a time limit that has passed is no cancellation.
		return result.solution(ctx, model)
	}
	search := func() (milp.Solution, error) {
		answer, err := run(true)
		if err == nil && answer.Status == milp.Unbounded {
			answer, err = run(false)
			// An unbounded relaxation proves nothing about integer points ([Meyer74]), hence the
			// second call.
			answer = unboundedIfFeasible(model, answer)
		}
		return answer, err
	}
	// GLOP has nothing to tell before it ends, so waiting longer would win nothing.
	wait := grace
	if c.engine == engineSCIP {
		wait = patience
	}
	return untilLeft(limited, wait, search, func() milp.Solution {
		nothing, _ := mathOptResult{reason: moNoSolution, bound: math.Inf(-1)}.solution(ctx, model) // no error for it
		return nothing
	})
}

const (
	// smallest is SCIP's epsilon: it takes smaller numbers for zero.
	smallest = 1e-9
	// largest is the size from which SCIP calls a number huge. With larger ones its search may not come
	// to an end, nor obey an interruption.
	largest = 1e15
)

// checkNumbers refuses numbers that the engines behind MathOpt cannot work with, by name.
func checkNumbers(model *milp.Model) error {
	const detail = "MathOpt's engines take sizes from 1e-9 to 1e15"
	for j := range model.Variables() {
		v := model.Variable(j)
		if !fits(v.Lower, 0) || !fits(v.Upper, 0) || !fits(v.Cost, 0) {
			return doesNotFit(check.Item("variable", model.VariableName(j), j), "bounds or cost", detail)
		}
	}
	for i := range model.Rows() {
		row := model.Row(i)
		// Bounds may be 0 or tiny, coefficients may not: SCIP drops them.
		ok := fits(row.Lower, 0) && fits(row.Upper, 0)
		for _, a := range row.Coefs {
			ok = ok && fits(a, smallest)
		}
		if !ok {
			return doesNotFit(check.Item("row", model.RowName(i), i), "bounds or coefficients", detail)
		}
	}
	return nil
}

// fits reports whether x is infinite, or in size from least to largest.
func fits(x, least float64) bool {
	return math.IsInf(x, 0) || math.Abs(x) >= least && math.Abs(x) <= largest
}

// Field numbers of math_opt's model, result, solution and sparse_containers, and TerminationReasonProto.
const (
	moModelVariables   protowire.Number = 2
	moModelObjective   protowire.Number = 3
	moModelConstraints protowire.Number = 4
	moModelMatrix      protowire.Number = 5

	moIDs      protowire.Number = 1 // of variables, constraints and vectors
	moLower    protowire.Number = 2
	moUpper    protowire.Number = 3
	moIntegers protowire.Number = 4
	moValues   protowire.Number = 2 // of vectors

	moObjectiveOffset protowire.Number = 2
	moObjectiveLinear protowire.Number = 3
	moMatrixRows      protowire.Number = 1
	moMatrixColumns   protowire.Number = 2
	moMatrixCoefs     protowire.Number = 3

	moResultTermination protowire.Number = 2
	moResultSolutions   protowire.Number = 3
	moResultStats       protowire.Number = 6
	moReason            protowire.Number = 1
	moDetail            protowire.Number = 3
	moBounds            protowire.Number = 5
	moDualBound         protowire.Number = 3
	moStatsNodes        protowire.Number = 7
	moSolutionPrimal    protowire.Number = 1
	moPrimalValues      protowire.Number = 1
	moPrimalStatus      protowire.Number = 3

	moOptimal               = 1
	moInfeasible            = 2
	moUnbounded             = 3
	moInfeasibleOrUnbounded = 4
	moNoSolution            = 6
	moFeasible              = 9

	moPointFeasible = 2
)

// mathOptModel writes the model as a ModelProto without names, minimised; without costs where they
// are not asked for.
func mathOptModel(model *milp.Model, costs bool) message {
	n, rows := model.Variables(), model.Rows()
	lower, upper := make([]float64, n), make([]float64, n)
	var costIDs, integers []int64
	var costValues []float64
	// MathOpt is told to minimise, as every engine here is.
	sign := direction(model)
	for j := range n {
		v := model.Variable(j)
		lower[j], upper[j] = v.Lower, v.Upper
		integers = append(integers, int64(protowire.EncodeBool(v.Integer)))
		if costs && v.Cost != 0 {
			costIDs, costValues = append(costIDs, int64(j)), append(costValues, sign*v.Cost)
		}
	}
	rowLower, rowUpper := make([]float64, rows), make([]float64, rows)
	// The matrix goes over as three lists of equal length: row, column, coefficient.
	size := model.Nonzeros()
	matrixRows, matrixColumns, coefs := make([]int64, 0, size), make([]int64, 0, size), make([]float64, 0, size)
	for i := range rows {
		row := model.Row(i)
		rowLower[i], rowUpper[i] = row.Lower, row.Upper
		for k, j := range row.Columns {
			matrixRows, matrixColumns = append(matrixRows, int64(i)), append(matrixColumns, int64(j))
			coefs = append(coefs, row.Coefs[k])
		}
	}
	// Fields of a message may come in any order; the order here is that of model.proto.
	var m, variables, objective, linear, constraints, matrix message
	variables.integers(moIDs, count(n)...)
	variables.doubles(moLower, lower)
	variables.doubles(moUpper, upper)
	variables.integers(moIntegers, integers...)
	linear.integers(moIDs, costIDs...)
	linear.doubles(moValues, costValues)
	if costs {
		objective.double(moObjectiveOffset, sign*model.Constant())
	}
	objective.nested(moObjectiveLinear, linear)
	constraints.integers(moIDs, count(rows)...)
	constraints.doubles(moLower, rowLower)
	constraints.doubles(moUpper, rowUpper)
	matrix.integers(moMatrixRows, matrixRows...)
	matrix.integers(moMatrixColumns, matrixColumns...)
	matrix.doubles(moMatrixCoefs, coefs)
	m.nested(moModelVariables, variables)
	m.nested(moModelObjective, objective)
	m.nested(moModelConstraints, constraints)
	m.nested(moModelMatrix, matrix)
	return m
}

// count returns 0, 1, ... n-1.
func count(n int) []int64 {
	numbers := make([]int64, n)
	for k := range numbers {
		numbers[k] = int64(k)
	}
	return numbers
}

// mathOptResult is the part of a SolveResultProto that is read.
type mathOptResult struct {
	reason, nodes uint64
	detail        string
	bound         float64 // of the minimised objective
	ids           []int64 // of the first solution; those left out are 0
	values        []float64
	solutions     int
	feasible      bool
}

// readMathOptResult decodes a SolveResultProto. Without a termination nothing is proven: the bound
// is infinite.
func readMathOptResult(encoded []byte) (mathOptResult, error) {
	r := mathOptResult{bound: math.Inf(-1)}
	err := decode(encoded, func(e entry) error {
		switch e.field {
		case moResultTermination:
			return decode(e.bytes, r.termination)
		case moResultSolutions:
			r.solutions++
			// Later solutions are counted and skipped.
			if r.solutions == 1 { // the best comes first
				return within(moSolutionPrimal, e.bytes, r.point)
			}
		case moResultStats:
			return decode(e.bytes, func(e entry) error {
				if e.field == moStatsNodes {
					r.nodes = e.bits
				}
				return nil
			})
		}
		return nil
	})
	return r, err
}

// within decodes the nested messages of that field.
func within(field protowire.Number, encoded []byte, visit func(entry) error) error {
	return decode(encoded, func(e entry) error {
		if e.field != field {
			return nil
		}
		return decode(e.bytes, visit)
	})
}

// termination takes a field of a TerminationProto: why the search ended, and its bounds.
func (r *mathOptResult) termination(e entry) error {
	switch e.field {
	case moReason:
		r.reason = e.bits
	case moDetail:
		r.detail = string(e.bytes)
	case moBounds:
		// proto3 leaves out a number that is 0, so "bounds without a dual bound" means 0, and no
		// bounds at all mean infinite.
		r.bound = 0 // what a message without the field says
		return decode(e.bytes, func(e entry) error {
			if e.field == moDualBound {
				r.bound = e.double()
			}
			return nil
		})
	}
	return nil
}

// point takes a field of a PrimalSolutionProto: the values by id, and whether they are feasible.
func (r *mathOptResult) point(e entry) error {
	switch e.field {
	case moPrimalStatus:
		r.feasible = e.bits == moPointFeasible
	case moPrimalValues:
		return decode(e.bytes, func(e entry) (err error) {
			switch e.field {
			case moIDs:
				r.ids, err = e.appendIntegers(r.ids)
			case moValues:
				r.values, err = e.appendDoubles(r.values)
			}
			return err
		})
	}
	return nil
}

// solution turns the result into the model's terms. Unbounded may still be infeasible.
func (r mathOptResult) solution(ctx context.Context, model *milp.Model) (milp.Solution, error) {
	// The sum with 0 turns -0 into 0.
	answer := milp.Solution{Nodes: int64(r.nodes), Bound: direction(model)*r.bound + 0}
	switch r.reason {
	case moOptimal:
		answer.Status = milp.Optimal
	case moFeasible:
		answer.Status, answer.Reason = milp.Feasible, "time limit"
	case moNoSolution:
		answer.Status, answer.Reason = milp.LimitReached, "time limit"
	case moInfeasible:
		answer.Status = milp.Infeasible
		return answer, nil
	case moUnbounded, moInfeasibleOrUnbounded:
		answer.Status = milp.Unbounded
		return answer, nil
	default:
		return answer, fmt.Errorf("MathOpt ends for reason %d: %s", r.reason, r.detail)
	}
	// An optimum that was proven just before the end stays one.
	if ctx.Err() != nil && r.reason != moOptimal {
		answer.Status, answer.Reason = milp.Cancelled, ctx.Err().Error()
	}
	if !r.feasible || answer.Status == milp.LimitReached {
		return answer, nil
	}
	// The bytes come from outside: lengths and indices are checked before they are used.
	if len(r.ids) != len(r.values) {
		return answer, errors.New("MathOpt gives a point with parts of different length")
	}
	answer.Values = make([]float64, model.Variables())
	for k, j := range r.ids {
		if j < 0 || j >= int64(len(answer.Values)) {
			return answer, fmt.Errorf("MathOpt gives a value for variable %d of %d", j, len(answer.Values))
		}
		answer.Values[j] = r.values[k]
	}
	return answer, nil
}
