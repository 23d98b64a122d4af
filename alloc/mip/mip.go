// This file builds P2 as a mixed-integer linear program, [Dorm §IV-B, (10)-(18)]: Model, and the
// choice of the form. Each form has a file of its own.

package mip

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// Form is one of the ways to write P2 as a linear program with integers. In JSON it is its name.
type Form string

const (
	// Verbatim is (6)-(18) as printed, on x[i][j], with the big number M of (13) and (14) chosen as
	// small as each pair of application and server allows.
	Verbatim Form = "verbatim"
	// Class pools servers of equal capacity into classes and decides x[i][class]. It is smaller,
	// and a relaxation: its optimum is an upper bound, which a packing step tries to turn into an
	// allocation on servers. With a previous allocation the bound is up to 10 % too high, because
	// an application that stays is tied to its servers and moves inside a class cost nothing here.
	Class Form = "class"
	// Disjunctive decides for every running application whether it stays exactly as it is (z = 1)
	// or is placed anew (z = 0). It has the solutions of Verbatim without a big M, and a tighter
	// relaxation.
	Disjunctive Form = "disjunctive"
)

// Forms lists the forms.
func Forms() []Form { return []Form{Verbatim, Class, Disjunctive} }

// ErrForm is returned for a Form that is none of the three.
var ErrForm = errors.New("mip: the form must be verbatim, class or disjunctive")

// Model is P2 as a program, and the way back from its solutions.
//
// Rows carry the equation they come from: c6_s3_k0 is (6) on server 3 (class 3 in Class) for kind
// 0, c7_a2 is (7) for application 2, and so on; c9 is the link between z and y that takes the place
// of (13) and (14) in Disjunctive. Variables are x_a2_s3, l_a2, r_a2 as in Dorm's Table I, z_a2 and
// y_a2_s3 for Disjunctive.
type Model struct {
	// MILP maximizes the utilization (10).
	MILP *milp.Model
	// Relaxed says that a solution of MILP need not be one of P2: in the form Class, and where
	// quantities are so large that the program counts them in larger units, see Build.
	Relaxed bool

	levels levels
	decode func(values []float64) solver.Counts
}

// Counts reads the counts of containers off a solution of MILP. For a relaxed model they may miss a
// minimum, a budget or a capacity: Instance.Check tells. values must have one entry for each variable.
func (m *Model) Counts(values []float64) solver.Counts { return m.decode(values) }

// Build writes inst in the given form: O(applications x servers) variables, kinds times as
// many coefficients.
//
// Rows hold whole numbers up to 2^53 exactly. A kind of which a server, or a class of them, has more is
// counted in a larger unit: the greatest common divisor of the demands where that is enough, which is
// exact, else so many times it that demands and capacities, rounded down, fit; the model is then Relaxed.
//
// The error is ErrForm, or the builder's for numbers of containers above 2^53.
func Build(inst *solver.Instance, form Form) (*Model, error) {
	return build(inst, form, false)
}

// BuildFor is Build in terms that the solver can state: where it takes integer variables only,
// the fairness losses are written with whole numbers, exactly, in rows c11 and c12 of another shape
// and variables p_a2, q_a2, b_a2 in place of l_a2.
func BuildFor(backend milp.Solver, inst *solver.Instance, form Form) (*Model, error) {
	return build(inst, form, milp.Capabilities(backend)&milp.CanContinuous == 0)
}

func build(inst *solver.Instance, form Form, whole bool) (*Model, error) {
	write := map[Form]func(*builder) *Model{Verbatim: verbatim, Class: byClass, Disjunctive: disjunctive}[form]
	if write == nil {
		return nil, fmt.Errorf("%w: %s", ErrForm, strconv.Quote(string(form)))
	}
	b := &builder{inst: inst, whole: whole, Builder: milp.NewBuilder("P2_" + string(form))}
	model := write(b)
	model.Relaxed = model.Relaxed || b.rounded
	var err error
	if model.MILP, err = b.Build(); err != nil {
		return nil, fmt.Errorf("mip: building P2: %w", err)
	}
	return model, nil
}
