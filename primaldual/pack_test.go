// This file tests packing: no schedule ends earlier, and none that is possible is missed.

package primaldual

import (
	"testing"

	"pgregory.net/rapid"
)

// earliest returns the first slot by which the work can be done, by counting what fits in every slot; 0 for never.
func earliest(l *Ledger, j *Job, until int) int {
	r := &request{job: j, first: j.Arrival, work: j.WorkerSlots()}
	r.set(&l.market)
	left := j.WorkerSlots()
	for slot := j.Arrival; slot <= until; slot++ {
		most := int64(0)
		for _, s := range j.Speeds {
			if r.roomIn(&l.market, l.slot(slot), Workers, s.Workers) == s.Workers && r.roomIn(&l.market, l.slot(slot), ParameterServers, s.PS) == s.PS {
				most = max(most, s.Units)
			}
		}
		for y := int64(1); y <= j.Chunks; y++ {
			workers := r.roomIn(&l.market, l.slot(slot), Workers, y)
			ps := r.roomIn(&l.market, l.slot(slot), ParameterServers, j.PSFor(y))
			if workers == y && ps == j.PSFor(y) {
				most = y
			}
		}
		if left -= most; left <= 0 {
			return slot
		}
	}
	return 0
}

func TestPackProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := fromRapid(t)
		size := mediumSize
		size.apart = true // TestPackCoupled has the others
		cluster := size.cluster(draw)
		l, err := NewLedger(cluster, freeBounds(len(cluster.Kinds)), nil)
		if err != nil {
			t.Fatal(err)
		}
		var p packer
		for _, j := range size.jobsOf(draw, cluster) {
			if j.misfit(cluster) != Admitted {
				continue
			}
			until := draw(j.Arrival, cluster.Slots)
			schedule, ok := p.pack(&l.market, &j, remainder{work: j.WorkerSlots(), first: j.Arrival}, until)
			want := earliest(l, &j, until)
			if ok != (want > 0) || ok && schedule.completion() != want {
				t.Fatalf("job %+v by %d: %v, ends in %d, want %d", j, until, ok, schedule.completion(), want)
			}
			if !ok {
				continue
			}
			checkConstraints(t, &j, schedule)
			if err := l.Commit(&j, schedule); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The bound on what fits a side never falls below what does.
func TestMostProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, vector := drawMarket(t)
		var d demand
		d.set(&l.market, Workers, vector)
		r := &request{job: &Job{Worker: vector}}
		r.demands[Workers] = d
		fits := r.roomIn(&l.market, l.slot(1), Workers, 1000)
		if bound := l.most(l.slot(1), &d); bound < fits {
			t.Fatalf("at most %d, but %d fit", bound, fits)
		}
	})
}
