// This file fuzzes what reads bytes from outside.

package primaldual

import (
	"bytes"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// FuzzRestoreScheduler restores any bytes, as they are and as a state whose checksum fits: that must end in an error or in
// a scheduler that is consistent, can be saved, and goes on.
func FuzzRestoreScheduler(f *testing.F) {
	cluster, bounds, busy := busyScheduler(f)
	for _, s := range []*Scheduler{busy, newScheduler(f, cluster, bounds, BoundsFirst)} {
		text := must.Have(s.ledger.unseal(snapshotOf(f, s)))(f)
		f.Add(text)
	}
	f.Add([]byte(`{"first":1,"arrival":1,"next":1,"jobs":[{}],"down":[[0]]}`))
	options := &SchedulerOptions{MaxCells: 1 << 12} // so that jobs that became huge are refused, not planned
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = RestoreScheduler(cluster, bounds, options, data)
		sealed, err := busy.ledger.seal(data)
		if err != nil {
			return
		}
		s, err := RestoreScheduler(cluster, bounds, options, sealed)
		if err != nil {
			return
		}
		must.Do(t, s.recount())
		again, err := RestoreScheduler(cluster, bounds, options, snapshotOf(t, s))
		if err != nil || !bytes.Equal(snapshotOf(t, s), snapshotOf(t, again)) {
			t.Fatalf("a snapshot of a restored scheduler: %v", err)
		}
		must.Have(s.Advance(s.First() + 1))(t)
		_, _ = s.Fail("w0", s.First()) // an odd utility may be refused
		must.Do(t, s.recount())
	})
}
