package alloctest

import (
	"fmt"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Demands differ from each other, lie in their limits, and can be had down to the last one that there is.
func TestDrawDemands(t *testing.T) {
	for _, size := range []Size{{1, 1, 1, 5}, {1, 1, 2, 35}, {1, 1, 4, 60}} {
		seen := map[string]bool{}
		for _, demand := range drawDemands(newRand(3), size) {
			seen[fmt.Sprint(demand)] = true
			for k, q := range demand {
				if q > most || q < 0 || k == 0 && q < leastFirst || len(demand) != size.Kinds {
					t.Errorf("%+v: demand %v", size, demand)
				}
			}
		}
		if len(seen) != size.Demands {
			t.Errorf("%+v: %d different demands", size, len(seen))
		}
	}
}

// Servers are equal and hold two containers of any demand; each application draws from the demands.
func TestSizedServers(t *testing.T) {
	inst := Sized(2, Size{Servers: 6, Apps: 40, Kinds: 3, Demands: 4}, false)
	for j, capacity := range inst.Capacity {
		if !capacity.Equal(apportion.Resources{serverHas, serverHas, serverHas}) {
			t.Errorf("server %d has %v", j, capacity)
		}
		for i := range inst.Apps {
			if inst.Apps[i].Demand.CountIn(capacity) < serverHas/most {
				t.Errorf("application %d of %v does not fit twice", i, inst.Apps[i].Demand)
			}
		}
	}
	seen := map[string]bool{}
	for i := range inst.Apps {
		seen[fmt.Sprint(inst.Apps[i].Demand)] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d demands among 40 applications, want 4", len(seen))
	}
}

// Every reference is an instance with a bound within the cap, and each call reads new ones.
func TestReferencesAreFresh(t *testing.T) {
	first := References()
	for r := range first {
		first[r].Instance.Capacity[0][0] = -1
		first[r].Instance.Apps[0] = solver.App{}
	}
	for _, ref := range References() {
		if err := ref.Instance.Validate(); err != nil {
			t.Errorf("%s: %v", ref.Name, err)
		}
		if ref.Bound > ref.Instance.Cap()+1e-6 {
			t.Errorf("%s: bound %g above the cap %g", ref.Name, ref.Bound, ref.Instance.Cap())
		}
	}
}
