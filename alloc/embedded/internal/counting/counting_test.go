package counting

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// What counting calls impossible has no solution, and what it says is needed is more than there is.
func TestConflictAgainstOracle(t *testing.T) {
	met := 0
	rapidtest.Until(t, "nothing was impossible", func() bool { return met > 0 }, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		best, _ := p2oracle.Best(inst)
		p := problem.New(inst)
		for _, find := range []func(*problem.Problem) *solver.Conflict{Conflict, NoRoom} {
			c := find(p)
			if c == nil {
				continue
			}
			met++
			if best != nil {
				t.Fatalf("%+v, but %v is a solution", c, best)
			}
			if !(c.Need > c.Have) || len(c.Constraints) == 0 {
				t.Fatalf("%+v is no conflict", c)
			}
		}
	})
}

// Nor has it a solution with costs, limits, steps and lists. In the first three somebody may leave a server that holds
// too much at no cost, and the budget pays for nobody.
func TestConflictOfGeneral(t *testing.T) {
	met := 0
	seeds := []uint64{12855, 21612, 42804}
	for seed := range uint64(3000) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		inst := solvertest.General(seed)
		p := problem.New(inst)
		for _, find := range []func(*problem.Problem) *solver.Conflict{Conflict, NoRoom} {
			c := find(p)
			if c == nil {
				continue
			}
			met++
			if best, _ := p2oracle.Best(inst); best != nil {
				t.Errorf("General(%d): %+v, but %v is a solution", seed, c, best)
			}
		}
	}
	if met < 100 {
		t.Errorf("%d were impossible", met)
	}
}

// Of those that hold too much of a server as many must go as the budget pays for, those that go for nothing aside.
func TestFewestMoves(t *testing.T) {
	for _, c := range []struct {
		cost []int64 // of applications that hold 3 of 4 each
		want int64
	}{{[]int64{1, 1}, 1}, {[]int64{1, 1, 1}, 2}, {[]int64{0, 1}, 0}, {[]int64{0, 1, 1}, 1}, {[]int64{0, 0}, 0}} {
		inst := &solver.Instance{Capacity: []apportion.Resources{{4}, {1}}, Total: apportion.Resources{5}, Class: []int{0, 1}, LossBudget: 9}
		for _, cost := range c.cost {
			inst.Apps = append(inst.Apps, solver.App{Demand: apportion.Resources{3}, Max: 1, Value: .6, Delta: .6, Running: true, Cost: cost,
				Classes: []int{1}, Previous: []apportion.Placement{{Server: 0, Count: 1}}})
		}
		if got := fewestMoves(problem.New(inst), 0); got != c.want {
			t.Errorf("costs %v: %d must leave, want %d", c.cost, got, c.want)
		}
	}
}
