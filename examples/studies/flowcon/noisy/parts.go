// This file says after which part of its work each job of a scenario has learned.

package noisy

import (
	"github.com/apportion/apportion/examples/internal/trace"
	"github.com/apportion/apportion/placement/sim"
)

// Parts returns it for the jobs of a scenario, in their order, by the recorded curves of their models.
func Parts(scenario *sim.Scenario, curves map[string]string) ([]float64, error) {
	var models []string
	for i := range scenario.Jobs {
		models = append(models, scenario.Jobs[i].Model)
	}
	return partsOf(models, curves, trace.Recorded)
}

// partsOf reads each curve once, however many jobs have it.
func partsOf(models []string, curves map[string]string, read func(curve string) (steps, values []float64, err error)) ([]float64, error) {
	known := map[string]float64{}
	var all []float64
	for _, model := range models {
		part, there := known[model]
		if !there {
			steps, values, err := read(curves[model])
			if err != nil {
				return nil, err
			}
			part = Part(steps, values)
			known[model] = part
		}
		all = append(all, part)
	}
	return all, nil
}
