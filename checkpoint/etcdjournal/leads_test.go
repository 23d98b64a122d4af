// This file tests what a master knows of its leadership without asking.

package etcdjournal

import (
	"errors"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

// A master leads for certain while it renews its lease. One that is cut off is not sure before another can lead, and has lost
// its leadership when it hears of etcd again.
func testLeads(t *testing.T, c *cluster, prefix string) {
	at := c.machine()
	first := open(t, at, prefix)
	for end := time.Now().Add(2 * brisk(prefix).Lease); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err := first.j.Leads(); err != nil && !errors.Is(err, errUnsure) || errors.Is(err, checkpoint.ErrFenced) {
			t.Fatalf("it leads: %v", err)
		}
	}
	at.cut()
	second := open(t, c.machine(), prefix)
	must.Err(t, first.j.Leads(), must.ErrAny, "two lead for certain")
	must.Do(t, second.j.Leads(), "the second")
	at.restore()
	for end := time.Now().Add(60 * time.Second); !errors.Is(first.j.Leads(), checkpoint.ErrFenced); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the first hears nothing of it: %v", first.j.Leads())
		}
	}
	must.Do(t, second.j.Close())
	must.Err(t, second.j.Leads(), checkpoint.ErrFenced, "closed")
}
