// This file sets up the studies: the paper's workload with long and short durations, and a day of
// a real trace.

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/internal/trace"
	"github.com/apportion/apportion/placement/sim"
)

// shortScale is how much shorter the durations of the short study are. The paper's own counts ask
// for it: see README.md.
const shortScale = 0.5

// baseSettings is the paper's workload with the durations that Fig. 1 suggests.
func baseSettings(o *options) settings {
	return settings{apps: o.apps, median: longMedian, scale: 1, speedup: sim.Linear, cost: sim.AdjustCost}
}

// It is what Fig. 1 of the paper asks for.
func longStudy(o *options) *study {
	return paperStudy(o, "long", "Long applications: 90 % run for more than 6 h under Swarm, median 8 h.", baseSettings(o))
}

// It is what the paper's counts ask for.
func shortStudy(o *options) *study {
	set := baseSettings(o)
	set.scale = shortScale
	return paperStudy(o, "short", "Short applications: the same, each running half as long, median 4 h.", set)
}

// Workloads are numbered from 1: the seed is the number.
func paperStudy(o *options, name, title string, set settings) *study {
	s := newStudy(o, name, title)
	s.paper, s.reading = true, set.reading
	for seed := range o.seeds {
		s.scenarios = append(s.scenarios, paperScenario(set, uint64(seed+1)))
	}
	return s
}

func newStudy(o *options, name, title string) *study {
	return &study{name: name, title: title, measured: o.measured(), solver: o.solver, policies: policyNames}
}

//go:embed data/ms_itp_cluster07.csv
var itpDay []byte

// The rule that makes elastic applications of the trace's jobs. A container is one GPU, the only
// kind of resource that the trace knows.
const (
	// traceJobs is the number of jobs in the extract.
	traceJobs = 77
	// traceServers with traceGPUs each are a cluster on which the day's jobs queue under Swarm.
	traceServers, traceGPUs = 8, 8
	// traceStretch is how many times its own GPUs a job may get, as LR and MF in Table II.
	traceStretch = 4
)

// It has one scenario, and no numbers of the paper.
func traceStudy(o *options) (*study, error) {
	s := newStudy(o, "trace", fmt.Sprintf("A day of a Microsoft training cluster: %d servers of %d GPUs.", traceServers, traceGPUs))
	scenario, err := traceScenario(itpDay, o.apps)
	s.scenarios = []*sim.Scenario{scenario}
	return s, err
}

// traceScenario turns the first n jobs of a trace into applications: a job on g GPUs becomes an
// application of 1 to 4g containers of one GPU (never more than the cluster has), with weight 1 and
// linear speed-up; Swarm gives it g, on which it runs as long as it really did.
func traceScenario(csv []byte, n int) (*sim.Scenario, error) {
	scenario := &sim.Scenario{Kinds: apportion.Kinds{"gpu"}, AdjustCost: sim.AdjustCost}
	for j := range traceServers {
		id := fmt.Sprintf("node-%02d", j+1)
		scenario.Servers = append(scenario.Servers, apportion.Server{ID: id, Capacity: apportion.Resources{traceGPUs}})
	}
	for job, err := range trace.Jobs("ms_itp_cluster07.csv", bytes.NewReader(csv)) {
		if err != nil {
			return nil, err
		}
		if len(scenario.Jobs) == n {
			break
		}
		app, err := elastic(&job)
		if err != nil {
			return nil, err
		}
		scenario.Jobs = append(scenario.Jobs, app)
	}
	return scenario, nil
}

// Rows that cannot be played are errors and not left out: the extract was made to have none.
func elastic(job *trace.Job) (sim.Job, error) {
	gpus, duration := job.GPUs.Value, job.Duration.Value
	if gpus != math.Trunc(gpus) || gpus < 1 || duration < time.Second {
		return sim.Job{}, fmt.Errorf("job %s: %v GPUs for %v cannot be made an application", job.ID, gpus, duration)
	}
	fixed := int64(gpus)
	work, err := sim.WorkOn(sim.Linear, fixed, duration)
	return sim.Job{
		Application: alloc.Application{
			ID:     job.ID,
			Weight: 1,
			Form:   alloc.Form{Demand: apportion.Resources{1}, Max: min(traceStretch*fixed, traceServers*traceGPUs), Min: 1},
		},
		Arrival: job.Submit,
		Fixed:   fixed,
		Work:    work,
	}, err
}
