// This file plays the paper's workload under every policy, on all processors.

package main

import (
	"context"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/internal/slotsim"
	"github.com/apportion/apportion/primaldual"
	"github.com/apportion/apportion/primaldual/oasistest"
)

// dormEffort is the search effort of a decision of Dorm, in moves for each server and application.
const dormEffort = 1

// certificateSteps is the number of subgradient steps behind a certified bound.
const certificateSteps = 20

// policyNames are the policies of every study, in the order of the tables. The second is OASiS with L
// raised to what the total utility of the first allows.
var policyNames = []string{"OASiS", "OASiS, 2nd run", "Dorm", "DRF", "RRH", "FIFO", "FIFO+backfill"}

// study is a number of workloads of each size, and what became of them.
type study struct {
	settings oasistest.Settings
	sizes    []int
	seeds    int
	// runs is by size, seed and policy.
	runs [][][]*played
}

// played is one run. Bound, from the run of OASiS, is certified for all policies; alpha is that of
// Theorem 4, of the two settings of OASiS.
type played struct {
	*slotsim.Result
	jobs         []primaldual.Job
	bound, alpha float64
}

func newStudy(o *options) *study {
	s := &study{
		settings: oasistest.Settings{Slots: 100, WorkerServers: 50, PSServers: 50},
		sizes:    []int{50, 100, 200, 300}, seeds: o.seeds,
	}
	if o.small {
		s.settings = oasistest.Settings{Slots: 30, WorkerServers: 8, PSServers: 8}
		s.sizes = []int{10, 20, 30, 40}
	}
	for range s.sizes {
		bySeed := make([][]*played, s.seeds)
		for seed := range bySeed {
			bySeed[seed] = make([]*played, len(policyNames))
		}
		s.runs = append(s.runs, bySeed)
	}
	return s
}

// scenario draws a workload.
func (s *study) scenario(size, seed int) *slotsim.Scenario {
	settings := s.settings
	settings.Jobs = s.sizes[size]
	rng := rand.New(rand.NewPCG(uint64(seed), uint64(settings.Jobs)))
	cluster, jobs := oasistest.Generate(rng, settings)
	return &slotsim.Scenario{Cluster: cluster, Jobs: jobs, Workers: slotsim.DrawWorkers(rng, len(jobs))}
}

// policy returns the policy with a place in policyNames.
func policy(place int) slotsim.Policy {
	return []slotsim.Policy{
		slotsim.OASiS{}, slotsim.OASiS{Label: policyNames[1]},
		slotsim.Dorm3(embedded.New(&embedded.Options{Effort: dormEffort})), slotsim.DRF{}, slotsim.RRH{},
		slotsim.FIFO{}, slotsim.FIFO{Backfill: true},
	}[place]
}

// secondBounds returns the bounds of a second run: those that the total utility of a run of OASiS by
// itself allows.
func secondBounds(ctx context.Context, scenario *slotsim.Scenario, options primaldual.BoundsOptions) (primaldual.Bounds, error) {
	first, err := primaldual.BoundsOf(scenario.Cluster, scenario.Jobs, nil)
	if err != nil {
		return first, err
	}
	result, err := slotsim.Run(ctx, scenario, &first, slotsim.OASiS{})
	if err != nil {
		return first, err
	}
	options.Reached = result.Total
	return primaldual.BoundsOf(scenario.Cluster, scenario.Jobs, &options)
}

// playOne plays a scenario under one policy; under OASiS it also certifies a bound.
func playOne(ctx context.Context, scenario *slotsim.Scenario, place int) (*played, error) {
	bounds, err := primaldual.BoundsOf(scenario.Cluster, scenario.Jobs, nil)
	if place == 1 {
		bounds, err = secondBounds(ctx, scenario, primaldual.BoundsOptions{})
	}
	if err != nil {
		return nil, err
	}
	result, err := slotsim.Run(ctx, scenario, &bounds, policy(place))
	if err != nil {
		return nil, err
	}
	p := &played{Result: result, jobs: scenario.Jobs, alpha: bounds.Alpha()}
	if place > 0 {
		return p, nil
	}
	certificate, err := primaldual.Certify(result.Ledger, scenario.Jobs, result.Total, &primaldual.CertificateOptions{Steps: certificateSteps})
	p.bound = certificate.Bound
	return p, err
}

// play makes all runs, the largest first.
func (s *study) play(ctx context.Context, stderr io.Writer) error {
	type task struct{ size, seed, place int }
	var tasks []task
	for size := len(s.sizes) - 1; size >= 0; size-- {
		for seed := range s.seeds {
			for place := range policyNames {
				tasks = append(tasks, task{size, seed, place})
			}
		}
	}
	return inParallel(len(tasks), stderr, func(i int) (err error) {
		t := tasks[i]
		s.runs[t.size][t.seed][t.place], err = playOne(ctx, s.scenario(t.size, t.seed), t.place)
		return err
	})
}

// inParallel calls do with 0 to n-1 on all processors. It returns the error of the lowest number.
func inParallel(n int, stderr io.Writer, do func(int) error) error {
	tick := command.Progress(stderr, n, "simulating")
	faults := make([]error, n)
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				faults[i] = do(i)
				tick()
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}
