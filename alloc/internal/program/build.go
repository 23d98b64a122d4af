// This file builds P2 as a mixed-integer linear program, [Dorm (6)-(18)], in the form that is asked for.
// Each form has a file of its own.

package program

import (
	"fmt"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// Build writes inst in a form; whole: without continuous variables. Its errors, and what it does about large quantities, are those of
// mip.Build.
func Build(inst *solver.Instance, form Form, whole bool) (*Program, error) {
	// The three forms share the builder and differ in the function alone; an unknown form has none.
	write := map[Form]func(*builder) *Program{Verbatim: verbatim, Class: byClass, Disjunctive: disjunctive}[form]
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
