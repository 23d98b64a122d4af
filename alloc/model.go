// This file writes P2 as a mixed-integer linear program, [Dorm §IV-B, (10)-(18)]: what the three
// forms share. Each form has a file of its own.

package alloc

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// Form is one of the ways to write P2 as a linear program with integers.
type Form string

const (
	// Verbatim is (6)-(18) as printed, on x[i][j], with the big number M of (13) and (14) chosen as
	// small as each pair of application and server allows.
	Verbatim Form = "verbatim"
	// ByClass pools servers of equal capacity into classes and decides x[i][class]. It is smaller,
	// and a relaxation: its optimum is an upper bound, which a packing step tries to turn into an
	// allocation on servers. With a previous allocation the bound is up to 10 % too high, because
	// an application that stays is tied to its servers and moves inside a class cost nothing here.
	ByClass Form = "class"
	// Disjunctive decides for every running application whether it stays exactly as it is (z = 1)
	// or is placed anew (z = 0). It has the solutions of Verbatim without a big M, and a tighter
	// relaxation.
	Disjunctive Form = "disjunctive"
)

// ErrForm is returned for a Form that is none of the three.
var ErrForm = errors.New("alloc: form must be verbatim, class or disjunctive")

// Model is P2 as a program, and the way back from its solutions.
//
// Rows carry the equation they come from: c6_s3_k0 is (6) on server 3 (class 3 in ByClass) for kind
// 0, c7_a2 is (7) for application 2, and so on; c9 is the link between z and y that takes the place
// of (13) and (14) in Disjunctive. Variables are x_a2_s3, l_a2, r_a2 as in Dorm's Table I, z_a2 and
// y_a2_s3 for Disjunctive.
type Model struct {
	// MILP maximizes the utilization (10).
	MILP *milp.Model
	// Relaxed says that a solution of MILP need not be one of P2: see ByClass.
	Relaxed bool

	levels levels
	decode func(values []float64) solver.Counts
}

// levels are the lower levels of the lexicographic preference as linear expressions over the
// variables, which FromMILP optimizes one after the other.
type levels struct {
	loss, adjusted expression
}

// expression is a linear expression with its variables by index.
type expression struct {
	columns []int
	coefs   []float64
}

// Counts reads the counts of containers off a solution of MILP. For a relaxed model that is the
// packing step, and the counts may miss a minimum or a budget: Check tells. values must have one
// entry for each variable.
func (m *Model) Counts(values []float64) solver.Counts { return m.decode(values) }

// BuildModel writes inst in the given form: O(applications x servers) variables, kinds times as
// many coefficients. The error is ErrForm, or the builder's for numbers that float64 programs
// cannot hold exactly, such as a capacity of 2^53 and more.
func BuildModel(inst *solver.Instance, form Form) (*Model, error) {
	return buildModel(inst, form, false)
}

// ModelFor is BuildModel in terms that the solver can state: where it takes integer variables only,
// the fairness losses are written with whole numbers, exactly, in rows c11 and c12 of another shape
// and variables p_a2, q_a2, b_a2 in place of l_a2.
func ModelFor(backend milp.Solver, inst *solver.Instance, form Form) (*Model, error) {
	return buildModel(inst, form, milp.Capabilities(backend)&milp.CanContinuous == 0)
}

func buildModel(inst *solver.Instance, form Form, whole bool) (*Model, error) {
	build := map[Form]func(*builder) *Model{Verbatim: verbatim, ByClass: byClass, Disjunctive: disjunctive}[form]
	if build == nil {
		return nil, fmt.Errorf("%w: %q", ErrForm, string(form))
	}
	if err := checkExact(inst); err != nil {
		return nil, err
	}
	b := &builder{inst: inst, whole: whole, Builder: milp.NewBuilder("P2_" + string(form))}
	model := build(b)
	var err error
	if model.MILP, err = b.Build(); err != nil {
		return nil, fmt.Errorf("alloc: building P2: %w", err)
	}
	return model, nil
}

// maxExact is the largest integer up to which float64 holds every integer.
const maxExact = 1 << 53

