// This file tests the generated workloads.

package oasistest

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/internal/must"
)

func TestGenerate(t *testing.T) {
	for _, perMinibatch := range []bool{false, true} {
		settings := Settings{Slots: 100, WorkerServers: 5, PSServers: 7, Jobs: 2000, PerMinibatch: perMinibatch}
		cluster, jobs := Generate(rand.New(rand.NewPCG(3, 4)), settings)
		must.Do(t, cluster.Validate())
		if len(cluster.WorkerServers) != 5 || len(cluster.PSServers) != 7 || len(jobs) != 2000 {
			t.Fatalf("%d, %d servers, %d jobs", len(cluster.WorkerServers), len(cluster.PSServers), len(jobs))
		}
		seen := map[string]bool{}
		before := 1
		for _, j := range jobs {
			must.Do(t, j.Validate(cluster.Kinds))
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
