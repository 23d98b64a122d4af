package alloctest_test

import (
	"reflect"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
)

// Worths are legal, of a seed the same each time, rise with the number of containers, and leave what runs a legal number.
func TestAddWorths(t *testing.T) {
	lists, stays := 0, 0
	for seed := range uint64(20) {
		inst := alloctest.GPUs(seed, 8, 10, seed%3 > 0)
		alloctest.AddWorths(seed, inst)
		if err := inst.Validate(); err != nil {
			t.Fatalf("%d: %v", seed, err)
		}
		again := alloctest.GPUs(seed, 8, 10, seed%3 > 0)
		alloctest.AddWorths(seed, again)
		if !reflect.DeepEqual(inst, again) {
			t.Errorf("%d: two draws differ", seed)
		}
		for i := range inst.Apps {
			app := &inst.Apps[i]
			for at := 1; at < len(app.Worth); at++ {
				if app.Worth[at] <= app.Worth[at-1] {
					t.Errorf("%d: application %d gains nothing by more: %v", seed, i, app.Worth)
				}
			}
			if app.Running && !app.Allows(solver.Containers(app.Previous)) {
				t.Errorf("%d: application %d may not have what it has", seed, i)
			}
			if app.Counts != nil {
				lists++
			}
			if app.Stay > 0 {
				stays++
			}
		}
	}
	if lists < 20 || stays < 20 {
		t.Errorf("%d lists and %d prices of restarts: the draws show too little", lists, stays)
	}
}
