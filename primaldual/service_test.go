// This file tests the scheduler as a service: long runs, other policies' runs, the printed method.

package primaldual

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/rapidtest"
)

// A service that runs for long: every admitted job ends when it was promised to and earns what it was
// promised, and the memory does not grow.
func TestLongRun(t *testing.T) {
	steps := 2000
	if testing.Short() {
		steps = 300
	}
	cluster, bounds := plainCluster(20, 6)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	draw := fromSeed(11)
	promised := map[string]Finish{}
	admitted, refused, most := 0, 0, 0
	for slot := 1; slot <= steps; slot++ {
		ended := must.Have(s.Advance(slot))(t)
		for _, f := range ended {
			if promised[f.ID] != f || f.Slot != slot-1 {
				t.Fatalf("slot %d: %+v, promised %+v", slot, f, promised[f.ID])
			}
			delete(promised, f.ID)
		}
		for i := range draw(0, 4) {
			j := plainJob(fmt.Sprintf("j%d-%d", slot, i), slot)
			j.Epochs, j.Chunks = int64(draw(1, 6)), int64(draw(1, 5))
			j.Utility = Sigmoid{float64(draw(10, 4000)), float64(draw(0, 20)) / 10, float64(draw(1, 8))}
			d := offer(t, s, j)
			if !d.Admitted {
				refused++
				continue
			}
			admitted++
			promised[j.ID] = Finish{j.ID, d.Completion, d.Utility}
		}
		must.Equal(t, len(s.jobs), len(promised), "slot", slot, "jobs run", "were promised")
		most = max(most, len(snapshotOf(t, s)))
	}
	t.Logf("admitted %d, refused %d, largest snapshot %d bytes", admitted, refused, most)
	if admitted < steps/4 || refused < steps/20 || most > 40_000 {
		t.Errorf("admitted %d, refused %d, largest snapshot %d bytes", admitted, refused, most)
	}
	must.Do(t, s.recount())
}

// firstFit runs each job as early as it fits, whatever it is worth: a policy that knows no prices.
func firstFit(t failer, ledger *Ledger, jobs []Job) float64 {
	earned := 0.0
	for i := range jobs {
		j := &jobs[i]
		if j.WorkerBandwidth > j.PSBandwidth {
			continue
		}
		var schedule Schedule
		left := j.WorkerSlots()
		for slot := j.Arrival; slot <= ledger.Last() && left > 0; slot++ {
			for h := range ledger.cluster.WorkerServers {
				plan := SlotPlan{Slot: slot, Workers: []apportion.Placement{{Server: h, Count: 1}}, PS: []apportion.Placement{{Server: 0, Count: 1}}}
				if ledger.checkTake(j, Schedule{plan}) == nil {
					schedule = append(schedule, plan)
					left--
					break
				}
			}
		}
		if left == 0 {
			must.Do(t, ledger.Commit(j, schedule))
			earned += j.Utility.Value(schedule.completion() - j.Arrival)
		}
	}
	return earned
}

// Any policy's run can be certified: its schedules give the prices.
func TestCertifyOtherPolicies(t *testing.T) {
	certified := 0
	rapidtest.Until(t, "nothing was earned", func() bool { return certified > 0 }, func(t *rapid.T) {
		draw, z := fromRapid(t), mediumSize
		z.plain = true // firstFit knows no labels
		cluster := z.cluster(draw)
		jobs := z.jobsOf(draw, cluster)
		bounds := boundsDraw(draw, cluster, jobs)
		ledger := must.Have(NewLedger(cluster, &bounds))(t)
		earned := firstFit(t, ledger, jobs)
		c, err := Certify(ledger, jobs, earned, &CertificateOptions{Steps: 5})
		if err != nil || c.Ratio < 1 || c.Bound < earned-1e-6 {
			t.Fatalf("earned %g, %+v, %v", earned, c, err)
		}
		s := must.Have(NewScheduler(cluster, &bounds, nil))(t)
		ours := 0.0
		for _, j := range jobs {
			if d, err := s.Offer(j); err != nil {
				t.Fatalf("%v", err)
			} else if d.Admitted {
				ours += d.Utility
			}
		}
		// The bound holds for every policy, thus for ours too.
		if ours > c.Bound*(1+1e-9) {
			t.Fatalf("earned %g, the bound of another run is %g", ours, c.Bound)
		}
		if earned > 0 {
			certified++
		}
	})
}

// With the printed method a displaced job still has all its chunks trained in whole.
func TestFailInChunks(t *testing.T) {
	cluster, bounds := plainCluster(8, 4)
	s := newScheduler(t, cluster, bounds, ChunkDP)
	j := plainJob("j", 1)
	j.Epochs, j.Chunks, j.MinibatchSlots = 5, 2, 0.6 // 10 trainings, 6 worker-slots if parts counted
	d := offer(t, s, j)
	if got := chunksDone(&j, d.Schedule); !d.Admitted || got < 10 {
		t.Fatalf("%d trainings: %+v", got, d)
	}
	out, err := s.Fail("w0", 3)
	if err != nil || len(out) != 1 || !out[0].Decision.Admitted {
		t.Fatalf("%+v, %v", out, err)
	}
	schedule, _ := s.Schedule("j")
	if got := chunksDone(&j, schedule); got < 10 || s.ledger.holds(schedule, 0, 3) {
		t.Errorf("%d trainings of 10: %v", got, schedule)
	}
	if done := chunksDone(&j, schedule[:schedule.before(3)]); done == 0 || done >= 10 {
		t.Errorf("%d trainings before the failure", done)
	}
}
