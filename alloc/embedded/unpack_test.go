// This file checks that what a tree has packed comes back server by server, and nothing else.

package embedded

import (
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
)

// Patterns may have room for types whose applications all stay. No container comes of that, and the
// value and loss that the packing claims are those of what it holds.
func TestUnpackedIsWhatWasPacked(t *testing.T) {
	unpacked := 0
	for seed := range uint64(200) {
		inst := alloctest.Table2(seed, 20, 6, true)
		p := newProblem(inst)
		if plainConflict(p) != nil {
			continue
		}
		r := newRun(p, &Options{Effort: Quick})
		r.a.construct()
		s := newSplit(p, mostPatterns)
		l := newLeaves(s)
		l.states = r.states(stateUnit)
		r.split, r.tree = s, newTree(t.Context(), l, nil)
		r.improveSets(t.Context(), l, r.setEffort(s))
		if !l.found {
			continue
		}
		unpacked++
		free := make(map[int32]bool)
		for i, f := range l.best.free {
			free[int32(p.apps[i].typ)] = free[int32(p.apps[i].typ)] || f
		}
		inc := unpack(s, &l.best)
		for j, slots := range inc.on {
			for _, sl := range slots {
				if !free[sl.typ] {
					t.Errorf("seed %d: server %d has %d containers of type %d, which nobody free wants", seed, j, sl.count, sl.typ)
				}
			}
		}
		counts := p.decode(inc)
		if err := inst.Check(counts); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if value, loss := inst.Objective(counts), inst.FairnessLoss(counts); math.Abs(value-inc.objective) > solver.ObjectiveTolerance || math.Abs(loss-inc.loss) > solver.LossTolerance {
			t.Errorf("seed %d: utilization %g and loss %g, claimed %g and %g", seed, value, loss, inc.objective, inc.loss)
		}
	}
	if unpacked < 20 {
		t.Errorf("only %d of 200 instances have something to unpack", unpacked)
	}
}
