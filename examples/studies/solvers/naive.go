// This file places containers one by one by first fit decreasing and by best fit, the naive rivals of a solver.

package main

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// naive has an answer and no bound.
func naive(pick func(inst *solver.Instance, left []apportion.Resources, demand apportion.Resources) int) func(context.Context, *solver.Instance, time.Duration) (point, error) {
	return func(_ context.Context, inst *solver.Instance, _ time.Duration) (point, error) {
		var counts solver.Counts
		took, err := timed(func() error { counts = fill(inst, pick); return inst.Check(counts) })
		return point{after: took, objective: inst.Objective(counts), bound: math.Inf(1)}, err
	}
}

// fill places containers one by one, the largest demands first, on the server that pick names, -1: none.
func fill(inst *solver.Instance, pick func(inst *solver.Instance, left []apportion.Resources, demand apportion.Resources) int) solver.Counts {
	order, left := make([]int, len(inst.Apps)), make([]apportion.Resources, len(inst.Capacity))
	for j := range left {
		left[j] = inst.Capacity[j].Clone()
	}
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(inst.Apps[b].Delta, inst.Apps[a].Delta) })
	dense := make([][]int64, len(inst.Apps))
	for _, i := range order {
		dense[i] = make([]int64, len(left))
		for range inst.Apps[i].Max {
			j := pick(inst, left, inst.Apps[i].Demand)
			if j < 0 {
				break
			}
			dense[i][j]++
			for k, d := range inst.Apps[i].Demand {
				left[j][k] -= d
			}
		}
	}
	return sparse(dense)
}

// sparse returns counts by application and server as placements.
func sparse(dense [][]int64) solver.Counts {
	counts := make(solver.Counts, len(dense))
	for i := range dense {
		for j, n := range dense[i] {
			if n > 0 {
				counts[i] = append(counts[i], apportion.Placement{Server: j, Count: n})
			}
		}
	}
	return counts
}

// firstFit picks the first server with room.
func firstFit(_ *solver.Instance, left []apportion.Resources, demand apportion.Resources) int {
	return slices.IndexFunc(left, demand.FitsIn)
}

// bestFit picks the server that has least left, each kind as a part of the cluster.
func bestFit(inst *solver.Instance, left []apportion.Resources, demand apportion.Resources) int {
	best, least := -1, math.Inf(1)
	for j := range left {
		if !demand.FitsIn(left[j]) {
			continue
		}
		rest := 0.0
		for k, total := range inst.Total {
			rest += float64(left[j][k]) / float64(max(1, total))
		}
		if rest < least {
			best, least = j, rest
		}
	}
	return best
}
