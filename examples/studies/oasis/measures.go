// This file computes what the tables and figures show of a study.

package main

import (
	"math"
	"slices"

	"github.com/apportion/apportion/primaldual"
)

// meanAndSpread returns the mean and the standard deviation of a sample; the latter is 0 for one value
// or none, of which the mean is NaN.
// The spread is that of a sample: n - 1 in the denominator. Products are rounded before they are added, so
// that all machines print the same.
func meanAndSpread(values []float64) (mean, spread float64) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	if len(values) < 2 {
		return mean, 0
	}
	for _, v := range values {
		spread += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(spread / float64(len(values)-1))
}

// each returns a measure of the runs of a size by seed.
func (s *study) each(size int, of func(runs []*played) float64) []float64 {
	var values []float64
	for _, runs := range s.runs[size] {
		values = append(values, of(runs))
	}
	return values
}

// totals returns the total utility of a policy by seed.
func (s *study) totals(size, place int) []float64 {
	return s.each(size, func(runs []*played) float64 { return runs[place].total })
}

// bounds returns the certified bound by seed.
func (s *study) bounds(size int) []float64 {
	return s.each(size, func(runs []*played) float64 { return runs[0].bound })
}

// wins returns in how many workloads of a size the policy earns more than every policy of others.
func (s *study) wins(size, place int, others []int) int {
	n := 0
	for _, runs := range s.runs[size] {
		if !slices.ContainsFunc(others, func(other int) bool { return runs[other].total >= runs[place].total }) {
			n++
		}
	}
	return n
}

// lead returns the total utility of a policy over that of the best baseline; 1 where both are 0,
// infinite where only the baselines earn nothing.
func (s *study) lead(size, seed, place int) float64 {
	runs, best := s.runs[size][seed], 0.0
	for _, other := range baselines {
		best = max(best, runs[other].total)
	}
	if own := runs[place].total; own > 0 || best > 0 {
		return own / best
	}
	return 1
}

// class is how much a job cares for time.
// The paper's Table draws gamma2 of the utility from three ranges: 0, 0.01 to 1, and 4 to 6.
type class int

const (
	insensitive class = iota
	sensitive
	critical
)

// classOf returns the class of a job of the paper's workload, by gamma2.
func classOf(job *primaldual.Job) class {
	switch gamma2 := job.Utility.(primaldual.Sigmoid).Gamma2; {
	case gamma2 == 0:
		return insensitive
	case gamma2 <= 1:
		return sensitive
	}
	return critical
}

// lateness returns completion less target, in slots, of the jobs of a class that ended under a policy,
// ascending, in all workloads of a size; and how many jobs of the class there are.
// The target is Gamma3 of the utility, in slots after the arrival.
func (s *study) lateness(size, place int, of class) (late []float64, jobs int) {
	for _, runs := range s.runs[size] {
		run := runs[place]
		for i := range run.jobs {
			job := &run.jobs[i]
			if classOf(job) != of {
				continue
			}
			jobs++
			if run.completion[i] > 0 {
				late = append(late, float64(run.completion[i]-job.Arrival)-job.Utility.(primaldual.Sigmoid).Gamma3)
			}
		}
	}
	slices.Sort(late)
	return late, jobs
}

// atMost returns how many of ascending values are at most limit.
func atMost(values []float64, limit float64) int {
	n, _ := slices.BinarySearchFunc(values, limit, func(v, limit float64) int {
		if v <= limit {
			return -1
		}
		return 1
	})
	return n
}
