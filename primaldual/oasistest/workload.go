// Package oasistest generates clusters and job streams like those of the paper's simulation, for
// tests, benchmarks and examples.
//
// # What it computes
//
// [Generate] draws servers and jobs from the ranges of [OASiS] §5: epochs, chunks, mini-batches,
// demands of workers and parameter servers, and sigmoid utilities of which a tenth does not care for
// time, 55 of 100 are sensitive and the rest critical.
//
// # Contract
//
// The same settings and random source give the same workload. Jobs are sorted by arrival. A job that
// could not end within the span even with all its workers is drawn again.
//
// # Deviations
//
// With the mini-batch times of the paper read as slots for one mini-batch, three jobs of four could
// never end in 100 slots and most would train less than one chunk a slot, against the paper's own
// text. By default the range counts for one chunk; Settings.PerMinibatch is the literal reading.
// The paper's worker servers are of a type without GPUs and its parameter-server servers have them;
// as only workers demand GPUs, the two are exchanged here.
//
// # References
//
//   - [OASiS] Y. Bao, Y. Peng, C. Wu, Z. Li. Online Job Scheduling in Distributed Machine Learning
//     Clusters. INFOCOM 2018.
package oasistest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/primaldual"
)

// kinds are the kinds of resources of a generated cluster, in whole GPUs and CPUs, GB and Mb/s.
var kinds = apportion.Kinds{"gpu", "cpu", "memory", "disk", "bandwidth"}

// Settings are what varies between workloads.
type Settings struct {
	// Slots is T; WorkerServers and PSServers are H and K; Jobs is the number of jobs.
	Slots, WorkerServers, PSServers, Jobs int
	// PerMinibatch draws the time of a mini-batch, not of a chunk, from the paper's range.
	PerMinibatch bool
}

// slotLength converts transfers to slots.
const slotLength = time.Hour

// Generate draws a cluster and its jobs. All counts of the settings must be positive.
func Generate(rng *rand.Rand, settings Settings) (*primaldual.Cluster, []primaldual.Job) {
	cluster := &primaldual.Cluster{Kinds: kinds, Slots: settings.Slots}
	for h := range settings.WorkerServers {
		cluster.WorkerServers = append(cluster.WorkerServers, server(rng, fmt.Sprint("worker", h), gpuServers))
	}
	for k := range settings.PSServers {
		cluster.PSServers = append(cluster.PSServers, server(rng, fmt.Sprint("ps", k), cpuServers))
	}
	jobs := make([]primaldual.Job, settings.Jobs)
	for i := range jobs {
		jobs[i] = job(rng, settings)
	}
	slices.SortStableFunc(jobs, func(a, b primaldual.Job) int { return a.Arrival - b.Arrival })
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

func server(rng *rand.Rand, id string, types [][3]int64) apportion.Server {
	shape := types[rng.IntN(len(types))]
	return apportion.Server{ID: id, Capacity: apportion.Resources{
		shape[0], shape[1], shape[2], between(rng, 200, 800), between(rng, 20, 50) * 1000,
	}}
}

// job draws a job that can end within the span.
func job(rng *rand.Rand, settings Settings) primaldual.Job {
	for {
		j := primaldual.Job{
			Arrival: int(between(rng, 1, int64(settings.Slots))),
			Epochs:  between(rng, 50, 200), Chunks: between(rng, 5, 100), Minibatches: between(rng, 10, 100),
			WorkerBandwidth: between(rng, 100, 5000), PSBandwidth: between(rng, 5000, 20000),
			Utility: sigmoid(rng),
		}
		j.MinibatchSlots = uniform(rng, 0.001, 0.1)
		if !settings.PerMinibatch {
			j.MinibatchSlots /= float64(j.Minibatches)
		}
		gradients := between(rng, 30, 575) * 1_000_000
		j.CommSlots = primaldual.CommSlots(gradients, j.WorkerBandwidth*1_000_000, slotLength)
		j.Worker = demand(rng, between(rng, 0, 4), j.WorkerBandwidth)
		j.PS = demand(rng, 0, j.PSBandwidth)
		if j.ShortestSlots() <= int64(settings.Slots-j.Arrival+1) {
			return j
		}
	}
}

// demand draws the demand of a container, but for what is given.
func demand(rng *rand.Rand, gpus, bandwidth int64) apportion.Resources {
	return apportion.Resources{gpus, between(rng, 1, 10), between(rng, 2, 32), between(rng, 5, 10), bandwidth}
}

// sigmoid draws a utility: insensitive, sensitive or critical to time.
func sigmoid(rng *rand.Rand) primaldual.Sigmoid {
	s := primaldual.Sigmoid{Gamma1: uniform(rng, 1, 100), Gamma3: float64(between(rng, 1, 15))}
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
