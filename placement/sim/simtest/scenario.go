// This file draws scenarios.

package simtest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/primaldual"
)

// World is a law and a time base.
// It decides what a job holds, and whether time passes in slots.
type World int

// The worlds.
const (
	// Containers is the world of Dorm: exclusive containers in continuous time.
	Containers World = iota
	// Workers is the world of FlowCon and SpeCon: jobs that share CPU in continuous time.
	Workers
	// Slots is the world of OASiS: exclusive workers with parameter servers in slots.
	Slots
)

// String returns "containers", "workers" or "slots".
func (w World) String() string { return [...]string{"containers", "workers", "slots"}[w] }

// Scenario draws a small scenario in which no two jobs arrive at once, except in slots. The same seed
// gives the same scenario.
// It is small, so that a referee who counts everything again stays fast.
func Scenario(world World, seed uint64) *sim.Scenario {
	// The world takes part in the seed, so that scenario 7 of one world is not the pattern of another's.
	rng := rand.New(rand.NewPCG(seed, uint64(world)))
	switch world {
	case Workers:
		return workers(rng)
	case Slots:
		return slots(rng)
	}
	return containers(rng)
}

// containers draws up to eight jobs, some of which can never run, for up to four servers. Half of the
// scenarios end early, half of the jobs have a serial part.
func containers(rng *rand.Rand) *sim.Scenario {
	// Adjustments cost up to five minutes, as long as a short job takes: some jobs pause more than they run.
	s := &sim.Scenario{Kinds: apportion.Kinds{"cpu", "gpu"}, AdjustCost: time.Duration(rng.IntN(301)) * time.Second}
	if rng.IntN(2) == 0 {
		s.Horizon = time.Duration(1+rng.IntN(40)) * 100 * time.Second
	}
	for j := range 1 + rng.IntN(4) {
		capacity := apportion.Resources{1 + rng.Int64N(8), rng.Int64N(3)}
		s.Servers = append(s.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: capacity})
	}
	for i := range 1 + rng.IntN(8) {
		job := sim.Job{
			// The nanoseconds of i keep arrivals apart, without which the order of the list would matter.
			Arrival: time.Duration(rng.IntN(10))*100*time.Second + time.Duration(i),
			Work:    time.Duration(1+rng.IntN(40)) * 100 * time.Second, Fixed: 1 + rng.Int64N(4),
		}
		job.ID, job.Demand, job.Weight = fmt.Sprint("a", i), apportion.Resources{1 + rng.Int64N(4), rng.Int64N(2)}, 1
		job.Min, job.Max = 1, job.Fixed+rng.Int64N(3)
		if rng.IntN(2) == 0 {
			job.Speedup, _ = sim.Amdahl(0.1)
		}
		if i%4 == 3 {
			job.SpeedOn = spread
		}
		s.Jobs = append(s.Jobs, job)
	}
	return s
}

// spread is the speed of containers of which each server more than the first costs a tenth.
func spread(on []apportion.Placement) float64 {
	speed := 0.0
	for _, p := range on {
		speed += float64(p.Count)
	}
	return speed / (0.9 + float64(0.1*float64(len(on))))
}

// falling is a loss that halves quickly and then hardly moves.
var falling = []float64{1, .5, .3, .2, .19, .185, .184, .1839, .1838, .1837, .1836}

// Falling returns a learning curve that falls quickly and then hardly moves.
func Falling() *sim.Curve {
	at := make([]float64, len(falling))
	for i := range at {
		at[i] = float64(i)
	}
	curve, err := sim.NewCurve(at, falling)
	if err != nil {
		panic(err)
	}
	return curve
}

// workers draws up to eight jobs for up to three workers, with and without interference. Jobs that can use
// hardly anything have hardly any work: a run must end.
func workers(rng *rand.Rand) *sim.Scenario {
	s := &sim.Scenario{
		Kinds: apportion.Kinds{"cpu"}, AdjustCost: time.Duration(rng.IntN(6)) * time.Second,
		Law: sim.Shared{Interference: []float64{0, 0.05, 1}[rng.IntN(3)]},
	}
	for w := range 1 + rng.IntN(3) {
		s.Servers = append(s.Servers, apportion.Server{ID: fmt.Sprint("w", w), Capacity: apportion.Resources{sim.Whole}})
	}
	for i := range rng.IntN(9) {
		demand := []int64{1, 190_000, 500_000, sim.Whole}[rng.IntN(4)]
		work := time.Duration(1 + rng.Int64N(int64(200*time.Second)))
		// A job of demand 1 runs at a millionth of a worker: a millisecond of work takes a quarter of an
		// hour.
		if demand == 1 {
			work = min(work, time.Millisecond)
		}
		job := sim.SharedJob(fmt.Sprint("job-", i), time.Duration(rng.IntN(60))*time.Second+time.Duration(i), work, demand)
		job.Request, job.Curve = rng.Int64N(4), Falling()
		s.Jobs = append(s.Jobs, job)
	}
	return s
}

// slots draws a workload with the ranges of the paper, small enough for every policy.
func slots(rng *rand.Rand) *sim.Scenario {
	cluster, jobs := primaldual.Workload{
		Slots: 20 + rng.IntN(21), WorkerServers: 1 + rng.IntN(5), PSServers: 1 + rng.IntN(4), Jobs: 1 + rng.IntN(15),
	}.Draw(rng)
	// A static scheduler's numbers are drawn from the range of [OASiS] §5; FromSlots cuts them to Chunks.
	fixed := make([]int64, len(jobs))
	for i := range fixed {
		fixed[i] = 1 + rng.Int64N(30)
	}
	s, err := sim.FromSlots(cluster, jobs, fixed, time.Minute)
	if err != nil {
		panic(err)
	}
	return s
}
