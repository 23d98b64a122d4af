// This file tests the plain dynamic programs against enumeration.

package primaldual

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
)

// The least cost of every completion is that of enumeration, and the choices traced back have it.
func TestCappedDPProperty(t *testing.T) {
	job := &Job{WorkerBandwidth: 1, PSBandwidth: 1}
	rapid.Check(t, func(t *rapid.T) {
		b, p, _, _ := drawPrefix(t, job)
		if err := b.dp.run(p); err != nil {
			t.Fatal(err)
		}
		for last, least := range b.dp.least {
			head := b.prefix(&request{job: job, work: int64(p.work)}, last)
			if want := enumerate(head); least != want && math.Abs(least-want) > 1e-9 {
				t.Fatalf("completion %d costs %g, want %g", last, least, want)
			}
			if least == inf {
				continue
			}
			units := make([]int64, last+1)
			b.dp.trace(units, last)
			done, sum := int64(0), 0.0
			for s, y := range units {
				done += y
				sum += head.costs.table(s)[y]
			}
			if done != int64(p.work) || math.Abs(sum-least) > 1e-9 {
				t.Fatalf("completion %d: %v do %d of %d for %g, want %g", last, units, done, p.work, sum, least)
			}
		}
	})
}

// A pass whose choices would not fit into the limit is refused before anything is computed.
func TestCappedDPLimit(t *testing.T) {
	job := &Job{ID: "j", WorkerBandwidth: 1, PSBandwidth: 1}
	b := bareSearch([][]float64{{0, 1}, {0, 1}}, []int{0, 1}, job, 2)
	p := b.prefix(&request{job: job, work: 2}, 1)
	for _, limit := range []int64{2*3 - 1, 2 * 3} { // slots x (work + 1)
		p.limit = limit
		if err := b.dp.run(p); errors.Is(err, ErrTooLarge) != (limit < 6) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

// Chunk trainings take whole workers: d of them as many as ceil(d m), at the cost of these.
func TestChunkTables(t *testing.T) {
	for _, test := range []struct {
		slots float64 // m: one worker trains a chunk in so many slots
		want  []float64
	}{
		{1, []float64{0, 1, 4, 9}},
		{0.5, []float64{0, 1, 1, 4, 4, 9}}, // 5 chunk trainings are all there are
		{1.5, []float64{0, 4, 9}},
		{4, []float64{0}},
	} {
		job := &Job{Minibatches: 1, MinibatchSlots: test.slots, WorkerBandwidth: 1, PSBandwidth: 1}
		b := bareSearch([][]float64{{0, 1, 4, 9}}, []int{0, 0}, job, 3)
		chunks := chunkTables(&b.costs, &request{job: job, chunks: 5})
		for s := range 2 {
			near(t, "costs by chunk trainings", chunks.table(s), test.want)
		}
	}
}

// Workers for chunks and chunks done by workers are inverse to each other up to what a slot wastes.
func TestChunksDone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		job := &Job{Minibatches: 1, MinibatchSlots: rapid.Float64Range(0.05, 3).Draw(t, "m")}
		chunks := rapid.Int64Range(1, 1000).Draw(t, "chunks")
		workers := workersFor(job, chunks)
		if got := chunksDone(job, oneSlot(workers)); got < chunks {
			t.Fatalf("m %g: %d workers train %d of %d chunks", job.ChunkSlots(), workers, got, chunks)
		}
		if workers > 1 {
			if got := chunksDone(job, oneSlot(workers-1)); got >= chunks {
				t.Fatalf("m %g: %d workers, one fewer than said, train %d chunks", job.ChunkSlots(), workers-1, got)
			}
		}
	})
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
