package alloctest

import (
	"fmt"
	"hash/fnv"
	"strings"
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

// worthDigest is a digest of worths and options as well. They are computed by math.Exp and math.Log, whose last bit may
// differ between machines, and are rounded.
func worthDigest(inst *solver.Instance) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%v %v %v %v", inst.Capacity, inst.LossBudget, inst.AdjustBudget, inst.Choices)
	for i := range inst.Apps {
		app := &inst.Apps[i]
		fmt.Fprintf(h, " %v %v %v %v %v %.6g %.6g %.6g", app.Demand, app.Min, app.Max, app.Counts, app.Previous, app.Value, app.Worth, app.Stay)
	}
	return h.Sum64()
}

// withWorths is GPUs with AddWorths.
func withWorths(seed uint64, servers, apps int, previous bool) *solver.Instance {
	inst := GPUs(seed, servers, apps, previous)
	AddWorths(seed, inst)
	return inst
}

// A seed means one instance, today and later: figures in documents and studies were measured on these. A change of what a
// generator draws changes them, and they have to be measured again.
func TestSeedsMeanInstances(t *testing.T) {
	for name, c := range map[string]struct {
		inst *solver.Instance
		want uint64
	}{
		"worths, logarithm":      {withWorths(2, 20, 30, true), 0x94cf730a2b63814d},
		"worths, speed-up":       {withWorths(3, 20, 30, true), 0x48d32cb1473ad136},
		"accelerators, fresh":    {Accelerators(1, 20, 30, false), 0x393a904f7ce81c5c},
		"accelerators, previous": {Accelerators(2, 20, 30, true), 0x5b568dbd2573e92d},
		"Table2, fresh":          {Table2(1, 20, 30, false), 0x1faf56cda7b46df5},
		"Table2, previous":       {Table2(2, 20, 30, true), 0x21a87a23b568aff2},
		"Mixed, fresh":           {Mixed(1, 20, 30, false), 0x3bbb3b25cb546ee9},
		"Mixed, previous":        {Mixed(2, 20, 30, true), 0xc3a2aa967e0798cc},
		"Nodes, fresh":           {Nodes(1, 20, 30, false), 0xa12b554f444466ff},
		"Nodes, previous":        {Nodes(2, 20, 30, true), 0x26258711b81c7ac4},
		"GPUs, fresh":            {GPUs(1, 20, 30, false), 0xcd51b424710a62dc},
		"GPUs, previous":         {GPUs(2, 20, 30, true), 0x23797be60737de36},
		"Sized, fresh":           {Sized(1, Size{20, 30, 4, 9}, false), 0x6b2c1c6a503f45ee},
		"Sized, previous":        {Sized(2, Size{20, 30, 4, 9}, true), 0x6172ecfe70f747e},
	} {
		digest := digest
		if strings.HasPrefix(name, "worths") || strings.HasPrefix(name, "accel") {
			digest = worthDigest
		}
		if got := digest(c.inst); got != c.want {
			t.Errorf("%s: digest %#x, want %#x", name, got, c.want)
		}
	}
}
