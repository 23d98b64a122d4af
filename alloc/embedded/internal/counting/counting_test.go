package counting

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// What counting calls impossible has no solution, and what it says is needed is more than there is.
func TestConflictAgainstOracle(t *testing.T) {
	met := 0
	rapid.Check(t, func(t *rapid.T) {
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
	if met == 0 {
		t.Error("nothing was impossible")
	}
}
