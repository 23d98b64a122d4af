package problemtest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
)

// The dense instance of a problem is the one that alloctest draws.
func TestDraw(t *testing.T) {
	for _, family := range alloctest.Families() {
		for seed := range uint64(10) {
			for _, previous := range []bool{false, true} {
				name := fmt.Sprintf("%s, seed %d, previous %v", family.Name, seed, previous)
				want, _ := family.Draw(seed, 12, 15, previous)
				p := Draw(family, seed, 12, 15, previous)
				got, apps, err := p.Instance()
				if err != nil || len(apps) != 15 {
					t.Fatalf("%s: %v, %d applications", name, err, len(apps))
				}
				for i := range got.Apps {
					room := int64(0)
					for _, capacity := range want.Capacity {
						room += want.Apps[i].Demand.CountIn(capacity)
					}
					want.Apps[i].Max = min(want.Apps[i].Max, max(room, solver.Containers(want.Apps[i].Previous)))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-alloctest +problem):\n%s", name, diff)
				}
				if cmp.Diff(p, Draw(family, seed, 12, 15, previous)) != "" {
					t.Errorf("%s: drawn again, another problem", name)
				}
			}
		}
	}
}
