package embedded

import (
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// No solution that uses an option is better than what the prices prove less what that option loses: the search leaves out
// only what cannot be the best.
func TestOptionsLose(t *testing.T) {
	seeds := uint64(1500)
	if testing.Short() {
		seeds = 400
	}
	compared, tight := 0, 0
	for seed := range seeds {
		inst := solvertest.Choices(seed)
		c := &chooser{Solver: New(nil), inst: inst, best: &solver.Solution{}}
		_, others := c.preferred(c.bound(t.Context()))
		for _, other := range others {
			picked := make([]int, len(inst.Choices))
			picked[other.choice] = other.app
			fixed, apps := fix(inst, picked)
			if fixed == nil {
				continue
			}
			// It has containers, so that the option is in use.
			for at, i := range apps {
				if app := &fixed.Apps[at]; i == other.app {
					app.Elective, app.Min = false, max(1, app.Min)
					app.Max = max(app.Max, app.Min)
				}
			}
			if fixed.Validate() != nil {
				continue
			}
			best, _ := p2oracle.Best(fixed)
			if best == nil {
				continue
			}
			counts := make(solver.Counts, len(inst.Apps))
			for at, i := range apps {
				counts[i] = best[at]
			}
			value, most := inst.Objective(counts), c.priced-other.loses
			if value > most+1e-6 {
				t.Errorf("%d: option %d brings %g, and at most %g less %g", seed, other.app, value, c.priced, other.loses)
			}
			compared++
			if math.Abs(value-most) < .05 {
				tight++
			}
		}
	}
	t.Logf("%d options, %d of them near", compared, tight)
	if compared < int(seeds)/8 || tight == 0 {
		t.Errorf("%d options were compared, %d were near", compared, tight)
	}
}
