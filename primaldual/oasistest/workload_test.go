// This file tests the generated workloads.

package oasistest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGenerate(t *testing.T) {
	for _, perMinibatch := range []bool{false, true} {
		settings := Settings{Slots: 100, WorkerServers: 5, PSServers: 7, Jobs: 2000, PerMinibatch: perMinibatch}
		cluster, jobs := Generate(rand.New(rand.NewPCG(3, 4)), settings)
		if err := cluster.Validate(); err != nil {
			t.Fatal(err)
		}
		if len(cluster.WorkerServers) != 5 || len(cluster.PSServers) != 7 || len(jobs) != 2000 {
			t.Fatalf("%d, %d servers, %d jobs", len(cluster.WorkerServers), len(cluster.PSServers), len(jobs))
		}
		seen := map[string]bool{}
		before := 1
		for _, j := range jobs {
			if err := j.Validate(cluster.Kinds); err != nil {
				t.Fatal(err)
			}
			if seen[j.ID] || j.Arrival < before || int64(j.Arrival)+j.ShortestSlots()-1 > 100 {
				t.Errorf("job %+v after slot %d", j, before)
			}
			seen[j.ID], before = true, j.Arrival
		}
		again, same := Generate(rand.New(rand.NewPCG(3, 4)), settings)
		if !cmp.Equal(cluster, again) || !cmp.Equal(jobs, same) {
			t.Error("the same seed gives another workload")
		}
	}
}

// Read as slots a chunk, the times make most jobs last about as long as their targets allow and train
// several chunks a slot, as the paper's text says.
func TestGenerateFitsTheText(t *testing.T) {
	_, jobs := Generate(rand.New(rand.NewPCG(5, 6)), Settings{Slots: 1000, WorkerServers: 1, PSServers: 1, Jobs: 5000})
	var shortest []int64
	var critical, insensitive, slowChunks int
	for _, j := range jobs {
		shortest = append(shortest, j.ShortestSlots())
		if j.ChunkSlots() > 1 {
			slowChunks++
		}
		switch u := j.Utility.(interface{ Value(int) float64 }); {
		case u.Value(0) == u.Value(900):
			insensitive++
		case u.Value(30) < 1e-9:
			critical++
		}
	}
	slices.Sort(shortest)
	if median := shortest[len(shortest)/2]; median < 7 || median > 13 {
		t.Errorf("median of the shortest completions %d slots, want about 10", median)
	}
	if slowChunks > len(jobs)/20 {
		t.Errorf("%d of %d jobs need more than a slot for a chunk", slowChunks, len(jobs))
	}
	if insensitive < 400 || insensitive > 600 || critical < 1500 {
		t.Errorf("%d insensitive, %d critical of %d", insensitive, critical, len(jobs))
	}
}
