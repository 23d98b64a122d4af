// This file tests whole chunk trainings as units.

package primaldual

import (
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// Three workers at 0.1 x 3 slots a chunk train 10 chunks, though 3/0.30000000000000004 is below 10.
func TestChunksDoneRounding(t *testing.T) {
	tenth := 0.1
	job := &Job{Minibatches: 3, MinibatchSlots: tenth}
	must.Equal(t, chunksDone(job, oneSlot(3)), 10, "chunks", 3/job.ChunkSlots())
}

func oneSlot(workers int64) Schedule {
	return Schedule{{Slot: 1, Workers: []apportion.Placement{{Server: 0, Count: workers}}}}
}
