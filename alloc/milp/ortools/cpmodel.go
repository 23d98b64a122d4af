// This file writes a model as a CpModelProto and its search as SatParameters.

package ortools

import (
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/check"
)

// maxWorkers is the largest number of workers that is passed on.
const maxWorkers = 1024

// Field numbers of the messages, as published in cp_model.proto and sat_parameters.proto.
const (
	cpModelVariables   protowire.Number = 2
	cpModelConstraints protowire.Number = 3
	cpModelObjective   protowire.Number = 4
	cpModelHint        protowire.Number = 6

	cpVariableDomain   protowire.Number = 2
	cpConstraintLinear protowire.Number = 12
	cpLinearVars       protowire.Number = 1
	cpLinearCoefs      protowire.Number = 2
	cpLinearDomain     protowire.Number = 3
	cpObjectiveVars    protowire.Number = 1
	cpObjectiveOffset  protowire.Number = 2
	cpObjectiveCoefs   protowire.Number = 4
	cpHintVars         protowire.Number = 1
	cpHintValues       protowire.Number = 2

	satSeed        protowire.Number = 31
	satTimeLimit   protowire.Number = 36
	satSignals     protowire.Number = 135
	satInterleave  protowire.Number = 136
	satAbsoluteGap protowire.Number = 159
	satRelativeGap protowire.Number = 160
	satWorkers     protowire.Number = 206
)

const (
	// maxBound is the largest size of a variable's bound that is passed on: every smaller whole number
	// is a float64 too.
	maxBound = 1 << 53
	// tightShare of the feasibility tolerance is what a row's bounds are widened by at least and what
	// the rounding of its coefficients may come to as a rule; looseShare is what it may come to at
	// most. A point of the widened row misses the true one by twice that and tightShare: still less
	// than the tolerance that the referee grants.
	tightShare, looseShare = 1e-3, 0.25
	// looseObjective is the most that rounding may move the objective. It is a quarter of what the
	// referee allows between two computations of an objective.
	looseObjective = 2.5e-7
)

// cpModel is a model in the terms of CP-SAT: everything integer, the objective minimised.
type cpModel struct {
	encoded      message
	lower, upper []int64   // of the variables
	reach        []float64 // the larger size of the two
	objective    integerForm
	vars         []int64 // scratch: the variables of a row
	sizes        []float64
	infeasible   bool // found while writing: some row or variable has no value left
}

// newCPModel writes the model. A fault names the variable or row whose numbers do not fit.
// O(18 nonzeros), and as much memory as the message has: a few bytes a coefficient.
func newCPModel(model *milp.Model, opts *milp.Options) (*cpModel, error) {
	m := new(cpModel)
	if err := m.addVariables(model); err != nil {
		return nil, err
	}
	// Variables come first: rows need their reach.
	for i := range model.Rows() {
		if err := m.addRow(model, i, opts.FeasibilityTolerance); err != nil {
			return nil, err
		}
	}
	if err := m.addObjective(model, opts.AbsoluteGap); err != nil {
		return nil, err
	}
	m.addHint(opts.Hint)
	return m, nil
}

// addVariables writes one domain a variable, rounded inwards, and keeps bounds and reach for rows
// and hints. O(variables).
func (m *cpModel) addVariables(model *milp.Model) error {
	for j := range model.Variables() {
		v := model.Variable(j)
		// milp.Solve has seen to it that every variable is integer with finite bounds:
		// Capabilities claims no more.
		lower, upper := math.Ceil(v.Lower), math.Floor(v.Upper)
		if size := math.Max(math.Abs(lower), math.Abs(upper)); size > maxBound {
			return doesNotFit(check.Item("variable", model.VariableName(j), j), "bounds", "CP-SAT takes whole numbers up to 2^53")
		}
		// CP-SAT would call an empty domain an invalid model. It is an infeasible one, which
		// solution answers without a call.
		if lower > upper {
			m.infeasible = true
		}
		m.lower, m.upper = append(m.lower, int64(lower)), append(m.upper, int64(upper))
		m.reach = append(m.reach, math.Max(math.Abs(lower), math.Abs(upper)))

		var variable message
		variable.integers(cpVariableDomain, int64(lower), int64(upper))
		m.encoded.nested(cpModelVariables, variable)
	}
	return nil
}

// doesNotFit is the error for a number that an engine would change in silence: it names the
// variable or row.
func doesNotFit(item apportion.Item, field, detail string) error {
	return &apportion.FieldError{Item: item, Field: field, Err: apportion.ErrRange, Detail: detail}
}

