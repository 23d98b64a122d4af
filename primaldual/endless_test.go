// This file tests a scheduler over years, and its ledger as others see it.

package primaldual

import (
	"testing"
)

// What is done to the ledger that a scheduler gives away leaves the scheduler as it was.
func TestLedgerIsACopy(t *testing.T) {
	cluster, bounds := plainCluster(4, 2)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	j := deadlined("j", 1, 2, 4, 1000)
	d := offer(t, s, j)
	before := picture(s.ledger)
	if l := s.Ledger(); picture(l) != before || l.Release(&j, d.Schedule, 0) != nil || picture(s.ledger) != before {
		t.Error("a copy shares state with the ledger")
	}
}
