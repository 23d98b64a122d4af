package conflict

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// Prices prove only what is true.
func TestPricedAgainstOracle(t *testing.T) {
	proven := 0
	rapidtest.Until(t, "nothing was proven", func() bool { return proven > 0 }, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		p := problem.New(inst)
		for i := range p.Apps {
			if p.Apps[i].Min > p.Apps[i].Max {
				t.Skip("counting sees that")
			}
		}
		c, _ := Priced(t.Context(), p)
		if c == nil {
			return
		}
		proven++
		if best, _ := p2oracle.Best(inst); best != nil {
			t.Fatalf("%+v, but %v is a solution", c, best)
		}
	})
}

// The smallest set of constraints cannot hold together, and without any of them there is a solution.
func TestSmallestAgainstOracle(t *testing.T) {
	found := 0
	rapidtest.Until(t, "every instance had a solution", func() bool { return found > 0 }, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		if best, _ := p2oracle.Best(inst); best != nil {
			t.Skip("there is a solution")
		}
		c := Smallest(t.Context(), problem.New(inst), 1<<20)
		all := []solver.Constraint{solver.Fairness, solver.Adjust, solver.Minimum}
		only := inst
		for _, constraint := range all {
			if !slices.Contains(c.Constraints, constraint) {
				only = relax(only, constraint)
			}
		}
		if best, _ := p2oracle.Best(only); best != nil {
			t.Fatalf("%v can hold together: %v", c.Constraints, best)
		}
		for _, constraint := range all {
			if !slices.Contains(c.Constraints, constraint) {
				continue
			}
			if best, _ := p2oracle.Best(relax(only, constraint)); best == nil {
				t.Fatalf("%v: without %v there is no solution either", c.Constraints, constraint)
			}
		}
		found++
	})
}
