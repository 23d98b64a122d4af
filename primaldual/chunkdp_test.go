// This file tests whole chunk trainings as units.

package primaldual

import (
	"testing"

	"github.com/apportion/apportion"
)

// Three workers at 0.1 x 3 slots a chunk train 10 chunks, though 3/0.30000000000000004 is below 10.
func TestChunksDoneRounding(t *testing.T) {
	tenth := 0.1
	job := &Job{Minibatches: 3, MinibatchSlots: tenth}
	if got := chunksDone(job, oneSlot(3)); got != 10 {
		t.Errorf("%d chunks, want 10; 3/m is %.17g", got, 3/job.ChunkSlots())
	}
}

func oneSlot(workers int64) Schedule {
	return Schedule{{Slot: 1, Workers: []apportion.Placement{{Server: 0, Count: workers}}}}
}
