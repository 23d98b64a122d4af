// This file tests wall-clock time as slots.

package primaldual

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
)

var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

func TestClock(t *testing.T) {
	c := Clock{Start: noon, Length: 10 * time.Minute}
	for _, test := range []struct {
		after         time.Duration
		slot, arrival int
	}{
		{0, 1, 1}, {1, 1, 2}, {10*time.Minute - 1, 1, 2}, {10 * time.Minute, 2, 2}, {25 * time.Minute, 3, 4},
		{-1, 0, 1}, {-10 * time.Minute, 0, 0}, {-11 * time.Minute, -1, 0},
	} {
		at := noon.Add(test.after)
		if slot, arrival := c.SlotAt(at), c.Arrival(at); slot != test.slot || arrival != test.arrival {
			t.Errorf("%v: slot %d, arrival %d, want %d, %d", test.after, slot, arrival, test.slot, test.arrival)
		}
	}
	if (Clock{}).Validate() == nil || !errors.Is((Clock{Length: -1}).Validate(), apportion.ErrRange) || c.Validate() != nil {
		t.Error("lengths of slots")
	}
}

// A time lies in its slot, and a job that ends in the last slot of a step ends by the deadline, one slot more does not.
func TestClockProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Clock{Start: noon, Length: time.Duration(rapid.IntRange(1, 1e12).Draw(t, "length"))}
		at := noon.Add(time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "at")))
		slot := c.SlotAt(at)
		if at.Before(c.Begin(slot)) || !at.Before(c.Begin(slot+1)) {
			t.Fatalf("%v is not in slot %d", at, slot)
		}
		arrival := rapid.IntRange(1, 5).Draw(t, "arrival")
		steps := c.Steps(arrival, []Deadline{{at, 3}})
		last := arrival - 1
		if len(steps) > 0 {
			last = arrival + steps[0].Within
		}
		ends := func(slot int) time.Time { return c.Begin(slot + 1) }
		if last >= arrival && ends(last).After(at) || !ends(max(last, arrival-1)+1).After(at) {
			t.Fatalf("slot %d is the last in time for %v", last, at)
		}
	})
}

func TestClockSteps(t *testing.T) {
	c := Clock{Start: noon, Length: time.Hour}
	got := c.Steps(2, []Deadline{
		{noon.Add(2*time.Hour - 1), 90},       // slot 2 ends an instant too late
		{noon.Add(2 * time.Hour), 80},         // slot 2
		{noon.Add(4*time.Hour + 1), 40},       // slot 4
		{noon.Add(4*time.Hour + 2), 30},       // slot 4 too: less is certain
		{noon.Add(100*time.Hour - 1), 1.0},    // slot 99
		{noon.Add(1000 * time.Hour), 1.0 / 2}, // slot 1000
	})
	if want := (Steps{{0, 80}, {2, 30}, {97, 1}, {998, 0.5}}); !cmp.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