// addRow scales a row to integers; its bounds are widened by what that changes.
func (m *cpModel) addRow(model *milp.Model, i int, tolerance float64) error {
	row := model.Row(i)
	// How large each variable may be says how much a rounded coefficient can change the row.
	m.vars, m.sizes = m.vars[:0], m.sizes[:0]
	for _, j := range row.Columns {
		m.vars, m.sizes = append(m.vars, int64(j)), append(m.sizes, m.reach[j])
	}
	// Both shares are parts of the tolerance that the caller asked for, so a sharper one gets a
	// finer scale, or a refusal.
	tight := tightShare * tolerance
	form, ok := scaleForm(row.Coefs, m.sizes, tight, looseShare*tolerance)
	if !ok {
		return doesNotFit(check.Item("row", model.RowName(i), i), "coefficients",
			"no integer row within CP-SAT's 64 bits is equal to it up to the feasibility tolerance")
	}
	// The row is widened on both sides; see scaling.go for what is proven.
	lower, upper := form.atLeast(row.Lower, tight), form.atMost(row.Upper, tight)
	switch {
	// No whole value of the form lies between the bounds: the row proves infeasibility by itself.
	case lower > upper:
		m.infeasible = true
	// A row without coefficients is 0: it holds or it does not.
	case len(form.coefs) == 0:
		m.infeasible = m.infeasible || lower > 0 || upper < 0
	// A row that bounds nothing within the variables' own bounds is left out.
	case lower > math.MinInt64 || upper < math.MaxInt64:
		var linear, constraint message
		linear.integers(cpLinearVars, m.vars...)
		linear.integers(cpLinearCoefs, form.coefs...)
		linear.integers(cpLinearDomain, lower, upper)
		constraint.nested(cpConstraintLinear, linear)
		m.encoded.nested(cpModelConstraints, constraint)
	}
	return nil
}

// addObjective scales the costs to integers, negated where the model maximises. CP-SAT is told the
// constant in the same scale and no factor, so its relative gap is the model's: numbers of size
// below 1, which it would measure differently, are below the scale.
// Its terms are fewer than variables: a cost of 0 is not written.
func (m *cpModel) addObjective(model *milp.Model, absoluteGap float64) error {
	var costs, sizes []float64
	var vars []int64
	sign := direction(model)
	for j := range model.Variables() {
		if cost := model.Variable(j).Cost; cost != 0 {
			costs, sizes, vars = append(costs, sign*cost), append(sizes, m.reach[j]), append(vars, int64(j))
		}
	}
	// The deviation moves the bound outward (see bound), so it must stay well below the gap that
	// the caller asked for.
	form, ok := scaleForm(costs, sizes, math.Min(absoluteGap/4, looseObjective), looseObjective)
	if !ok {
		return doesNotFit(apportion.Item{ID: "objective"}, "coefficients",
			"no integer objective within CP-SAT's 64 bits is equal to it up to the referee's tolerance")
	}
	m.objective = form
	// Without costs every feasible point is optimal, and bound returns the constant by itself.
	if len(vars) == 0 {
		return nil
	}
	var objective message
	objective.integers(cpObjectiveVars, vars...)
	objective.double(cpObjectiveOffset, sign*model.Constant()*form.scale)
	objective.integers(cpObjectiveCoefs, form.coefs...)
	m.encoded.nested(cpModelObjective, objective)
	return nil
}

// direction is 1 where the model minimises and -1 where it maximises.
func direction(model *milp.Model) float64 {
	if model.Sense() == milp.Maximize {
		return -1
	}
	return 1
}

// addHint passes the starting point on, rounded and moved into the bounds. NaN says that nothing is known of a variable, and a
// variable without a value left cannot have one. CP-SAT need not use any of it.
func (m *cpModel) addHint(hint []float64) {
	var vars, values []int64
	for j, x := range hint {
		if !math.IsNaN(x) && m.lower[j] <= m.upper[j] {
			// The clamp comes before the conversion: int64 of 1e300 is not defined.
			x = math.Max(float64(m.lower[j]), math.Min(math.RoundToEven(x), float64(m.upper[j])))
			vars, values = append(vars, int64(j)), append(values, int64(x))
		}
	}
	// A hint without any value is none.
	if len(vars) > 0 {
		var point message
		point.integers(cpHintVars, vars...)
		point.integers(cpHintValues, values...)
		m.encoded.nested(cpModelHint, point)
	}
}

// parameters writes the options as SatParameters. CP-SAT's own handler of the interrupt key is
// switched off: signals belong to the host process.
// It comes after newCPModel, whose scale the absolute gap is measured in. Options that CP-SAT is not
// told here are those that Capabilities does not claim.
func (m *cpModel) parameters(opts *milp.Options, deterministic bool) (message, error) {
	if opts.Seed < 0 || opts.Seed > math.MaxInt32 || opts.Workers > maxWorkers {
		return nil, doesNotFit(apportion.Item{ID: "options"}, "Seed or Workers", "CP-SAT takes seeds of 31 bits and "+strconv.Itoa(maxWorkers)+" workers")
	}
	var p message
	p.boolean(satSignals, false)
	p.integer(satWorkers, int64(opts.Workers))
	p.double(satRelativeGap, opts.GapToObjective())
	// CP-SAT measures the gap in the scaled objective.
	p.double(satAbsoluteGap, opts.AbsoluteGap*m.objective.scale)
	if opts.Seed != 0 {
		p.integer(satSeed, opts.Seed)
	}
	if opts.TimeLimit > 0 {
		p.double(satTimeLimit, opts.TimeLimit.Seconds())
	}
	// Interleaved search gives its workers turns of fixed length, so that their race has one
	// outcome.
	if deterministic && opts.Workers > 1 {
		p.boolean(satInterleave, true)
	}
	return p, nil
}
