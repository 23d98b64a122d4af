package program

import (
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// The optimum of the rows themselves is that of all allocations, with what servers cost; of pooled servers it is no less.
func TestSpreadRows(t *testing.T) {
	compared := 0
	for seed := range uint64(200) {
		inst := solvertest.Spread(seed)
		best, _ := p2oracle.Best(inst)
		for _, form := range Forms() {
			p, err := Build(inst, form, false)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := milp.Solve(t.Context(), bb.Solver{}, p.MILP, &milp.Options{NodeLimit: 20_000})
			if err != nil {
				t.Fatal(err)
			}
			if best == nil {
				if form != Class && answer.HasSolution() {
					t.Errorf("Spread(%d), %s: %g, where there is no solution", seed, form, answer.Objective)
				}
				continue
			}
			want := inst.Objective(best)
			if answer.Status != milp.Optimal || answer.Objective < want-1e-6 || form != Class && math.Abs(answer.Objective-want) > 1e-6 {
				t.Errorf("Spread(%d), %s: %v %.9g, the best is worth %.9g", seed, form, answer.Status, answer.Objective, want)
			}
			compared++
		}
	}
	if compared < 200 {
		t.Errorf("%d were compared", compared)
	}
}