func checkExact(inst *solver.Instance) error {
	for k, c := range inst.Total {
		if c > maxExact {
			return &apportion.FieldError{Field: fmt.Sprintf("Total[%d]", k), Err: apportion.ErrRange,
				Detail: fmt.Sprintf("%d is above 2^53, which a linear program does not hold exactly", c)}
		}
	}
	return nil
}

// builder is a milp.Builder with the parts of P2 that every form has.
type builder struct {
	*milp.Builder
	inst  *solver.Instance
	whole bool        // without continuous variables
	cost  []milp.Term // of (10), so far
	// losses are the terms of the fairness loss, so far, and lost is its constant part.
	losses []milp.Term
	lost   float64
}

// name joins a letter and indices: name("x_a", 2, "_s", 3) is "x_a2_s3".
func name(parts ...any) string {
	var text strings.Builder
	for _, part := range parts {
		fmt.Fprint(&text, part)
	}
	return text.String()
}

// term returns coef times v.
func term(v milp.Var, coef float64) milp.Term { return milp.Term{Var: v, Coef: coef} }

// sum returns the sum of vars, each times coef, appended to terms.
func sum(terms []milp.Term, vars []milp.Var, coef float64) []milp.Term {
	for _, v := range vars {
		terms = append(terms, term(v, coef))
	}
	return terms
}

// expressionOf turns terms into an expression that outlives the builder.
func expressionOf(terms []milp.Term) expression {
	e := expression{make([]int, len(terms)), make([]float64, len(terms))}
	for t, term := range terms {
		e.columns[t], e.coefs[t] = term.Var.Index(), term.Coef
	}
	return e
}

// round returns the integer next to a solver's value of an integer variable.
func round(value float64) int64 { return int64(math.Round(value)) }

// cells holds the variables x[i][j] of the pairs where at least one container can be.
type cells struct {
	servers [][]int      // servers[a]: ascending
	vars    [][]milp.Var // the variables beside them
	upper   [][]int64    // and their upper bounds
}

// cells adds x[i][j] for every application and every one of the places, which have the given
// capacities each times size.
func (b *builder) cells(letter string, capacity []apportion.Resources, size []int64) *cells {
	n := len(b.inst.Apps)
	c := &cells{make([][]int, n), make([][]milp.Var, n), make([][]int64, n)}
	for a := range b.inst.Apps {
		app := &b.inst.Apps[a]
		for j := range capacity {
			upper := min(app.Max, size[j]*app.Demand.CountIn(capacity[j]))
			if upper == 0 {
				continue
			}
			v := b.Integer(0, float64(upper), name(letter, "_a", a, "_s", j))
			c.servers[a] = append(c.servers[a], j)
			c.vars[a] = append(c.vars[a], v)
			c.upper[a] = append(c.upper[a], upper)
			b.cost = append(b.cost, term(v, app.Value))
		}
	}
	return c
}

// capacities returns for every place and kind the terms d[i][k] x[i][j] of (6).
func (b *builder) capacities(c *cells, places int) [][][]milp.Term {
	rows := make([][][]milp.Term, places)
	for j := range rows {
		rows[j] = make([][]milp.Term, len(b.inst.Total))
	}
	for a := range c.vars {
		for s, j := range c.servers[a] {
			for k, d := range b.inst.Apps[a].Demand {
				if d > 0 {
					rows[j][k] = append(rows[j][k], term(c.vars[a][s], float64(d)))
				}
			}
		}
	}
	return rows
}

// counts reads placements off the cells.
func (c *cells) counts(values []float64) solver.Counts {
	counts := make(solver.Counts, len(c.vars))
	for a := range c.vars {
		for s, v := range c.vars[a] {
			if n := round(values[v.Index()]); n > 0 {
				counts[a] = append(counts[a], apportion.Placement{Server: c.servers[a][s], Count: n})
			}
		}
	}
	return counts
}

// ones returns n times 1.
func ones(n int) []int64 {
	size := make([]int64, n)
	for j := range size {
		size[j] = 1
	}
	return size
}
