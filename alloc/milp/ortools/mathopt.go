// This file implements the back-ends SCIP and GLOP, which are reached through MathOpt.

package ortools

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

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

// engine is a SolverTypeProto, by its numbers there. Only these two are ever asked for: MathOpt ends the process when it is
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
// Its second call is made under the same limit, of which the first may have left little.
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
	// search is what is left running where a caller leaves: both calls end at the interrupter.
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

// checkNumbers refuses numbers that the engines behind MathOpt cannot work with, by the name of the first variable or row that
// has one. A refusal is better than an answer to another model. O(nonzeros).
// It is asked before the model is encoded.
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

// fits reports whether x is infinite, or in size from least to largest. Infinite bounds are legal; milp has refused infinite
// costs and coefficients, and NaN everywhere.
func fits(x, least float64) bool {
	return math.IsInf(x, 0) || math.Abs(x) >= least && math.Abs(x) <= largest
}

// solution turns the result into the model's terms. Unbounded may still be infeasible, which mathOpt asks in a second call. An
// error means that MathOpt has ended for a reason that is none of ours, or that its message is damaged.
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
