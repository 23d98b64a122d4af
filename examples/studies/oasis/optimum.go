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
	"github.com/apportion/apportion/internal/slotsim"
	"github.com/apportion/apportion/primaldual"
)

// Tiny workloads: what branch and bound proves optimal in a fraction of a second.
const (
	tinySlots = 4
	tinyJobs  = 5
	tinyNodes = 20_000
)

// tinyScenario draws a workload with one worker server and one parameter-server server.
func tinyScenario(seed int) *slotsim.Scenario {
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
	return &slotsim.Scenario{Cluster: cluster, Jobs: jobs, Workers: slotsim.DrawWorkers(rng, len(jobs))}
}

// reportOptimum prints how far policies are from the offline optimum, over all tiny workloads.
func reportOptimum(ctx context.Context, w io.Writer, n int) error {
	var second primaldual.Bounds
	policies := []slotsim.Policy{slotsim.OASiS{}, slotsim.OASiS{Label: policyNames[1], Bounds: &second}, slotsim.RRH{}, slotsim.DRF{}, slotsim.FIFO{}, slotsim.FIFO{Backfill: true}}
	ratios := make([][]float64, len(policies)+1)
	worthless := 0
	for seed := range n {
		scenario := tinyScenario(seed)
		bounds, err := primaldual.BoundsOf(scenario.Cluster, scenario.Jobs, nil)
		if err != nil {
			return err
		}
		if second, err = secondBounds(ctx, scenario, primaldual.BoundsOptions{}); err != nil {
			return err
		}
		optimum, ok, err := offlineOptimum(ctx, scenario)
		if err != nil {
			return err
		}
		if !ok || optimum == 0 {
			worthless++
			continue
		}
		for place, p := range policies {
			result, err := slotsim.Run(ctx, scenario, &bounds, p)
			if err != nil {
				return err
			}
			ratios[place] = append(ratios[place], result.Total/optimum)
			if place > 0 {
				continue
			}
			certificate, err := primaldual.Certify(result.Ledger, scenario.Jobs, result.Total, nil)
			if err != nil {
				return err
			}
			ratios[len(policies)] = append(ratios[len(policies)], certificate.Bound/optimum)
		}
	}
	fmt.Fprintf(w, "Part of the offline optimum: %d tiny workloads of %d jobs in %d slots, %d of them left out as worthless or unproven.\n",
		n, tinyJobs, tinySlots, worthless)
	table := newTable(w)
	fmt.Fprintln(table, "policy\tmean\tmedian\tleast\toptimal\toptimum over policy, mean where it earns")
	for place, p := range policies {
		reportRatio(table, p.Name(), ratios[place])
	}
	reportRatio(table, "certified bound", ratios[len(policies)])
	flush(table)
	return nil
}

// offlineOptimum returns the greatest total utility, and whether it is proven.
func offlineOptimum(ctx context.Context, scenario *slotsim.Scenario) (float64, bool, error) {
	offline, err := primaldual.NewOffline(scenario.Cluster, scenario.Jobs, nil)
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
