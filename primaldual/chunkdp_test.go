// This file tests whole chunk trainings as units.

package primaldual

import (
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/primaldual/internal/schedule"
)

// Chunk trainings take whole workers: d of them as many as ceil(d m), at the cost of these.
func TestChunkTables(t *testing.T) {
	for _, test := range []struct {
		slots float64 // m: one worker trains a chunk in so many slots
		want  []float64
	}{
		{1, []float64{0, 2, 4, 6}},
		{0.5, []float64{0, 2, 2, 4, 4, 6}}, // 5 chunk trainings are all there are
		{1.5, []float64{0, 4, 6}},
		{4, []float64{0}},
	} {
		cluster, bounds := plainCluster(1, 100)
		job := plainJob("j", 1)
		job.Epochs, job.Chunks, job.Minibatches, job.MinibatchSlots, job.CommSlots = 1, 3, 1, test.slots, 0
		job.WorkerBandwidth, job.PSBandwidth = 1, 1 // a worker and its parameter server cost 1 each
		s := newScheduler(t, cluster, bounds, ChunkDP)
		r := &request{job: &job, first: 1, work: 3, chunks: 5, whole: true}
		r.set(&s.ledger.market)
		var costs slotCosts
		var tables schedule.Tables
		tables.Reset()
		costs.reset(&s.ledger.market, r)
		costs.Add(&tables, inf)
		unit := tables.Of(0)
		if len(unit) != len(test.want) {
			t.Fatalf("m %g: %v, want the form of %v", test.slots, unit, test.want)
		}
		near(t, "costs by chunk trainings", unit, test.want)
	}
}

// Three workers at 0.1 x 3 slots a chunk train 10 chunks, though 3/0.30000000000000004 is below 10.
func TestChunksDoneRounding(t *testing.T) {
	tenth := 0.1
	job := &Job{Minibatches: 3, MinibatchSlots: tenth}
	if got := chunksDone(job, oneSlot(3)); got != 10 {
		t.Errorf("%d chunks, want 10; 3/m is %.17g", got, 3/job.ChunkSlots())
	}
}

// oneSlot returns a schedule of one slot.
func oneSlot(workers int64) Schedule {
	return Schedule{{Slot: 1, Workers: []apportion.Placement{{Server: 0, Count: workers}}}}
}
