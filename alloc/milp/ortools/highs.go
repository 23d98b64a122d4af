// This file implements the back-end HiGHS: the model, the options and the answer in its terms.

package ortools

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/check"
)

// HiGHS is the open-source solver of linear and mixed-integer programs [HuangfuHall18], called
// through its own C interface. It needs libhighs only. Its zero value is ready; it may be used by
// many goroutines.
type HiGHS struct {
	// Library is the folder of the libraries, or one of them; empty: EnvLibrary, then the usual places.
	Library string
}

var (
	_ milp.Solver  = HiGHS{}
	_ milp.Capable = HiGHS{}
)

// Capabilities returns everything but a memory limit. Interruption: 3 ms of work in the median, 28 ms
// at most, in 100 interrupted searches; where HiGHS itself takes longer, the call returns after 30 ms
// with the best point and bound that it has told, and the search is wound up behind it.
func (HiGHS) Capabilities() milp.Capability { return milp.CanEverything &^ milp.CanMemoryLimit }

// The versions of HiGHS that are called: this major one, from this minor one on. The kinds of
// callback were numbered otherwise before.
const highsMajor, highsMinor = 1, 11

const (
	// smallestCoef is the least size of a coefficient that HiGHS can be made to keep.
	smallestCoef = 1e-12
	// sharper is what the tolerances are multiplied by for HiGHS, so that its points also pass the
	// referee, which rounds the integer variables; sharpest is the least that it takes.
	sharper, sharpest = 0.1, 1e-10
	// presolveRuleOff has a bit for each rule of presolve that is left out: the aggregator, bit 12. With it
	// and the rule for parallel rows and columns, bit 13, presolve cuts off the optimum of one in a hundred
	// tiny programs of OASiS (those that milptest knows); without either of the two it does not.
	presolveRuleOff = 1 << 12
	// maxNonzeros is what its 32 bit indices take.
	maxNonzeros = math.MaxInt32
)

// Solve implements [milp.Solver]. Its errors are ErrUnavailable, [apportion.FieldError] for numbers
// that HiGHS would change, and HiGHS' own failures.
func (s HiGHS) Solve(ctx context.Context, model *milp.Model, opts *milp.Options) (milp.Solution, error) {
	library, err := openHiGHS(place(s.Library))
	if err != nil {
		return milp.Solution{}, err
	}
	// HiGHS calls such a model empty and answers neither feasible nor infeasible.
	if model.Variables() == 0 {
		return withoutVariables(model, opts), nil
	}
	p, err := newHighsProblem(model, opts)
	if err != nil {
		return milp.Solution{}, err
	}
	start := time.Now()
	answer, err := library.solve(ctx, p)
	if err != nil {
		return milp.Solution{}, err
	}
	// HiGHS may leave open which of the two it is, and an unbounded relaxation proves nothing; a
	// second search decides.
	if answer.status != highsUnbounded && answer.status != highsUnboundedOrInfeasible {
		return answer.solution(ctx, model)
	}
	// The first search has ended, or its status would be an interruption: nobody else reads p.
	// Without costs the model is feasible or not, and never unbounded.
	clear(p.cost)
	p.offset = 0
	p.found = newHighsFound(model, opts.Log) // what was found so far was worth something else
	if opts.TimeLimit > 0 {                  // what is left of it; the later setting counts
		p.options = append(p.options, highsOption{"time_limit", math.Max(0, (opts.TimeLimit - time.Since(start)).Seconds())})
	}
	answer, err = library.solve(ctx, p)
	if err != nil {
		return milp.Solution{}, err
	}
	feasible, err := answer.solution(ctx, model)
	return unboundedIfFeasible(model, feasible), err
}

// withoutVariables answers a model that has none: its rows hold or they do not.
// The time and node limits have no part in it.
func withoutVariables(model *milp.Model, opts *milp.Options) milp.Solution {
	if model.Verify([]float64{}, opts.FeasibilityTolerance, 0) != nil {
		return milp.Solution{Status: milp.Infeasible}
	}
	return milp.Solution{Status: milp.Optimal, Values: []float64{}, Bound: model.Constant()}
}

// unboundedIfFeasible decides a model whose relaxation is unbounded, given the answer without costs:
// with rational data, and a float64 is rational, it is unbounded where it has any feasible point
// ([Meyer74] theorem 2.1).
// All other statuses stay: the model is infeasible, or a limit has left open what it is.
func unboundedIfFeasible(model *milp.Model, withoutCosts milp.Solution) milp.Solution {
	withoutCosts.Bound = direction(model) * math.Inf(-1)
	if withoutCosts.Status == milp.Optimal {
		withoutCosts.Status, withoutCosts.Values = milp.Unbounded, nil
	}
	return withoutCosts
}

// highsOption is an option by name; its value is a bool, an int32 or a float64.
type highsOption struct {
	name  string
	value any
}

