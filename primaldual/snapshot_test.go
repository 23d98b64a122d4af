// This file tests snapshots: damaged ones, foreign ones, and what they cannot hold.

package primaldual

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// busyScheduler has jobs of every savable utility, a server that is down, and a past.
func busyScheduler(t testing.TB) (*Cluster, *Bounds, *Scheduler) {
	t.Helper()
	cluster, bounds := plainCluster(6, 4)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	for i, u := range []Utility{Constant(60), Linear{80, 1}, Sigmoid{90, 0.5, 4}, Steps{{3, 70}, {5, 50}}} {
		j := plainJob(string(rune('a'+i)), 1+i/2)
		j.Epochs, j.Utility = int64(2+i), u
		if d := offer(t, s, j); !d.Admitted {
			t.Fatalf("job %s: %v", j.ID, d.Verdict)
		}
	}
	must.Have(s.Fail("w1", 4))(t)
	must.Have(s.Advance(2))(t)
	return cluster, bounds, s
}

func snapshotOf(t testing.TB, s *Scheduler) []byte {
	t.Helper()
	return must.Have(s.Snapshot())(t)
}

func TestRestoreRefusesDamage(t *testing.T) {
	cluster, bounds, s := busyScheduler(t)
	data := snapshotOf(t, s)
	text := must.Have(s.ledger.unseal(data))(t)
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 1 << (i % 8)
		var fault *apportion.FieldError
		// Of a key json accepts either case: a byte may be damaged and the state whole.
		if again, err := RestoreScheduler(cluster, bounds, nil, damaged); err == nil && !bytes.Equal(snapshotOf(t, again), data) {
			t.Fatalf("byte %d flipped: restored as another", i)
		} else if err != nil && (!errors.As(err, &fault) || fault.Item.ID != "snapshot") {
			t.Fatalf("byte %d flipped: %v", i, err)
		}
		must.Fail(RestoreScheduler(cluster, bounds, nil, data[:i]))(t, ErrCorrupt, "cut at", i)
	}
	must.Fail(RestoreScheduler(cluster, bounds, nil, append(bytes.Clone(data), '0')))(t, ErrCorrupt, "a byte too many")
	// Even with a checksum that fits, a state that makes no sense is refused, not taken.
	for i := range text {
		for _, by := range []byte{1, 2, 4, 8} {
			damaged := bytes.Clone(text)
			damaged[i] ^= by
			data, err := s.ledger.seal(damaged)
			if err != nil {
				continue // no JSON
			}
			restored, err := RestoreScheduler(cluster, bounds, nil, data)
			if err == nil {
				err = restored.recount()
			} else if errors.Is(err, ErrCorrupt) {
				err = nil
			}
			must.Do(t, err, "byte", i, "flipped, checksum repaired")
		}
	}
}

// What a state says of itself is refused by name where it cannot be.
func TestRestoreRefusesStates(t *testing.T) {
	cluster, bounds, s := busyScheduler(t)
	text := must.Have(s.ledger.unseal(snapshotOf(t, s)))(t)
	for _, test := range []struct{ old, new, want string }{
		{`"first":2`, `"first":0`, "first 0"},
		{`"first":2`, `"first":99999999999`, "first"},
		{`"first":2`, `"first":4`, "jobs[0]: its number"}, // the job has ended
		{`"next":4`, `"next":3`, "jobs[3]"},
		{`"number":2`, `"number":1`, "jobs[2]"},
		{`"number":2`, `"number":-1`, "number"},
		{`"id":"b"`, `"id":"a"`, "jobs[1]"},
		{`"utility":{"constant":60}`, `"utility":{"cube":60}`, "cube"},
		{`"down":[null,`, `"down":[[0],`, "is down"},
		{`"down":[null,`, `"down":[`, "lists"},
		{`"down":[null,`, `"down":[[-1],`, "no machine -1"},
		{`"down":[null,`, `"down":[[4],`, "no machine 4"},
		{`"down":[null,`, `"down":[[3,3],`, "out of order"},
	} {
		changed := bytes.Replace(text, []byte(test.old), []byte(test.new), 1)
		if bytes.Equal(changed, text) {
			t.Fatalf("%s is not in %s", test.old, text)
		}
		data := must.Have(s.ledger.seal(changed))(t)
		if _, err := RestoreScheduler(cluster, bounds, nil, data); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.new, err)
		}
	}
}

func TestRestoreRefusesOthers(t *testing.T) {
	cluster, bounds, s := busyScheduler(t)
	data := snapshotOf(t, s)
	newer := bytes.Replace(data, []byte(`"version":4`), []byte(`"version":5`), 1)
	must.Fail(RestoreScheduler(cluster, bounds, nil, newer))(t, apportion.ErrUnknown, "another version")
	larger := cluster.clone()
	larger.PSServers[1].Capacity[0]++
	dearer := *bounds
	dearer.UPS = []float64{65}
	renamed := cluster.clone()
	renamed.PSServers[1].ID = "q"
	longer := cluster.clone()
	longer.Slots++
	for _, c := range []*Cluster{larger, renamed, longer} {
		must.Fail(RestoreScheduler(c, bounds, nil, data))(t, apportion.ErrConflict, "another cluster")
	}
	must.Fail(RestoreScheduler(cluster, &dearer, nil, data))(t, apportion.ErrConflict, "other bounds")
	must.Fail(RestoreScheduler(&Cluster{}, bounds, nil, data))(t, apportion.ErrEmpty, "a bad cluster")
	scaled := *bounds
	scaled.EtaWorker++ // takes no part in prices
	must.Have(RestoreScheduler(cluster, &scaled, nil, data))(t)
}

// A snapshot whose ledger and jobs agree, but in which a job has more workers than chunks.
func TestRestoreRefusesTooManyWorkers(t *testing.T) {
	cluster, bounds := plainCluster(3, 4)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	j := plainJob("j", 1)
	plan := Schedule{{Slot: 1, Workers: []apportion.Placement{{Server: 0, Count: 2}}, PS: []apportion.Placement{{Server: 0, Count: 2}}}}
	s.admit(&j, Decision{Schedule: plan})
	must.Fail(RestoreScheduler(cluster, bounds, nil, snapshotOf(t, s)))(t, ErrCorrupt)
}
