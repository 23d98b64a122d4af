// This file implements the samples of a simulation, [Dorm eqs. (1), (2), (4)].

package sim

import (
	"slices"

	"github.com/apportion/apportion"
)

// sample adds the state of the cluster to the result: after each decision, and where the use of
// resources has changed without one, as when a job resumes on a Shared worker.
func (c *cluster) sample(decided bool) (err error) {
	s := Sample{At: c.now, Utilization: c.utilization()}
	// A first sample exists before any change without a decision: nothing runs before the first decision.
	samples := c.result.Samples
	if !decided && slices.Equal(s.Utilization, samples[len(samples)-1].Utilization) {
		return nil
	}
	// Sums go in the order of kinds and jobs, so that a second run rounds alike.
	for _, u := range s.Utilization {
		s.Total += u // (1)
	}
	for _, j := range c.jobs {
		if j.holds() {
			s.Running++
		}
	}
	s.Waiting = len(c.jobs) - s.Running
	if decided {
		s.Adjusted = c.adjusted // (4)
	}
	// The same jobs with the same containers have the same losses.
	if last := len(samples) - 1; decided && !c.changed && last >= 0 && slices.Equal(s.Utilization, samples[last].Utilization) {
		s.FairnessLoss, s.RunningLoss = samples[last].FairnessLoss, samples[last].RunningLoss
	} else {
		s.FairnessLoss, s.RunningLoss, err = c.law.loss(c.scenario, c.jobs, &c.due) // (2)
	}
	c.changed = false
	c.result.Samples = append(samples, s)
	return err
}

// utilization returns the part of each kind that is in use; where there are parameter servers, first
// those of the servers and then those of the parameter servers.
func (c *cluster) utilization() []float64 {
	kinds := len(c.scenario.Kinds)
	// Quantities are added up exactly and divided once, so that the order of the jobs leaves no trace.
	used := [2]apportion.Resources{make(apportion.Resources, kinds), make(apportion.Resources, kinds)}
	for _, j := range c.jobs {
		addUp(used[0], c.law.used(j))
		if j.Training != nil {
			addUp(used[1], times(count(j.ps), j.Training.PS))
		}
	}
	parts := ratios(used[0], c.total[0])
	if len(c.scenario.ParameterServers) > 0 {
		parts = append(parts, ratios(used[1], c.total[1])...)
	}
	return parts
}

// addUp adds what is in use; it fits the servers, so nothing overflows.
func addUp(sum, used apportion.Resources) {
	for k, q := range used {
		sum[k] += q
	}
}

// ratios returns used over total, 0 for a kind of which there is nothing.
func ratios(used, total apportion.Resources) []float64 {
	parts := make([]float64, len(used))
	for k, q := range used {
		if total[k] > 0 {
			parts[k] = float64(q) / float64(total[k])
		}
	}
	return parts
}
