// This file tests snapshots: damaged ones, foreign ones, and what they cannot hold.

package primaldual

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/apportion/apportion"
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
	if _, err := s.Fail("w1", 4); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Advance(2); err != nil {
		t.Fatal(err)
	}
	return cluster, bounds, s
}

func snapshotOf(t testing.TB, s *Scheduler) []byte {
	t.Helper()
	data, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sealed returns data with the checksum that it should have.
func sealed(data []byte) []byte {
	body := data[:len(data)-trailerBytes]
	return binary.LittleEndian.AppendUint32(bytes.Clone(body), crc32.Checksum(body, castagnoli))
}

func TestRestoreRefusesDamage(t *testing.T) {
	cluster, bounds, s := busyScheduler(t)
	data := snapshotOf(t, s)
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 1 << (i % 8)
		if _, err := RestoreScheduler(cluster, bounds, nil, damaged); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("byte %d flipped: %v", i, err)
		}
		if _, err := RestoreScheduler(cluster, bounds, nil, data[:i]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut at %d: %v", i, err)
		}
		// Even with a checksum that fits, contents that make no sense are refused, not taken.
		restored, err := RestoreScheduler(cluster, bounds, nil, sealed(damaged))
		if err == nil {
			if err := restored.recount(); err != nil {
				t.Fatalf("byte %d flipped, checksum repaired: %v", i, err)
			}
		}
	}
	if _, err := RestoreScheduler(cluster, bounds, nil, sealed(append(bytes.Clone(data), 0))); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte too many: %v", err)
	}
}

func TestRestoreRefusesOthers(t *testing.T) {
	cluster, bounds, s := busyScheduler(t)
	data := snapshotOf(t, s)
	newer := bytes.Clone(data)
	newer[len(snapshotMagic)+1]++
	if _, err := RestoreScheduler(cluster, bounds, nil, sealed(newer)); !errors.Is(err, apportion.ErrUnknown) {
		t.Errorf("another version: %v", err)
	}
	if _, err := RestoreScheduler(cluster, bounds, nil, s.Ledger().Snapshot()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a ledger for a scheduler: %v", err)
	}
	if _, err := RestoreLedger(cluster, bounds, nil, data); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a scheduler for a ledger: %v", err)
	}
	larger := cluster.clone()
	larger.PSServers[1].Capacity[0]++
	dearer := *bounds
	dearer.UPS = []float64{65}
	renamed := cluster.clone()
	renamed.PSServers[1].ID = "q"
	longer := cluster.clone()
	longer.Slots++
	for _, c := range []*Cluster{larger, renamed, longer} {
		if _, err := RestoreScheduler(c, bounds, nil, data); !errors.Is(err, apportion.ErrConflict) {
			t.Errorf("another cluster: %v", err)
		}
	}
	if _, err := RestoreScheduler(cluster, &dearer, nil, data); !errors.Is(err, apportion.ErrConflict) {
		t.Errorf("other bounds: %v", err)
	}
	if _, err := RestoreScheduler(&Cluster{}, bounds, nil, data); !errors.Is(err, apportion.ErrEmpty) {
		t.Errorf("a bad cluster: %v", err)
	}
}

func TestSnapshotRefusesFunctions(t *testing.T) {
	cluster, bounds := plainCluster(3, 4)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	j := plainJob("j", 1)
	j.Utility = UtilityFunc(func(int) float64 { return 50 })
	offer(t, s, j)
	if _, err := s.Snapshot(); !errors.Is(err, ErrUnsavable) {
		t.Errorf("%v", err)
	}
}

func TestLedgerSnapshot(t *testing.T) {
	cluster, bounds, s := busyScheduler(t)
	data := s.Ledger().Snapshot()
	l, err := RestoreLedger(cluster, bounds, nil, data)
	if err != nil || !bytes.Equal(data, l.Snapshot()) {
		t.Fatalf("%v", err)
	}
	if slot, ok := l.equal(s.ledger); !ok {
		t.Errorf("slot %d differs", slot)
	}
	j := plainJob("j", 5)
	if err := l.Commit(&j, Schedule{{Slot: 5, Workers: []apportion.Placement{{Server: 1, Count: 1}}}}); !errors.Is(err, ErrDown) {
		t.Errorf("the server that is down came back: %v", err)
	}
}

// A snapshot whose ledger and jobs agree, but in which a job has more workers than chunks.
func TestRestoreRefusesTooManyWorkers(t *testing.T) {
	cluster, bounds := plainCluster(3, 4)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	j := plainJob("j", 1)
	plan := Schedule{{Slot: 1, Workers: []apportion.Placement{{Server: 0, Count: 2}}, PS: []apportion.Placement{{Server: 0, Count: 2}}}}
	s.admit(&j, Decision{Schedule: plan})
	if _, err := RestoreScheduler(cluster, bounds, nil, snapshotOf(t, s)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v", err)
	}
}

func TestRestoreLedgerRefuses(t *testing.T) {
	cluster, bounds, s := busyScheduler(t)
	data := s.Ledger().Snapshot()
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 1 << (i % 8)
		if _, err := RestoreLedger(cluster, bounds, nil, damaged); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("byte %d flipped: %v", i, err)
		}
		l, err := RestoreLedger(cluster, bounds, nil, sealed(damaged))
		if err != nil {
			continue
		}
		for slot := l.First(); slot <= l.Last(); slot++ {
			for h := range 2 {
				used, err := l.Used(Workers, slot, h)
				if err != nil || used[0] < 0 || used[0] > 4 {
					t.Fatalf("byte %d flipped, checksum repaired: %v of 4 taken (%v)", i, used, err)
				}
			}
		}
	}
	if _, err := RestoreLedger(cluster, bounds, &LedgerOptions{MaxCells: 1}, data); !errors.Is(err, ErrTooLarge) {
		t.Errorf("limit 1: %v", err)
	}
}

// A snapshot of a scheduler that learnt its prices, which there are no more, is refused by that name.
func TestRestoreRefusesLearning(t *testing.T) {
	s := plainScheduler(t, 4)
	w := newWriter(schedulerSnapshot, s.ledger.park)
	w.bytes(s.ledger.Snapshot())
	for _, x := range []int64{1, 0, 1} { // last arrival, next number, learning
		w.int(x)
	}
	cluster, bounds := plainCluster(4, 2)
	_, err := RestoreScheduler(cluster, bounds, nil, w.seal())
	if !errors.Is(err, apportion.ErrUnknown) || !strings.Contains(err.Error(), "learning") {
		t.Error(err)
	}
}

// What a failure makes a job worth is what it then earns.
func TestFinishAfterFailure(t *testing.T) {
	s := plainScheduler(t, 8)
	j := deadlined("j", 1, 8, 2, 1000)
	j.Utility = Steps{{Within: 2, Value: 1000}, {Within: 7, Value: 400}}
	offer(t, s, j)
	if out, err := s.Fail("w0", 1); err != nil || len(out) != 1 || out[0].Decision.Utility != 400 {
		t.Fatalf("%+v, %v", out, err)
	}
	ended, err := s.Advance(9)
	if err != nil || len(ended) != 1 || ended[0].Utility != 400 {
		t.Fatalf("%+v, %v", ended, err)
	}
}
