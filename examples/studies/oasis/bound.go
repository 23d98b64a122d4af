// This file bounds what any policy could earn in a window: the linear program of jobs x slots by its dual.

package main

import (
	"cmp"
	"slices"
)

// bound returns an upper bound on what can be earned by jobs known in advance, at most a little above the linear program
//
//	max sum v_jk y_jk; sum_t x_jkt = W_j y_jk; x_jkt <= w_j y_jk in [arrival_j, d_jk]; sum_k y_jk <= 1; sum_jk x_jkt <= C_t.
//
// Any prices of slots give one, by weak duality: the capacity at these prices and each job's best worth less the cheapest way to its
// deadline. Prices follow subgradients with Polyak's steps towards earned, which somebody has reached. Quantities that have no
// worth of their own are left out: a slot's length is one, whatever the interval between two events.
func (w *window) bound(h hardship, earned float64) float64 {
	last := w.last()
	capacity := make([]float64, last+1)
	at := w.capacities(h)
	for t := 1; t <= last; t++ {
		capacity[t] = float64(at(t))
	}
	prices, best, theta, since := make([]float64, last+1), worthOfAll(w.jobs), 1.0, 0
	for range boundSteps {
		dual, slack := w.dual(prices, capacity)
		since++
		if dual < best-1e-7*best {
			best, since = dual, 0
		}
		if since == 10 {
			theta, since = theta/2, 0
		}
		norm := 0.0
		for _, g := range slack {
			norm += float64(g * g)
		}
		if norm == 0 || best <= earned {
			break
		}
		step := theta * max(dual-earned, 1e-3*best) / norm
		for t := range prices {
			prices[t] = max(0, prices[t]-float64(step*slack[t]))
		}
	}
	return best
}

// boundSteps is how often prices are moved.
const boundSteps = 400

// worthOfAll returns the worth of all jobs that end in time.
func worthOfAll(jobs []job) float64 {
	sum := 0.0
	for i := range jobs {
		sum += jobs[i].Deadlines[0].Value
	}
	return sum
}

// dual returns the dual value at prices and what they leave of each slot's capacity, negative where too much is asked for.
func (w *window) dual(prices, capacity []float64) (value float64, slack []float64) {
	slack = slices.Clone(capacity)
	order := make([]int, 0, len(prices))
	for t := 1; t < len(prices); t++ {
		value += float64(prices[t] * capacity[t])
		order = append(order, t)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(prices[a], prices[b]) })
	for i := range w.jobs {
		j := &w.jobs[i]
		most, by := 0.0, 0
		for _, d := range j.Deadlines {
			cost := 0.0
			done := j.cheapest(order, d.By, func(t int, work float64) { cost += float64(prices[t] * work) })
			if done && d.Value-cost > most {
				most, by = d.Value-cost, d.By
			}
		}
		value += most
		if by > 0 {
			j.cheapest(order, by, func(t int, work float64) { slack[t] -= work })
		}
	}
	return value, slack
}

// cheapest visits the slots in which a job does its work, in order of price, and reports whether it can end by then.
func (j *job) cheapest(order []int, by int, visit func(t int, work float64)) bool {
	left := j.Work
	if left > j.Width*int64(by-j.arrival+1) {
		return false
	}
	for _, t := range order {
		if left == 0 {
			break
		}
		if t >= j.arrival && t <= by {
			work := min(left, j.Width)
			visit(t, float64(work))
			left -= work
		}
	}
	return true
}
