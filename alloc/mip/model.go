// This file gives the programs of package program to callers, [Dorm (6)-(18)].

package mip

import (
	"github.com/apportion/apportion/alloc/internal/program"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// Form is one of the ways to write P2 as a linear program with integers. In JSON it is its name.
type Form = program.Form

// The forms. All of them maximize (10), and bound every solution of P2 from above.
const (
	// Verbatim is (6)-(18) as printed, on x[i][j], with the big number M of (13) and (14) chosen as
	// small as each pair of application and server allows.
	Verbatim = program.Verbatim
	// Class pools servers of equal capacity, and of one Instance.Class, into classes and decides
	// x[i][class]. It is smaller, and a relaxation: its optimum is an upper bound, which a packing step tries to turn into an
	// allocation on servers. With a previous allocation the bound is up to 10 % too high, because
	// an application that stays is tied to its servers and moves inside a class cost nothing here.
	Class = program.Class
	// Disjunctive decides for every running application whether it stays exactly as it is (z = 1)
	// or is placed anew (z = 0). It has the solutions of Verbatim without a big M, and a tighter
	// relaxation.
	Disjunctive = program.Disjunctive
)

// Forms lists the forms.
func Forms() []Form { return program.Forms() }

// Model is P2 as a program, and the way back from its solutions.
//
// Rows carry the equation they come from: c6_s3_k0 is (6) on server 3 (class 3 in Class) for kind
// 0, c7_a2 is (7) for application 2, and so on; c9 is the link between z and y that takes the place
// of (13) and (14) in Disjunctive. Variables are x_a2_s3, l_a2, r_a2 as in Dorm's Table I, z_a2 and
// y_a2_s3 for Disjunctive. What the paper's P2 has not has names of its own, see the package's notation.
type Model struct {
	// MILP maximizes the utilization (10), or the worths in its place, less Instance.LossPrice times the fairness loss.
	MILP *milp.Model
	// Relaxed says that a solution of MILP need not be one of P2: in the form Class, and where
	// quantities are so large that the program counts them in larger units, see Build.
	Relaxed bool

	program *program.Program
}

// Counts reads the counts of containers off a solution of MILP. For a relaxed model they may miss a
// minimum, a budget or a capacity: Instance.Check tells. values must have one entry for each variable.
func (m *Model) Counts(values []float64) solver.Counts { return m.program.Counts(values) }

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
	return model(program.Build(inst, form, false))
}

// BuildFor is Build in terms that the solver can state: where it takes integer variables only,
// the fairness losses are written with whole numbers, exactly, in rows c11 and c12 of another shape
// and variables p_a2, q_a2, b_a2 in place of l_a2.
func BuildFor(backend milp.Solver, inst *solver.Instance, form Form) (*Model, error) {
	return model(program.Build(inst, form, milp.Capabilities(backend)&milp.CanContinuous == 0))
}

func model(p *program.Program, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	return &Model{MILP: p.MILP, Relaxed: p.Relaxed, program: p}, nil
}
