// This file makes tiny scenarios for the tests.

package slotsim

import (
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/primaldual"
)

// tinyCluster has one kind, two worker servers of 4 and two parameter-server servers of 2.
func tinyCluster(slots int) *primaldual.Cluster {
	return &primaldual.Cluster{
		Kinds: apportion.Kinds{"unit"}, Slots: slots,
		WorkerServers: []apportion.Server{{ID: "w0", Capacity: apportion.Resources{4}}, {ID: "w1", Capacity: apportion.Resources{4}}},
		PSServers:     []apportion.Server{{ID: "p0", Capacity: apportion.Resources{2}}, {ID: "p1", Capacity: apportion.Resources{2}}},
	}
}

// tinyBounds make prices 2^g on worker servers and 2^v on the others.
var tinyBounds = primaldual.Bounds{
	UWorker: []float64{16}, LWorker: []float64{1}, UPS: []float64{4}, LPS: []float64{1},
}

// tinyJob needs epochs x chunks / 2 worker-slots; one parameter server serves two workers.
func tinyJob(id string, arrival int, epochs, chunks int64, utility primaldual.Utility) primaldual.Job {
	return primaldual.Job{
		ID: id, Arrival: arrival, Epochs: epochs, Chunks: chunks, Minibatches: 1, MinibatchSlots: 0.5,
		WorkerBandwidth: 1, PSBandwidth: 2, Worker: apportion.Resources{1}, PS: apportion.Resources{1}, Utility: utility,
	}
}

// always is worth 1 whenever the job ends.
var always = primaldual.Sigmoid{Gamma1: 2}

// policies returns one of each.
func policies() []Policy {
	quick := embedded.New(&embedded.Options{Effort: 2})
	return []Policy{OASiS{}, FIFO{}, FIFO{Backfill: true}, DRF{}, RRH{}, Dorm3(quick)}
}

func runTiny(t *testing.T, policy Policy, slots int, workers []int64, jobs ...primaldual.Job) *Result {
	t.Helper()
	r, err := Run(t.Context(), &Scenario{Cluster: tinyCluster(slots), Jobs: jobs, Workers: workers}, &tinyBounds, policy)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
