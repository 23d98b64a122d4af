// This file declares the jobs of a thesis, and says after which part of its work each has learned.

package noisy

import (
	"fmt"
	"time"

	"github.com/apportion/apportion/examples/internal/trace"
	"github.com/apportion/apportion/placement/sim"
)

// Model is a training job of a thesis, with a recorded run of the same sort of network.
type Model struct {
	Name, Curve string
	// Work is the time on a whole worker, Demand the part of a worker, in (0, 1], that the job can use.
	Work   time.Duration
	Demand float64
}

// NewModel returns a model with these fields.
func NewModel(name, curve string, work time.Duration, demand float64) Model {
	return Model{name, curve, work, demand}
}

// Job returns a job of the model. The simulator stretches the recorded run over the job's work.
func (m *Model) Job(number int, arrival time.Duration) (sim.Job, error) {
	steps, values, err := trace.Recorded(m.Curve)
	if err != nil {
		return sim.Job{}, err
	}
	j := sim.SharedJob(fmt.Sprintf("Job-%02d", number), arrival, m.Work, sim.ShareOf(m.Demand))
	j.Model = m.Name
	j.Curve, err = sim.NewCurve(steps, values)
	return j, err
}

// parts returns the part of its work after which each job of a scenario has learned, by the recorded run of its model.
func (c *Contest) parts(scenario *sim.Scenario) ([]float64, error) {
	curves := map[string]string{}
	for _, m := range c.Models {
		curves[m.Name] = m.Curve
	}
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
