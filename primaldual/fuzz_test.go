// This file fuzzes what reads bytes from outside.

package primaldual

import (
	"bytes"
	"testing"
)

// FuzzRestoreScheduler restores any bytes, given a checksum that fits: that must end in an error or in
// a scheduler that is consistent, can be saved, and goes on.
func FuzzRestoreScheduler(f *testing.F) {
	cluster, bounds, s := busyScheduler(f)
	f.Add(snapshotOf(f, s))
	f.Add(snapshotOf(f, newScheduler(f, cluster, bounds, BoundsFirst)))
	f.Add([]byte(snapshotMagic))
	options := &SchedulerOptions{MaxCells: 1 << 12} // so that jobs that became huge are refused, not planned
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < trailerBytes {
			return
		}
		s, err := RestoreScheduler(cluster, bounds, options, sealed(data))
		if err != nil {
			return
		}
		if err := s.recount(); err != nil {
			t.Fatal(err)
		}
		again, err := RestoreScheduler(cluster, bounds, options, snapshotOf(t, s))
		if err != nil || !bytes.Equal(snapshotOf(t, s), snapshotOf(t, again)) {
			t.Fatalf("a snapshot of a restored scheduler: %v", err)
		}
		if _, err := s.Advance(s.First() + 1); err != nil {
			t.Fatal(err)
		}
		_, _ = s.Fail("w0", s.First()) // an odd utility may be refused
		if err := s.recount(); err != nil {
			t.Fatal(err)
		}
	})
}
