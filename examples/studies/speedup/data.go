// This file reads the measured step times.

package main

import (
	"sort"

	"github.com/apportion/apportion/examples/internal/trace"
	"github.com/apportion/apportion/examples/studies/measured"
	"github.com/apportion/apportion/growth/speedup"
)

// job is a model of which steps were measured: on up to 16 containers, by placement, and on up to 64.
// small and wide are by other people on the same machines; only small says where the containers were.
type job struct {
	name        string
	small, wide []speedup.Observation
}

// observation returns a measured step.
func observation(t *trace.StepTime) speedup.Observation {
	return speedup.Observation{Containers: t.GPUs.Value, Servers: t.Nodes.Value,
		Samples: float64(t.GPUs.Value * t.LocalBatch.Value), Seconds: t.Step.Value.Seconds()}
}

// readJobs returns the models by name.
func readJobs() ([]*job, error) {
	byName := map[string]*job{}
	of := func(name string) *job {
		if byName[name] == nil {
			byName[name] = &job{name: name}
		}
		return byName[name]
	}
	for t, err := range measured.Placements() {
		if err != nil {
			return nil, err
		}
		j := of(t.App)
		j.small = append(j.small, observation(&t))
	}
	for t, err := range measured.Scalability() {
		if err != nil {
			return nil, err
		}
		j := of(t.App)
		j.wide = append(j.wide, observation(&t))
	}
	var jobs []*job
	for _, j := range byName {
		jobs = append(jobs, j)
	}
	sort.Slice(jobs, func(a, b int) bool { return jobs[a].name < jobs[b].name })
	return jobs, nil
}

// kind is a type of job on an accelerator, measured on 1, 2, 4 and 8 of them.
type kind struct {
	accelerator, name string
	steps             []speedup.Observation
}

// readTypes returns the types that fit on every number of accelerators, in the order of the file. All containers work on a batch of their
// own, and steps are counted for each.
func readTypes() ([]*kind, error) {
	byName := map[[2]string]*kind{}
	var order []*kind
	for t, err := range measured.Throughputs() {
		if err != nil {
			return nil, err
		}
		key := [2]string{t.GPUModel, t.JobType}
		if byName[key] == nil {
			byName[key] = &kind{accelerator: t.GPUModel, name: t.JobType}
			order = append(order, byName[key])
		}
		if n := t.GPUs.Value; t.StepsPerSecond.Value > 0 {
			byName[key].steps = append(byName[key].steps, speedup.Observation{Containers: n, Servers: 1,
				Samples: float64(n), Seconds: float64(n) / t.StepsPerSecond.Value})
		}
	}
	var whole []*kind
	for _, k := range order {
		if len(k.steps) == 4 {
			whole = append(whole, k)
		}
	}
	return whole, nil
}
