package event

import (
	"testing"

	"github.com/apportion/apportion"
)

// Room that comes free of an application that was waited for is kept, and others have none of it.
func TestKeptAsOthersEnd(t *testing.T) {
	c := New(1, 1, Rule{})
	c.AddServer(apportion.Resources{8}, false)
	one := App{Demand: apportion.Resources{1}, Weight: 1, Min: 1, Max: 8}
	ends := c.AddApp(one, 0)
	c.Put(ends, 0, 6)
	wide := one
	wide.Min = 8
	if holder := c.AddWaiting(wide, 0, 0); !c.Hold(holder, []apportion.Placement{{Server: 0, Count: 8}}, []int{ends}) {
		t.Fatal("it does not fit")
	}
	if left := c.servers[0].left[0]; left != 0 {
		t.Errorf("%d left beside what is waited for", left)
	}
	c.Commit()
	c.Begin()
	c.End(ends)
	if left := c.servers[0].left[0]; left != 0 {
		t.Errorf("%d left after its end", left)
	}
	c.Rollback()
	if left, kept := c.servers[0].left[0], c.servers[0].kept[0]; left != 0 || kept != 2 {
		t.Errorf("%d left and %d kept when it did not end", left, kept)
	}
}
