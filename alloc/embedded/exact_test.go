// This file holds answers against rational arithmetic, which knows no tolerance.

package embedded

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// nearlyAlike draws applications whose containers differ by a few 1e-10 of the cluster: a solution has others beside
// it that are as good within the tolerance, these have others, and a chain of them leads far from the best. Shares
// draw the loss into any direction along it.
func nearlyAlike(t *rapid.T) *solver.Instance {
	draw := draws(t)
	const container, tenth = 100_000_000_000_000, 100_000 // tenth: about a tenth of the tolerance in units of a container
	apps, servers := int(draw(2, 3, "applications")), int(draw(1, 2, "servers"))
	inst := &solver.Instance{LossBudget: 3}
	for range servers {
		inst.Capacity = append(inst.Capacity, apportion.Resources{container * draw(2, int64(9-3*apps/2), "room")})
	}
	for range apps {
		inst.Apps = append(inst.Apps, solver.App{
			Demand: apportion.Resources{container - tenth*draw(0, 60, "less")}, Min: draw(0, 1, "min"), Max: draw(1, 5, "max"),
			Share: float64(draw(0, 12, "share")) / 12,
		})
	}
	return instancetest.Finish(inst)
}

// What is called optimal is within the tolerance of the best in rational numbers, and no bound is below it, whatever
// chains of nearly equal solutions there are.
func TestOptimalInRationals(t *testing.T) {
	tolerance := new(big.Rat).SetFloat64(solver.ObjectiveTolerance * 1.001) // and a little for the sums in floats
	rapid.Check(t, func(t *rapid.T) {
		inst := nearlyAlike(t)
		most := p2oracle.Most(inst)
		for _, effort := range []Effort{Quick, Default, Prove} {
			sol := solve(t, &Options{Effort: effort}, inst)
			if most == nil {
				if sol.Status.HasSolution() {
					t.Fatalf("effort %d: %v, there is no solution", effort, sol.Status)
				}
				continue
			}
			bound := new(big.Rat).SetFloat64(sol.Bound)
			if bound.Add(bound, tolerance).Cmp(most) < 0 {
				t.Fatalf("effort %d: bound %.15g, the most is %s", effort, sol.Bound, most.FloatString(15))
			}
			if sol.Status != solver.Optimal {
				continue
			}
			if short := new(big.Rat).Sub(most, p2oracle.Utilization(inst, sol.Counts)); short.Cmp(tolerance) > 0 {
				t.Fatalf("effort %d: optimal, proven by %v, and %s below the most", effort, sol.Proven, short.FloatString(15))
			}
		}
	})
}

// Prices are numbers also where those who run weigh nothing: their share of the cluster is none, whatever they hold.
func TestPricesOfTheWeightless(t *testing.T) {
	met := 0
	rapidtest.Until(t, "no instance had prices of room", func() bool { return met > 0 }, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		for i := range inst.Apps {
			if draws(t)(0, 2, "weighs") > 0 {
				inst.Apps[i].Delta = 0
			}
		}
		sol := solve(t, &Options{Effort: Quick}, inst)
		if most := p2oracle.Most(inst); most != nil {
			attained, _ := most.Float64()
			checkBound(t, inst, sol, attained)
		}
		if sol.Copies != nil {
			met++
		}
	})
}
