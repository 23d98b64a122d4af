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

// The ledger of a scheduler can be read, and certified with, but not changed.
func TestLedgerView(t *testing.T) {
	cluster, bounds := plainCluster(4, 2)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	offer(t, s, deadlined("j", 1, 2, 4, 1000))
	view := s.Ledger()
	if _, ok := any(view).(interface{ Commit(*Job, Schedule) error }); ok {
		t.Error("a view can be committed to")
	}
	if view.First() != 1 || view.Last() != 4 {
		t.Errorf("slots %d to %d", view.First(), view.Last())
	}
	used, err := view.Used(Workers, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	used[0] = 99
	if again, _ := view.Used(Workers, 1, 0); again[0] == 99 {
		t.Error("what is used is shared")
	}
}
