// This file implements Run: the suite as sub-tests of the caller's test.

package solvertest

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/milp"
)

// Patience is how long after a time limit or a cancellation a back-end may take to return. It is
// generous because test machines are loaded.
const Patience = 5 * time.Second

// answerTol is what an objective may differ from the known optimum by, relative to the larger of 1
// and the optimum: gap and feasibility tolerances of the usual solvers.
const answerTol = 1e-5

// check is one thing that a back-end must do right.
type check struct {
	name  string
	needs milp.Capability
	run   func(solver milp.Solver) error
}

// Run runs every check against the back-end, each on one made by newSolver.
func Run(t *testing.T, newSolver func(t *testing.T) milp.Solver) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			solver := newSolver(t)
			if missing := c.needs &^ milp.Capabilities(solver); missing != 0 {
				t.Skipf("the back-end does not claim: %s", missing)
			}
			if err := c.run(solver); err != nil {
				t.Error(err)
			}
		})
	}
}

// checks returns the whole suite.
func checks() []check {
	var all []check
	for _, c := range cases() {
		all = append(all, c.check())
	}
	all = append(all, limitChecks()...)
	all = append(all, optionChecks()...)
	return append(all, randomChecks()...)
}

// oneCase is a model with a known answer.
type oneCase struct {
	name  string
	build func(b *milp.Builder)
	opts  *milp.Options
	want  milp.Status
	// objective and values are those of the only optimum; values may be nil.
	objective float64
	values    []float64
}

func (c oneCase) check() check {
	model, err := build(c.name, c.build)
	if err != nil {
		panic("solvertest: " + err.Error()) // a fault of the suite
	}
	return check{"model/" + c.name, model.Needs(), func(solver milp.Solver) error {
		got, err := milp.Solve(context.Background(), solver, model, c.opts)
		if err != nil {
			return err
		}
		return c.compare(got)
	}}
}

func build(name string, add func(b *milp.Builder)) (*milp.Model, error) {
	b := milp.NewBuilder(name)
	add(b)
	return b.Build()
}

// compare holds an answer against the known one.
func (c oneCase) compare(got milp.Solution) error {
	if got.Status != c.want {
		return fmt.Errorf("status %v (%s), want %v", got.Status, got.Reason, c.want)
	}
	if c.want != milp.Optimal {
		return nil
	}
	if !near(got.Objective, c.objective) || !near(got.Bound, c.objective) {
		return fmt.Errorf("objective %g and bound %g, want %g", got.Objective, got.Bound, c.objective)
	}
	for j, want := range c.values {
		if !near(got.Values[j], want) {
			return fmt.Errorf("values %v, want %v", got.Values, c.values)
		}
	}
	return nil
}

func near(got, want float64) bool {
	return math.Abs(got-want) <= answerTol*math.Max(1, math.Abs(want))
}
