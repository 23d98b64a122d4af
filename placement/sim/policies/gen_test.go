// This file makes small scenarios for the tests.

package policies

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/simtest"
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

// inSlots returns one of each policy of slots, with tinyBounds.
func inSlots() []sim.Policy {
	return []sim.Policy{&OASiS{Bounds: &tinyBounds}, &FIFO{}, &FIFO{Backfill: true}, &DRF{}, &RRH{}, &Deadline{}, DormInSlots(nil)}
}

// slot is the length of a slot in these tests.
const slot = time.Minute

// tiny is what became of jobs on tinyCluster.
type tiny struct {
	*sim.Result
	scenario  *sim.Scenario
	schedules []primaldual.Schedule
	// completion is by job the slot in which it ended, 0 for none.
	completion []int
}

func runTiny(t *testing.T, policy sim.Policy, slots int, workers []int64, jobs ...primaldual.Job) *tiny {
	t.Helper()
	s := must.Have(sim.FromSlots(tinyCluster(slots), jobs, workers, slot))(t)
	r := must.Have(sim.Run(context.Background(), s, policy))(t)
	result := &tiny{Result: r, scenario: s, schedules: sim.Schedules(s, r)}
	for i := range r.Jobs {
		result.completion = append(result.completion, int(r.Jobs[i].Completion/slot))
	}
	return result
}

const second = time.Second

// whole returns a job that can use a whole worker and reports a falling loss.
func whole(id string, arrival, work time.Duration) sim.Job {
	j := sim.SharedJob(id, arrival, work, sim.Whole)
	j.Curve = simtest.Falling()
	return j
}

// onWorkers is a scenario of n equal workers.
func onWorkers(n int, jobs ...sim.Job) *sim.Scenario {
	s := &sim.Scenario{Kinds: apportion.Kinds{"cpu"}, Law: sim.Shared{}, Jobs: jobs}
	for w := range n {
		s.Servers = append(s.Servers, apportion.Server{ID: strconv.Itoa(w), Capacity: apportion.Resources{sim.Whole}})
	}
	return s
}
