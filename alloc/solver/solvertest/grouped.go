// This file draws ceilings of groups, (G) of [Program §2], over any instance.

package solvertest

import (
	"math/rand/v2"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Grouped returns inst, which it changes, with one or two groups drawn over its applications, of ceilings that often
// bind. The groups are the same for the same seed.
func Grouped(inst *solver.Instance, seed uint64) *solver.Instance {
	random := rand.New(rand.NewPCG(seed, 7))
	for range 1 + random.IntN(2) {
		group := solver.Group{Ceiling: make(apportion.Resources, len(inst.Total))}
		for i := range inst.Apps {
			if random.IntN(3) > 0 {
				group.Apps = append(group.Apps, i)
			}
		}
		for k, c := range inst.Total {
			group.Ceiling[k] = solver.NoLimit
			if random.IntN(3) > 0 {
				group.Ceiling[k] = random.Int64N(c + 1)
			}
		}
		inst.Groups = append(inst.Groups, group)
	}
	return inst
}
