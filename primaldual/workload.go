// This file draws clusters and jobs as the simulation of [OASiS] §5 does.

package primaldual

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apportion/apportion"
)

// workloadKinds are the kinds of resources of a generated cluster, in whole GPUs and CPUs, GB and Mb/s.
var workloadKinds = apportion.Kinds{"gpu", "cpu", "memory", "disk", "bandwidth"}

// Workload draws clusters and job streams like those of the simulation in [OASiS] §5: epochs, chunks, mini-batches, demands of
// workers and parameter servers, and sigmoid utilities of which a tenth does not care for time, 55 of 100 are sensitive and the
// rest critical. Two readings deviate: with the paper's mini-batch times as slots for one mini-batch, three jobs of four could
// never end in 100 slots and most would train less than one chunk a slot, against its own text, so that the range counts for one
// chunk; and as only workers demand GPUs, the paper's server types are exchanged.
type Workload struct {
	// Slots is T; WorkerServers and PSServers are H and K; Jobs is the number of jobs.
	Slots, WorkerServers, PSServers, Jobs int
	// PerMinibatch draws the time of a mini-batch, not of a chunk, from the paper's range.
	PerMinibatch bool
}

// workloadSlot converts transfers to slots.
const workloadSlot = time.Hour

// Draw draws a cluster and its jobs, sorted by arrival; the same source gives the same. A job that could not end within the span
// even with all its workers is drawn again. Slots and the numbers of servers must be positive.
func (w Workload) Draw(rng *rand.Rand) (*Cluster, []Job) {
	cluster := &Cluster{Kinds: workloadKinds, Slots: w.Slots}
	for h := range w.WorkerServers {
		cluster.WorkerServers = append(cluster.WorkerServers, drawServer(rng, fmt.Sprint("worker", h), gpuServers))
	}
	for k := range w.PSServers {
		cluster.PSServers = append(cluster.PSServers, drawServer(rng, fmt.Sprint("ps", k), cpuServers))
	}
	jobs := make([]Job, w.Jobs)
	for i := range jobs {
		jobs[i] = w.job(rng)
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return a.Arrival - b.Arrival })
	for i := range jobs {
		jobs[i].ID = fmt.Sprint("job", i)
	}
	return cluster, jobs
}

// Server types: GPUs, CPUs, GB of memory; disk and network are drawn.
var (
	gpuServers = [][3]int64{{8, 32, 488}, {16, 64, 732}, {2, 32, 244}, {4, 64, 488}}
	cpuServers = [][3]int64{{0, 36, 60}}
)

func drawServer(rng *rand.Rand, id string, types [][3]int64) apportion.Server {
	shape := types[rng.IntN(len(types))]
	return apportion.Server{ID: id, Capacity: apportion.Resources{
		shape[0], shape[1], shape[2], between(rng, 200, 800), between(rng, 20, 50) * 1000,
	}}
}

// job draws a job that can end within the span.
func (w Workload) job(rng *rand.Rand) Job {
	for {
		j := Job{
			Arrival: int(between(rng, 1, int64(w.Slots))),
			Epochs:  between(rng, 50, 200), Chunks: between(rng, 5, 100), Minibatches: between(rng, 10, 100),
			WorkerBandwidth: between(rng, 100, 5000), PSBandwidth: between(rng, 5000, 20000),
			Utility: drawSigmoid(rng),
		}
		j.MinibatchSlots = uniform(rng, 0.001, 0.1)
		if !w.PerMinibatch {
			j.MinibatchSlots /= float64(j.Minibatches)
		}
		gradients := between(rng, 30, 575) * 1_000_000
		j.CommSlots = CommSlots(gradients, j.WorkerBandwidth*1_000_000, workloadSlot)
		j.Worker = drawDemand(rng, between(rng, 0, 4), j.WorkerBandwidth)
		j.PS = drawDemand(rng, 0, j.PSBandwidth)
		if j.ShortestSlots() <= int64(w.Slots-j.Arrival+1) {
			return j
		}
	}
}

// drawDemand draws the demand of a container, but for what is given.
func drawDemand(rng *rand.Rand, gpus, bandwidth int64) apportion.Resources {
	return apportion.Resources{gpus, between(rng, 1, 10), between(rng, 2, 32), between(rng, 5, 10), bandwidth}
}

// drawSigmoid draws a utility: insensitive, sensitive or critical to time.
func drawSigmoid(rng *rand.Rand) Sigmoid {
	s := Sigmoid{Gamma1: uniform(rng, 1, 100), Gamma3: float64(between(rng, 1, 15))}
	switch percent := rng.IntN(100); {
	case percent < 10:
	case percent < 65:
		s.Gamma2 = uniform(rng, 0.01, 1)
	default:
		s.Gamma2 = uniform(rng, 4, 6)
	}
	return s
}

// between draws an integer from low to high, both included.
func between(rng *rand.Rand, low, high int64) int64 { return low + rng.Int64N(high-low+1) }

// uniform draws a number from [low, high).
func uniform(rng *rand.Rand, low, high float64) float64 {
	return low + float64((high-low)*rng.Float64())
}
