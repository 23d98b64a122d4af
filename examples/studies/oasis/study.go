// This file plays the paper's workload under every policy, on all processors.

package main

import (
	"context"
	"io"
	"math/rand/v2"
	"time"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
	"github.com/apportion/apportion/primaldual"
)

// dormEffort is the search effort of a decision of Dorm, in moves for each server and application.
// It is the smallest: a workload has thousands of decisions of Dorm's.
const dormEffort = 1

// certificateSteps is the number of subgradient steps behind a certified bound.
const certificateSteps = 20

// policyNames are the policies of every study, in the order of the tables. The second is OASiS with L
// raised to what the total utility of the first allows.
var policyNames = []string{"OASiS", "OASiS, 2nd run", "Dorm", "DRF", "RRH", "FIFO", "FIFO+backfill", "Deadline"}

// study is a number of workloads of each size, and what became of them.
type study struct {
	settings primaldual.Workload
	sizes    []int
	seeds    int
	// runs is by size, seed and policy.
	runs [][][]*played
}

// played is one run. Bound, from the run of OASiS, is certified for all policies; alpha is that of
// Theorem 4, of the two settings of OASiS.
type played struct {
	jobs []primaldual.Job
	// total is the total utility, utility that of each job; completion the slot in which a job
	// ended, 0 if it did not; gpus the part of all GPUs and slots that was taken.
	total        float64
	utility      []float64
	completion   []int
	gpus         float64
	bound, alpha float64
	// unplaced is the part of the workers planned by package deadline that found no server.
	unplaced float64
}

// workload is a cluster, jobs, and how many workers FIFO and RRH give each.
type workload struct {
	cluster *primaldual.Cluster
	jobs    []primaldual.Job
	workers []int64
}

// run plays the workload under a policy.
func (w *workload) run(ctx context.Context, policy sim.Policy) (*sim.Scenario, *sim.Result, error) {
	scenario, err := sim.FromSlots(w.cluster, w.jobs, w.workers, slotLength)
	if err != nil {
		return nil, nil, err
	}
	result, err := sim.Run(ctx, scenario, policy)
	return scenario, result, err
}

// slotLength is the time that a slot stands for. Nothing depends on it.
const slotLength = time.Minute

// paperWorkers is the most workers that FIFO and RRH give a job in the paper. [OASiS §5]
const paperWorkers = 30

// drawWorkers returns a fixed number of workers for each job, uniform from 1 to 30.
// They are drawn with the workload, so that FIFO and RRH give the same job the same number.
func drawWorkers(rng *rand.Rand, jobs int) []int64 {
	workers := make([]int64, jobs)
	for i := range workers {
		workers[i] = 1 + rng.Int64N(paperWorkers)
	}
	return workers
}

// The settings are the paper's: 50 servers of each kind and 100 slots, and at most 300 jobs; the small ones
// are for tests.
func newStudy(o *options) *study {
	s := &study{
		settings: primaldual.Workload{Slots: 100, WorkerServers: 50, PSServers: 50},
		sizes:    []int{50, 100, 200, 300}, seeds: o.seeds,
	}
	if o.small {
		s.settings = primaldual.Workload{Slots: 30, WorkerServers: 8, PSServers: 8}
		s.sizes = []int{10, 20, 30, 40}
	}
	return s
}

// workload draws a workload.
func (s *study) workload(size, seed int) *workload {
	settings := s.settings
	settings.Jobs = s.sizes[size]
	rng := rand.New(rand.NewPCG(uint64(seed), uint64(settings.Jobs)))
	cluster, jobs := settings.Draw(rng)
	return &workload{cluster, jobs, drawWorkers(rng, len(jobs))}
}

// policy returns the policy with a place in policyNames; bounds are those of OASiS.
func policy(place int, bounds *primaldual.Bounds) sim.Policy {
	return []sim.Policy{
		&policies.OASiS{Bounds: bounds}, &policies.OASiS{Label: policyNames[1], Bounds: bounds},
		policies.DormInSlots(embedded.New(&embedded.Options{Effort: dormEffort})), &policies.DRF{}, &policies.RRH{},
		&policies.FIFO{}, &policies.FIFO{Backfill: true}, &policies.Deadline{},
	}[place]
}

// secondBounds returns the bounds of a second run: those that the total utility of a run of OASiS by
// itself allows.
func secondBounds(ctx context.Context, w *workload, options primaldual.BoundsOptions) (primaldual.Bounds, error) {
	first, err := primaldual.BoundsOf(w.cluster, w.jobs, nil)
	if err != nil {
		return first, err
	}
	_, result, err := w.run(ctx, &policies.OASiS{Bounds: &first})
	if err != nil {
		return first, err
	}
	options.Reached = result.Worth()
	return primaldual.BoundsOf(w.cluster, w.jobs, &options)
}

// playOne plays a workload under one policy; under OASiS it also certifies a bound.
func playOne(ctx context.Context, w *workload, place int) (*played, error) {
	bounds, err := primaldual.BoundsOf(w.cluster, w.jobs, nil)
	if place == 1 {
		bounds, err = secondBounds(ctx, w, primaldual.BoundsOptions{})
	}
	if err != nil {
		return nil, err
	}
	of := policy(place, &bounds)
	scenario, result, err := w.run(ctx, of)
	if err != nil {
		return nil, err
	}
	p := newPlayed(w.jobs, scenario, result)
	if d, ok := of.(*policies.Deadline); ok {
		p.unplaced = float64(d.Unplaced) / float64(max(1, d.Planned))
	}
	p.alpha = bounds.Alpha()
	if place > 0 {
		return p, nil
	}
	ledger, err := sim.Ledger(scenario, result, &bounds)
	if err != nil {
		return nil, err
	}
	certificate, err := primaldual.Certify(ledger, w.jobs, p.total, &primaldual.CertificateOptions{Steps: certificateSteps})
	p.bound = certificate.Bound
	return p, err
}

// newPlayed returns what the study keeps of a run.
// A job that was refused or did not end has completion 0 and, in general, utility 0.
func newPlayed(jobs []primaldual.Job, scenario *sim.Scenario, result *sim.Result) *played {
	p := &played{jobs: jobs, total: result.Worth()}
	for i := range result.Jobs {
		p.utility = append(p.utility, result.Jobs[i].Worth)
		p.completion = append(p.completion, int(result.Jobs[i].Completion/scenario.Slot))
	}
	p.gpus = result.Mean(0, scenario.Horizon, func(s *sim.Sample) float64 { return s.Utilization[0] })
	return p
}

// play makes all runs, the largest first, so that no processor is left with a long run at the end.
func (s *study) play(ctx context.Context, stderr io.Writer) error {
	last := len(s.sizes) - 1
	runs, err := command.Grid(ctx, [2]int{len(s.sizes) * s.seeds, len(policyNames)}, stderr, "simulating", func(ctx context.Context, row, place int) (*played, error) {
		return playOne(ctx, s.workload(last-row/s.seeds, row%s.seeds), place)
	})
	for size := range s.sizes {
		s.runs = append(s.runs, runs[(last-size)*s.seeds:][:s.seeds])
	}
	return err
}