// highsProblem is a model and its options in HiGHS' terms: stored by rows, minimised.
// A search that was left goes on reading it, so that nobody writes to it after the call.
type highsProblem struct {
	cost, lower, upper, rowLower, rowUpper []float64
	start, index, integer                  []int32 // integer[j] is 1 for an integer variable
	coefs                                  []float64
	offset                                 float64
	options                                []highsOption
	hintIndex                              []int32
	hintValue                              []float64
	found                                  *highsFound
}

// newHighsProblem copies the model into the arrays that HiGHS reads, 12 bytes a coefficient. A
// fault names what HiGHS would change.
func newHighsProblem(model *milp.Model, opts *milp.Options) (*highsProblem, error) {
	if model.Nonzeros() > maxNonzeros || opts.Workers > maxWorkers || opts.Seed < 0 || opts.Seed > math.MaxInt32 {
		return nil, doesNotFit(apportion.Item{ID: "model or options"}, "coefficients, Workers or Seed",
			"HiGHS takes 2^31-1 coefficients, seeds of 31 bits and "+strconv.Itoa(maxWorkers)+" workers")
	}
	// HiGHS could maximise itself. One direction for all engines means one place where signs are
	// turned back.
	sign := direction(model)
	p := &highsProblem{offset: sign * model.Constant()}
	for j := range model.Variables() {
		v := model.Variable(j)
		p.cost, p.lower, p.upper = append(p.cost, sign*v.Cost), append(p.lower, v.Lower), append(p.upper, v.Upper)
		// HiGHS' codes: 0 continuous, 1 integer.
		kind := int32(0)
		if v.Integer {
			kind = 1
		}
		p.integer = append(p.integer, kind)
	}
	for i := range model.Rows() {
		row := model.Row(i)
		for _, a := range row.Coefs {
			// HiGHS would drop it and solve another model: the caller is told instead.
			if math.Abs(a) < smallestCoef {
				return nil, doesNotFit(check.Item("row", model.RowName(i), i), "coefficients",
					fmt.Sprintf("HiGHS drops %g, which is smaller than %g", a, smallestCoef))
			}
		}
		p.start = append(p.start, int32(len(p.index)))
		p.index, p.coefs = append(p.index, row.Columns...), append(p.coefs, row.Coefs...)
		p.rowLower, p.rowUpper = append(p.rowLower, row.Lower), append(p.rowUpper, row.Upper)
	}
	// The row-wise format ends with the number of coefficients.
	p.start = append(p.start, int32(len(p.index)))
	p.addOptions(opts)
	p.addHint(model, opts.Hint)
	p.found = newHighsFound(model, opts.Log)
	return p, nil
}

// addOptions translates the options. What HiGHS would do on its own and a host process does not
// want (a log on the console, its own tolerances for dropping coefficients) is set as well.
// An option that HiGHS does not know is an error of the call, so that a later version that drops one is
// noticed.
func (p *highsProblem) addOptions(opts *milp.Options) {
	p.options = []highsOption{
		{"output_flag", opts.Log != nil},
		{"log_to_console", false},
		{"threads", int32(opts.Workers)},
		{"random_seed", int32(opts.Seed)},
		{"mip_rel_gap", opts.GapToObjective()},
		{"mip_abs_gap", opts.AbsoluteGap},
		// HiGHS has one tolerance for integrality and feasibility in its search, so the sharper of
		// the two asked for counts.
		{"mip_feasibility_tolerance", math.Max(sharpest, sharper*math.Min(opts.FeasibilityTolerance, opts.IntegralityTolerance))},
		{"primal_feasibility_tolerance", math.Max(sharpest, sharper*opts.FeasibilityTolerance)},
		{"small_matrix_value", smallestCoef},
		// HiGHS refuses larger coefficients; the builder has refused those from here on already.
		{"large_matrix_value", milp.Infinite},
		// This asks HiGHS to tell the two apart itself; where it does not, Solve does.
		{"allow_unbounded_or_infeasible", false},
		{"presolve_rule_off", int32(presolveRuleOff)},
	}
	if opts.TimeLimit > 0 {
		p.options = append(p.options, highsOption{"time_limit", opts.TimeLimit.Seconds()})
	}
	// A limit beyond 32 bits is as good as none, and the largest one that HiGHS takes.
	if opts.NodeLimit > 0 {
		p.options = append(p.options, highsOption{"mip_max_nodes", int32(min(opts.NodeLimit, math.MaxInt32))})
	}
}

// addHint passes the starting point of an integer search on, moved into the bounds.
func (p *highsProblem) addHint(model *milp.Model, hint []float64) {
	for j, x := range hint {
		// A linear program starts from a basis, not from a point, so its hint is of no use to
		// HiGHS.
		if v := model.Variable(j); !math.IsNaN(x) && model.Integers() > 0 {
			if v.Integer {
				x = math.RoundToEven(x)
			}
			p.hintIndex = append(p.hintIndex, int32(j))
			p.hintValue = append(p.hintValue, math.Max(v.Lower, math.Min(x, v.Upper)))
		}
	}
}
