// This file compares OASiS with the offline optimum on tiny workloads, [OASiS] §5.

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
	"github.com/apportion/apportion/primaldual"
)

// Tiny workloads: what branch and bound proves optimal in a fraction of a second.
// Five jobs in four slots have some hundred integer variables.
const (
	tinySlots = 4
	tinyJobs  = 5
	tinyNodes = 20_000
)

// tinyWorkload draws a workload with one worker server and one parameter-server server.
// The ranges are such that one job can take most of a server, which makes the comparison hard for
// everybody.
func tinyWorkload(seed int) *workload {
	rng := rand.New(rand.NewPCG(uint64(seed), 77))
	between := func(low, high int64) int64 { return low + rng.Int64N(high-low+1) }
	cluster := &primaldual.Cluster{
		Kinds: apportion.Kinds{"gpu", "cpu"}, Slots: tinySlots,
		WorkerServers: []apportion.Server{{ID: "worker", Capacity: apportion.Resources{between(4, 6), between(12, 20)}}},
		PSServers:     []apportion.Server{{ID: "ps", Capacity: apportion.Resources{0, between(6, 10)}}},
	}
	var jobs []primaldual.Job
	for range tinyJobs {
		job := primaldual.Job{
			Arrival: int(between(1, tinySlots)), Epochs: between(1, 3), Chunks: between(2, 4), Minibatches: 1,
			MinibatchSlots: 0.25 + 0.5*rng.Float64(), WorkerBandwidth: 1, PSBandwidth: between(1, 3),
			Worker: apportion.Resources{between(0, 2), between(1, 5)}, PS: apportion.Resources{0, between(1, 3)},
			Utility: primaldual.Sigmoid{
				Gamma1: 1 + 99*rng.Float64(), Gamma2: []float64{0, 0.5, 1, 5}[rng.IntN(4)], Gamma3: float64(between(1, 3)),
			},
		}
		jobs = append(jobs, job)
	}
	slices.SortStableFunc(jobs, func(a, b primaldual.Job) int { return a.Arrival - b.Arrival })
	for i := range jobs {
		jobs[i].ID = fmt.Sprint("job", i)
	}
	return &workload{cluster, jobs, drawWorkers(rng, len(jobs))}
}

// reportOptimum prints how far policies are from the offline optimum, over all tiny workloads.
// Ratios are averaged over workloads; a run that earns nothing counts as 0 in the mean of the parts and not
// at all in that of the inverse.
func reportOptimum(ctx context.Context, w io.Writer, n int) error {
	// Dorm is left out, as its decisions need previous ones to be worth anything.
	const shown = 7 // of the policies
	ratios, names := make([][]float64, shown+1), make([]string, shown)
	worthless := 0
	for seed := range n {
		tiny := tinyWorkload(seed)
		bounds, err := primaldual.BoundsOf(tiny.cluster, tiny.jobs, nil)
		if err != nil {
			return err
		}
		second, err := secondBounds(ctx, tiny, primaldual.BoundsOptions{})
		if err != nil {
			return err
		}
		optimum, ok, err := offlineOptimum(ctx, tiny)
		if err != nil {
			return err
		}
		// Nothing can be said where nothing can be earned, or where the search was cut off.
		if !ok || optimum == 0 {
			worthless++
			continue
		}
		for place, p := range []sim.Policy{&policies.OASiS{Bounds: &bounds}, &policies.OASiS{Label: policyNames[1], Bounds: &second},
			&policies.RRH{}, &policies.DRF{}, &policies.FIFO{}, &policies.FIFO{Backfill: true}, &policies.Deadline{}} {
			scenario, result, err := tiny.run(ctx, p)
			if err != nil {
				return err
			}
			names[place] = p.Name()
			ratios[place] = append(ratios[place], result.Worth()/optimum)
			if place > 0 {
				continue
			}
			ledger, err := sim.Ledger(scenario, result, &bounds)
			if err != nil {
				return err
			}
			certificate, err := primaldual.Certify(ledger, tiny.jobs, result.Worth(), nil)
			if err != nil {
				return err
			}
			ratios[shown] = append(ratios[shown], certificate.Bound/optimum)
		}
	}
	fmt.Fprintf(w, "Part of the offline optimum: %d tiny workloads of %d jobs in %d slots, %d of them left out as worthless or unproven.\n",
		n, tinyJobs, tinySlots, worthless)
	table := command.NewTable(w)
	fmt.Fprintln(table, "policy\tmean\tmedian\tleast\toptimal\toptimum over policy, mean where it earns")
	for place, name := range names {
		reportRatio(table, name, ratios[place])
	}
	reportRatio(table, "certified bound", ratios[shown])
	table.End()
	return nil
}

// offlineOptimum returns the greatest total utility, and whether it is proven.
func offlineOptimum(ctx context.Context, w *workload) (float64, bool, error) {
	offline, err := primaldual.NewOffline(w.cluster, w.jobs)
	if err != nil {
		return 0, false, err
	}
	solution, err := milp.Solve(ctx, &bb.Solver{}, offline.Model, &milp.Options{NodeLimit: tinyNodes})
	if err != nil {
		return 0, false, err
	}
	return solution.Objective, solution.Status == milp.Optimal, nil
}

// nearlyAll is the part of the optimum from which a run counts as optimal; the rest is rounding.
const nearlyAll = 1 - 1e-6

// It sorts ratios in place.
func reportRatio(table io.Writer, name string, ratios []float64) {
	if len(ratios) == 0 {
		return
	}
	slices.Sort(ratios)
	mean, _ := meanAndSpread(ratios)
	optimal, inverse := 0, []float64(nil)
	for _, r := range ratios {
		if r >= nearlyAll {
			optimal++
		}
		if r > 0 {
			inverse = append(inverse, 1/r)
		}
	}
	factor, _ := meanAndSpread(inverse)
	fmt.Fprintf(table, "%s\t%.3f\t%.3f\t%.3f\t%s\t%.2f\n", name, mean, ratios[len(ratios)/2], ratios[0], percent(optimal, len(ratios)), factor)
}
