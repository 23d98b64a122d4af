package solvertest_test

import (
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

// digest is a number that nearly every change of an instance changes.
func digest(inst *solver.Instance) uint64 {
	h := fnv.New64a()
	// %v of a float64 is the shortest text that reads back the same. Fields are named, so that a new one of package solver
	// changes nothing.
	fmt.Fprintf(h, "%v %v %v %v %v %v %v %v", inst.Capacity, inst.Total, inst.Class, inst.LossBudget, inst.AdjustBudget, inst.LossPrice, inst.Groups, inst.Choices)
	for i := range inst.Apps {
		app := &inst.Apps[i]
		fmt.Fprintf(h, "\n%v %v %v %v %v %v", app.Demand, app.Min, app.Max, app.Value, app.Delta, app.Share)
		fmt.Fprintf(h, " %v %v %v %v %v %v", app.Step, app.Counts, app.Elective, app.PerServer, app.MaxServers, app.Classes)
		fmt.Fprintf(h, " %v %v %v %v", app.Worth, app.Idle, app.Stay, app.Losses)
		fmt.Fprintf(h, " %v %v %v %v %v", app.Running, app.Displaced, app.Pinned, app.Cost, app.Previous)
	}
	return h.Sum64()
}

// A finding names its instance by a function and a seed, as solvertest.Small(17), which must mean the same instance later.
func TestSeedsMeanInstances(t *testing.T) {
	grouped := func(seed uint64) *solver.Instance { return solvertest.Grouped(solvertest.Worth(seed), seed) }
	for name, c := range map[string]struct {
		draw func(seed uint64) *solver.Instance
		want uint64 // of the first hundred together
	}{
		"Small":      {solvertest.Small, 0xe945ca2dc661a76c},
		"General":    {solvertest.General, 0x7d546fabe5f4d7c2},
		"Medium":     {solvertest.Medium, 0x3f97a75f981599fa},
		"Everything": {solvertest.Everything, 0x801e75743f8177fa},
		"Worth":      {solvertest.Worth, 0x186b985e7c192725},
		"Loss":       {solvertest.Loss, 0xfa48c6c735989b73},
		"Choices":    {solvertest.Choices, 0x76e4d7b716bae737},
		"Grouped":    {grouped, 0xa0a51e0dfc03d345},
	} {
		var all uint64
		for seed := range uint64(100) {
			all = all*31 + digest(c.draw(seed))
		}
		if all != c.want {
			t.Errorf("%s: digest %#x, want %#x", name, all, c.want)
		}
	}
}
