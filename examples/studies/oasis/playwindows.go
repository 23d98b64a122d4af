// This file plays windows of real traces under all policies.

package main

import (
	"context"
	"io"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
	"github.com/apportion/apportion/primaldual"
)

// contender is a policy of the windows.
// make is called once for each window, on the processor that plays it.
type contender struct {
	name string
	make func(w *workload) (sim.Policy, error)
	// rival: one of those whose best result the ratios are to.
	rival bool
}

// contenders are the policies in the order of the tables. Rivals run jobs as the papers have it; earliest deadline with
// elastic jobs is the same algorithm as the first but for its prices and displacement.
var contenders = []contender{
	{name: "learnt prices, displacing", make: learns(primaldual.Learning{Displace: 2}, false)},
	// Refuse -1 turns prices off: whoever can be done in time is admitted.
	{name: "earliest deadline, elastic", make: learns(primaldual.Learning{Refuse: -1}, false)},
	{name: "learnt prices, promises kept", make: learns(primaldual.Learning{}, false)},
	{name: "earliest deadline", make: learns(primaldual.Learning{Refuse: -1}, true), rival: true},
	{name: "DRF", make: always(func() sim.Policy { return &policies.DRF{} }), rival: true},
	{name: "Dorm", make: always(func() sim.Policy {
		return policies.DormInSlots(embedded.New(&embedded.Options{Effort: dormEffort}))
	}), rival: true},
	{name: "RRH", make: always(func() sim.Policy { return &policies.RRH{} }), rival: true},
	{name: "FIFO", make: always(func() sim.Policy { return &policies.FIFO{} }), rival: true},
	{name: "FIFO+backfill", make: always(func() sim.Policy { return &policies.FIFO{Backfill: true} }), rival: true},
	{name: "bounds of all jobs", make: func(w *workload) (sim.Policy, error) {
		bounds, err := primaldual.BoundsOf(w.cluster, w.jobs, nil)
		return &policies.OASiS{Bounds: &bounds}, err
	}},
}

// learns makes policies with learnt prices.
func learns(learning primaldual.Learning, rigid bool) func(*workload) (sim.Policy, error) {
	return func(*workload) (sim.Policy, error) { return &learned{learning: learning, rigid: rigid}, nil }
}

// always makes policies that do not depend on the workload.
func always(make func() sim.Policy) func(*workload) (sim.Policy, error) {
	return func(*workload) (sim.Policy, error) { return make(), nil }
}

// result is a window played by all.
// worth is filled in by as many tasks as there are contenders, each in its place.
type result struct {
	*window
	// worth is by contender what it earned; most is what all jobs together are worth if they end at once.
	worth []float64
	most  float64
	// bound is what no policy could have exceeded, knowing all jobs from the start.
	bound float64
}

// playWindows plays every windows[i] with i a multiple of every.
// The work is windows times contenders, in tasks of seconds.
func playWindows(ctx context.Context, stderr io.Writer, windows []window, every int) ([]result, error) {
	var results []result
	for i := 0; i < len(windows); i += every {
		results = append(results, result{window: &windows[i], worth: make([]float64, len(contenders))})
	}
	n := len(contenders)
	err := command.InParallel(ctx, len(results)*n, stderr, "playing", func(ctx context.Context, task int) error {
		r, c := &results[task/n], &contenders[task%n]
		load, err := r.workload()
		if err != nil {
			return err
		}
		policy, err := c.make(load)
		if err != nil {
			return err
		}
		scenario, run, err := load.run(ctx, policy)
		if err != nil {
			return err
		}
		r.worth[task%n] = run.Worth()
		// The first contender's task also certifies, as a good run gives good prices.
		if task%n > 0 {
			return nil
		}
		r.most = traceWorth(load.jobs)
		r.bound, err = certified(load, scenario, run)
		return err
	})
	return results, err
}

// certified returns a bound on what any policy could have earned: the dual value at the prices of a run, improved in some
// steps. A run that displaces jobs has done work for nothing, which only raises prices; any prices give a bound.
// It is computed from any run's prices: weak duality needs no more.
func certified(load *workload, scenario *sim.Scenario, run *sim.Result) (float64, error) {
	// Then the bound is what all jobs are worth.
	if most := traceWorth(load.jobs); run.Worth() >= most {
		return most, nil // everything was earned, there is nothing to search
	}
	// Reached keeps the prices from starting so low that the bound says nothing.
	bounds, err := primaldual.BoundsOf(load.cluster, load.jobs, &primaldual.BoundsOptions{Reached: run.Worth()})
	if err != nil {
		return 0, err
	}
	ledger, err := sim.Ledger(scenario, run, &bounds)
	if err != nil {
		return 0, err
	}
	certificate, err := primaldual.Certify(ledger, load.jobs, run.Worth(), &primaldual.CertificateOptions{Steps: certificateSteps})
	return certificate.Bound, err
}

// rival returns the most that any rival earned.
// It is 0 where no rival earned anything, and ratio then says infinity.
func (r *result) rival() float64 {
	best := 0.0
	for i := range contenders {
		if contenders[i].rival {
			best = max(best, r.worth[i])
		}
	}
	return best
}

// ratio returns what a contender earned over a reference; 1 where both earned nothing.
// The reference may be 0 and own not, which is infinity.
func ratio(own, reference float64) float64 {
	if own == 0 && reference == 0 {
		return 1
	}
	return own / reference
}
