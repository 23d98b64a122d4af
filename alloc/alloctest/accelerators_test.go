package alloctest_test

import (
	"reflect"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
)

// Instances are valid, the same when drawn again, and what runs fits its servers and may stay.
func TestAccelerators(t *testing.T) {
	running := 0
	for seed := range uint64(50) {
		inst := alloctest.Accelerators(seed, 6, 9, true)
		if err := inst.Validate(); err != nil || !reflect.DeepEqual(inst, alloctest.Accelerators(seed, 6, 9, true)) {
			t.Fatalf("%d: %v", seed, err)
		}
		counts := make(solver.Counts, len(inst.Apps))
		for i := range inst.Apps {
			if counts[i] = inst.Apps[i].Previous; len(counts[i]) > 0 {
				running++
			}
		}
		for c := range inst.Choices {
			inst.Choices[c].Required = false // newcomers have nothing yet
		}
		if err := inst.Check(counts); err != nil {
			t.Errorf("%d: %v", seed, err)
		}
		if len(inst.Choices) != 9 || len(inst.Apps) != 18 {
			t.Errorf("%d: %d choices of %d", seed, len(inst.Choices), len(inst.Apps))
		}
	}
	if running < 150 {
		t.Errorf("%d run", running)
	}
}
