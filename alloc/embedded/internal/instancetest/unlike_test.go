package instancetest

import (
	"slices"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
)

// No two servers, and no two demands, are equal; all is valid and the same each time.
func TestUnlike(t *testing.T) {
	for _, size := range [][3]int{{7, 57, 6}, {125, 125, 6}, {1, 1000, 3}} {
		inst := Unlike(3, size[0], size[1], size[2])
		if err := inst.Validate(); err != nil {
			t.Fatalf("%v: %v", size, err)
		}
		if len(inst.Capacity) != size[0] || len(inst.Apps) != size[1] || len(inst.Total) != size[2] {
			t.Errorf("%v: %d servers, %d applications, %d kinds", size, len(inst.Capacity), len(inst.Apps), len(inst.Total))
		}
		for j, capacity := range inst.Capacity {
			if again := Unlike(3, size[0], size[1], size[2]).Capacity[j]; !capacity.Equal(again) {
				t.Errorf("%v: server %d has %v, and again %v", size, j, capacity, again)
			}
			for _, other := range inst.Capacity[:j] {
				if capacity.Equal(other) {
					t.Errorf("%v: two servers of %v", size, capacity)
				}
			}
		}
		for i := range inst.Apps {
			if j := slices.IndexFunc(inst.Apps[:i], func(o solver.App) bool { return o.Demand.Equal(inst.Apps[i].Demand) }); j >= 0 {
				t.Errorf("%v: applications %d and %d demand %v", size, j, i, inst.Apps[i].Demand)
			}
		}
	}
}

// Half of those who run stay, where they are, and newcomers stay too.
func TestHalf(t *testing.T) {
	full := alloctest.Mixed(1, 20, 30, true)
	half := Half(full)
	if err := half.Validate(); err != nil {
		t.Fatal(err)
	}
	running := func(apps []solver.App) (n int) {
		for i := range apps {
			if apps[i].Running {
				n++
			}
		}
		return n
	}
	was, is := running(full.Apps), running(half.Apps)
	if is != was/2 || len(half.Apps)-is != len(full.Apps)-was || half.AdjustBudget != int64((is+9)/10) {
		t.Errorf("%d of %d run, %d of %d are new, %d may be adjusted", is, was, len(half.Apps)-is, len(full.Apps)-was, half.AdjustBudget)
	}
	if len(full.Apps) != 30 {
		t.Errorf("%d applications are left of the given 30", len(full.Apps))
	}
}
