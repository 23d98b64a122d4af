package p2oracle

import (
	"math/big"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Utilizations that floats cannot tell apart are told apart: 10^17 + 1 and 10^17 units of 3 x 10^17.
func TestUtilizationIsExact(t *testing.T) {
	const unit = 100_000_000_000_000_000
	inst := &solver.Instance{
		Capacity: []apportion.Resources{{unit + 1, 0}}, Total: apportion.Resources{3 * unit, 0}, LossBudget: 9,
		Apps: []solver.App{{Demand: apportion.Resources{unit + 1, 0}, Max: 1}, {Demand: apportion.Resources{unit, 0}, Max: 1}},
	}
	first, second := solver.Counts{{{Server: 0, Count: 1}}, nil}, solver.Counts{nil, {{Server: 0, Count: 1}}}
	if a, b := Utilization(inst, first), Utilization(inst, second); a.Cmp(b) <= 0 || b.Cmp(big.NewRat(1, 3)) != 0 {
		t.Errorf("%v and %v", a, b)
	}
	if most := Most(inst); most.Cmp(big.NewRat(unit+1, 3*unit)) != 0 {
		t.Errorf("at most %v", most)
	}
	inst.Apps[1].Min = 2
	if most := Most(inst); most != nil {
		t.Errorf("%v without a solution", most)
	}
}
