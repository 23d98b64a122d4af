// This file checks that what a tree has packed comes back server by server, and nothing else.

package embedded

import (
	"context"
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tree"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// Patterns may have room for types whose applications all stay. No container comes of that, and the
// value and loss that the packing claims are those of what it holds.
func TestUnpackedIsWhatWasPacked(t *testing.T) {
	unpacked := 0
	for seed := range uint64(200) {
		inst := alloctest.Table2(seed, 20, 6, true)
		p := problem.New(inst)
		if p.Impossible() {
			continue
		}
		r := newRun(p, &Options{Effort: Quick}, tuning.Standard())
		r.a.Construct(context.Background())
		s := pattern.New(p, pattern.MostPatterns)
		l := leaf.NewLeaves(s)
		l.States = r.states(r.tune.States)
		r.s, r.tree = s, tree.New(t.Context(), l, r.tune, nil)
		r.limitSets(t.Context(), r.opts.Effort, r.improveSets(t.Context(), l, r.opts.Effort))
		if !l.Found {
			continue
		}
		unpacked++
		free := make(map[int32]bool)
		for i, f := range l.Best.Free {
			free[int32(p.Apps[i].Type)] = free[int32(p.Apps[i].Type)] || f
		}
		inc := leaf.Unpack(s, &l.Best)
		for j, slots := range inc.On {
			for _, sl := range slots {
				if !free[sl.Type] {
					t.Errorf("seed %d: server %d has %d containers of type %d, which nobody free wants", seed, j, sl.Count, sl.Type)
				}
			}
		}
		counts := p.Decode(inc)
		if err := inst.Check(counts); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if value, loss := inst.Objective(counts), inst.FairnessLoss(counts); math.Abs(value-inc.Objective) > solver.ObjectiveTolerance || math.Abs(loss-inc.Loss) > solver.LossTolerance {
			t.Errorf("seed %d: utilization %g and loss %g, claimed %g and %g", seed, value, loss, inc.Objective, inc.Loss)
		}
	}
	if unpacked < 20 {
		t.Errorf("only %d of 200 instances have something to unpack", unpacked)
	}
}
