// This file tests a scheduler over years, and its ledger as others see it.

package primaldual

import (
	"fmt"
	"testing"
)

// Years of slots: what a scheduler holds does not grow with the time that has passed.
func TestEndless(t *testing.T) {
	slots := 60_000
	if testing.Short() {
		slots = 6_000
	}
	s := plainScheduler(t, 20)
	size := func() int {
		data, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		return len(data)
	}
	most := 0
	for slot := 1; slot <= slots; slot++ {
		if _, err := s.Advance(slot); err != nil {
			t.Fatal(err)
		}
		offer(t, s, deadlined(fmt.Sprint("job", slot%100), slot, int64(1+slot%7), 2+slot%9, float64(1000+slot%13)))
		if n := size(); slot <= slots/10 {
			most = max(most, n)
		} else if n > most+most/4 {
			t.Fatalf("%d bytes in slot %d, at most %d before", n, slot, most)
		}
	}
	if len(s.ledger.slots) != 20 || len(s.jobs) > 40 {
		t.Errorf("%d slots, %d jobs", len(s.ledger.slots), len(s.jobs))
	}
}

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
