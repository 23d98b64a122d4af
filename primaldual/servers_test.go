// This file tests clusters that change: servers come and go, capacities and bounds change, jobs are taken over.

package primaldual

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
)

// A new worker server moves the tables of all parameter-server servers; what is taken stays where it was, and prices are
// those of the formula.
func TestAddServer(t *testing.T) {
	cluster, bounds := plainCluster(4, 2)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	j := deadlined("j", 1, 8, 4, 1000)
	offer(t, s, j)
	if err := s.ledger.SetDown(ParameterServers, 1, 3, true); err != nil {
		t.Fatal(err)
	}
	state := func() map[string]any {
		out := map[string]any{}
		for _, side := range []Side{Workers, ParameterServers} {
			for slot := 1; slot <= 4; slot++ {
				for server := range 2 {
					used, _ := s.Ledger().Used(side, slot, server)
					prices, _ := s.Ledger().Prices(side, slot, server)
					out[fmt.Sprint(side, slot, server)] = []any{used, prices}
				}
			}
		}
		return out
	}
	want := state()
	if err := s.AddServer(Workers, apportion.Server{ID: "w9", Capacity: vec{64}}); err != nil {
		t.Fatal(err)
	}
	if err := s.AddServer(ParameterServers, apportion.Server{ID: "p9", Capacity: vec{64}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, state()); diff != "" {
		t.Errorf("what was there has changed: %s", diff)
	}
	if down := s.ledger.slot(3).down; !down[4] || down[1] || s.ledger.slot(2).down != nil {
		t.Errorf("down: %v", down)
	}
	wide := deadlined("wide", 1, 256, 4, 1e6)
	wide.Chunks, wide.MinibatchSlots = 64, 4
	if d := offer(t, s, wide); !d.Admitted || d.Schedule[0].Workers[0].Server != 2 {
		t.Errorf("%v: %+v, want it on the new servers", d.Verdict, d.Schedule)
	}
	for _, test := range []struct {
		side   Side
		server apportion.Server
		want   error
	}{
		{Workers, apportion.Server{ID: "w0", Capacity: vec{1}}, apportion.ErrDuplicate},
		{Workers, apportion.Server{ID: "p9", Capacity: vec{1}}, apportion.ErrConflict},
		{ParameterServers, apportion.Server{ID: "x", Capacity: vec{1, 1}}, apportion.ErrLength},
		{Side(7), apportion.Server{ID: "x", Capacity: vec{1}}, apportion.ErrUnknown},
	} {
		unchanged(t, s, fmt.Sprint(test.server), test.want, func() error { return s.AddServer(test.side, test.server) })
	}
	s.ledger.limit = 4 * 6
	unchanged(t, s, "too large", ErrTooLarge, func() error {
		return s.AddServer(Workers, apportion.Server{ID: "x", Capacity: vec{1}})
	})
}

// The capacity of a server falls below what is taken: the younger job leaves it, and both go on elsewhere or later.
func TestSetCapacity(t *testing.T) {
	cluster, bounds := plainCluster(6, 2)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	for _, id := range []string{"old", "young"} { // two workers each, so that w0 and w1 are full in slots 1 and 2
		j := deadlined(id, 1, 4, 6, 1000)
		j.Chunks, j.MinibatchSlots = 2, 2
		offer(t, s, j)
	}
	old, _ := s.Schedule("old")
	server := cluster.WorkerServers[old[0].Workers[0].Server].ID
	out, err := s.SetCapacity(server, vec{4})
	if err != nil || len(out) != 0 || s.Cluster().WorkerServers[old[0].Workers[0].Server].Capacity[0] != 4 {
		t.Fatalf("more: %+v, %v", out, err)
	}
	if out, err = s.SetCapacity(server, vec{2}); err != nil || len(out) != 0 {
		t.Fatalf("as before: %+v, %v", out, err)
	}
	out, err = s.SetCapacity(server, vec{1})
	if err != nil || len(out) != 1 || out[0].ID != "old" || !out[0].Decision.Admitted {
		t.Fatalf("less: %+v, %v", out, err)
	}
	if _, err = s.SetCapacity(server, vec{0}); err != nil {
		t.Fatalf("nothing: %v", err)
	}
	for _, id := range []string{"old", "young"} {
		if got, ok := s.Schedule(id); !ok || s.ledger.holds(got, old[0].Workers[0].Server, 1) {
			t.Errorf("%s: %+v", id, got)
		}
	}
	for _, test := range []struct {
		id       string
		capacity vec
		want     error
	}{{"nobody", vec{1}, apportion.ErrUnknown}, {"w0", vec{-1}, apportion.ErrNegative}, {"w0", vec{1, 2}, apportion.ErrLength}} {
		unchanged(t, s, test.id, test.want, func() error { _, err := s.SetCapacity(test.id, test.capacity); return err })
	}
}

// The youngest job leaves first, and only as many as must.
func TestCrowdedOut(t *testing.T) {
	s := plainScheduler(t, 4)
	for i := range 3 {
		j := deadlined(fmt.Sprint(i), 1, 4, 4, 1000)
		j.Chunks, j.MinibatchSlots = 1, 4
		offer(t, s, j)
	}
	// Jobs 0 and 2 are on the first server in all slots, job 1 on the second, which was cheaper.
	if got := s.crowdedOut(0, vec{1}); len(got) != 1 || got[0].job.ID != "2" {
		t.Errorf("%d jobs", len(got))
	}
	if got := s.crowdedOut(0, vec{0}); len(got) != 2 || got[0].job.ID != "0" {
		t.Errorf("%d jobs", len(got))
	}
	if err := s.recount(); err != nil {
		t.Error(err)
	}
}

// A server drained ahead of time costs nobody a promise where there is room beside it.
func TestDrain(t *testing.T) {
	cluster, bounds := plainCluster(8, 2)
	s, err := NewScheduler(cluster, bounds, nil)
	if err != nil {
		t.Fatal(err)
	}
	offer(t, s, deadlined("j", 1, 16, 8, 1000))
	out, err := s.Drain("w1", 3)
	if err != nil || len(out) > 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	got, ok := s.Schedule("j")
	if !ok || s.ledger.holds(got, 1, 3) || got.WorkerSlots() < 16 || s.jobs["j"].utility != 1000 {
		t.Errorf("%+v", got)
	}
	for _, slot := range []int{1, 0, 9} {
		unchanged(t, s, fmt.Sprint("slot ", slot), apportion.ErrRange, func() error { _, err := s.Drain("w1", slot); return err })
	}
	unchanged(t, s, "nobody", apportion.ErrUnknown, func() error { _, err := s.Drain("nobody", 3); return err })
}

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
