package event

import (
	"testing"

	"github.com/apportion/apportion"
)

// Room that comes free of an application that was waited for is kept, and others have none of it.
func TestKeptAsOthersEnd(t *testing.T) {
	c := New(1, 1, Rule{})
	c.AddServer(apportion.Resources{8}, false)
	ends := c.AddApp(App{Demand: apportion.Resources{1}, Weight: 1, Max: 8}, 0)
	c.Put(ends, 0, 6)
	holder := c.AddWaiting(App{Demand: apportion.Resources{1}, Weight: 1, Min: 8, Max: 8}, 0, 0)
	if !c.Hold(holder, []apportion.Placement{{Server: 0, Count: 8}}, []int{ends}) {
		t.Fatal("it does not fit")
	}
	c.Commit()
	c.Begin()
	c.End(ends)
	for _, kept := range []int64{8, 2} { // after its end, and when it has not ended
		if s := &c.servers[0]; s.left[0] != 0 || s.kept[0] != kept {
			t.Errorf("%d left and %d kept, want 0 and %d", s.left[0], s.kept[0], kept)
		}
		c.Rollback()
	}
}
