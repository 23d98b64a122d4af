// This file builds P2 as a mixed-integer linear program, [Dorm (6)-(18)], in the form that is asked for.
// Each form has a file of its own.

package mip

import (
	"fmt"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// Build writes inst in the given form: O(applications x servers) variables, kinds times as
// many coefficients.
//
// Rows hold whole numbers up to 2^53 exactly, and some back-ends take none above 10^15. A kind of which a server, or a
// class of them, has more than that is counted in a larger unit: the greatest common divisor of the demands, which is
// exact, or where that leaves more than 2^53 so many times it that demands and capacities, rounded down, fit; the model is
// then Relaxed.
//
// The error is a *apportion.FieldError: apportion.ErrUnknown for a form that is none of the three, apportion.ErrRange where
// applications that state their losses may have more than a million numbers of containers together, a variable each; or it is the
// builder's for numbers of containers above 2^53.
func Build(inst *solver.Instance, form Form) (*Model, error) {
	return build(inst, form, false)
}

// BuildFor is Build in terms that the solver can state: where it takes integer variables only,
// the fairness losses are written with whole numbers, exactly, in rows c11 and c12 of another shape
// and variables p_a2, q_a2, b_a2 in place of l_a2.
func BuildFor(backend milp.Solver, inst *solver.Instance, form Form) (*Model, error) {
	return build(inst, form, milp.Capabilities(backend)&milp.CanContinuous == 0)
}

// build writes inst in a form; whole: without continuous variables.
func build(inst *solver.Instance, form Form, whole bool) (*Model, error) {
	// The three forms share the builder and differ in the function alone; an unknown form has none.
	write := map[Form]func(*builder) *Model{Verbatim: verbatim, Class: byClass, Disjunctive: disjunctive}[form]
	if write == nil {
		return nil, &apportion.FieldError{Field: "Form", Detail: strconv.Quote(string(form)), Err: apportion.ErrUnknown}
	}
	if err := listable(inst); err != nil {
		return nil, err
	}
	b := &builder{inst: inst, whole: whole, Builder: milp.NewBuilder("P2_" + string(form))}
	b.apart()
	model := write(b)
	// Class is a relaxation by its nature, any form one where quantities had to be rounded.
	model.Relaxed = model.Relaxed || b.rounded
	var err error
	if model.MILP, err = b.Build(); err != nil {
		return nil, fmt.Errorf("mip: building P2: %w", err)
	}
	return model, nil
}
