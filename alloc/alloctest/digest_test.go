package alloctest

import (
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/apportion/apportion/alloc/solver"
)

// digest is a number that nearly every change of an instance changes.
func digest(inst *solver.Instance) uint64 {
	h := fnv.New64a()
	// %v of a float64 is the shortest text that reads back the same, so that one bit more or less shows. Fields are named,
	// so that a new one of package solver changes nothing.
	fmt.Fprintf(h, "%v %v %v %v", inst.Capacity, inst.Total, inst.LossBudget, inst.AdjustBudget)
	for i := range inst.Apps {
		app := &inst.Apps[i]
		fmt.Fprintf(h, " %v %v %v %v %v %v %v %v", app.Demand, app.Min, app.Max, app.Value, app.Delta, app.Share, app.Previous, app.Cost)
	}
	return h.Sum64()
}

// A seed means one instance, today and later: figures in documents and studies were measured on these. Whoever changes what
// a generator draws changes them, and has to measure again. Worths and accelerators are left out: they are computed by
// math.Exp and math.Log, whose last bit may differ between machines.
func TestSeedsMeanInstances(t *testing.T) {
	for name, c := range map[string]struct {
		inst *solver.Instance
		want uint64
	}{
		"Table2, fresh":    {Table2(1, 20, 30, false), 0x1faf56cda7b46df5},
		"Table2, previous": {Table2(2, 20, 30, true), 0x21a87a23b568aff2},
		"Mixed, fresh":     {Mixed(1, 20, 30, false), 0x3bbb3b25cb546ee9},
		"Mixed, previous":  {Mixed(2, 20, 30, true), 0xc3a2aa967e0798cc},
		"Nodes, fresh":     {Nodes(1, 20, 30, false), 0xa12b554f444466ff},
		"Nodes, previous":  {Nodes(2, 20, 30, true), 0x26258711b81c7ac4},
		"GPUs, fresh":      {GPUs(1, 20, 30, false), 0xcd51b424710a62dc},
		"GPUs, previous":   {GPUs(2, 20, 30, true), 0x23797be60737de36},
		"Sized, fresh":     {Sized(1, Size{20, 30, 4, 9}, false), 0x6b2c1c6a503f45ee},
		"Sized, previous":  {Sized(2, Size{20, 30, 4, 9}, true), 0x6172ecfe70f747e},
	} {
		if got := digest(c.inst); got != c.want {
			t.Errorf("%s: digest %#x, want %#x", name, got, c.want)
		}
	}
}
