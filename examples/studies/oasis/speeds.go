// This file plays windows in which speed is not linear, and asks what it costs to plan as if it were. Jobs scale as measured
// training jobs do; FIFO, DRF, RRH and Dorm divide the cluster without looking at speeds.

package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/growth/speedup"
	"github.com/apportion/apportion/internal/trace"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
	"github.com/apportion/apportion/primaldual"
)

// The units are whole numbers, so that they must be finer than the workers.
const (
	// perServer is the number of GPUs of a server, on which a job's first workers stand together.
	perServer = 8
	// fineness is the number of units of a job with measured speeds in a worker-slot.
	fineness = 100
)

// readSpeeds returns the fitted curves of the models in a folder of measured step times, by name.
// All measurements of a model are fitted together, by placement and by count; models come in the order of
// their names.
func readSpeeds(folder string) ([]*speedup.Curve, error) {
	byName := map[string][]speedup.Observation{}
	for _, source := range []struct {
		name string
		read func(string, io.Reader) iter.Seq2[trace.StepTime, error]
	}{{"pollux_placements.csv.gz", trace.Placements}, {"pollux_scalability.csv.gz", trace.Scalability}} {
		file, err := os.Open(filepath.Join(folder, source.name))
		if err != nil {
			return nil, err
		}
		defer file.Close()
		for t, err := range source.read(source.name, file) {
			if err != nil {
				return nil, err
			}
			byName[t.App] = append(byName[t.App], speedup.Observation{Containers: t.GPUs.Value, Servers: t.Nodes.Value,
				Samples: float64(t.GPUs.Value * t.LocalBatch.Value), Seconds: t.Step.Value.Seconds()})
		}
	}
	var curves []*speedup.Curve
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		curve, err := speedup.Fit(byName[name], nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		curves = append(curves, curve)
	}
	return curves, nil
}

// scaled returns the speed of a job by its workers, in workers: it is that of its trace on as many as it had there, which is
// what a linear plan takes for granted, and on others it follows the curve.
// had is at most the most workers that the job can have; speeds[0] is 0.
func scaled(curve *speedup.Curve, had, most int64) ([]float64, error) {
	counts := make([]int64, most+1)
	for n := range counts {
		counts[n] = int64(n)
	}
	speeds, err := curve.Speeds(counts, perServer)
	if err != nil {
		return nil, err
	}
	unit := float64(had) / speeds[had]
	for n := range speeds {
		speeds[n] *= unit
	}
	return speeds, nil
}

// measured is a workload whose jobs scale as curves say: speeds[i][n] is the speed of job i on n workers, stated[i] the job
// that states them.
// Embedding keeps the cluster, the jobs as linear ones, and the rivals' workers.
type measured struct {
	*workload
	speeds [][]float64
	stated []primaldual.Job
}

// measure gives the jobs of a workload the curves in turn.
// Curves go round, so that every model is every third job.
func measure(load *workload, curves []*speedup.Curve) (*measured, error) {
	m := &measured{workload: load}
	for i := range load.jobs {
		speeds, err := scaled(curves[i%len(curves)], min(load.workers[i], load.jobs[i].Chunks), load.jobs[i].Chunks)
		if err != nil {
			return nil, err
		}
		m.speeds = append(m.speeds, speeds)
		m.stated = append(m.stated, stating(&load.jobs[i], speeds))
	}
	return m, nil
}

// earns returns what a policy earns.
// The simulator runs jobs by the curves whatever the policy believes.
func (m *measured) earns(ctx context.Context, policy sim.Policy) (float64, error) {
	scenario, err := sim.FromSlots(m.cluster, m.jobs, m.workers, slotLength)
	if err != nil {
		return 0, err
	}
	for i := range scenario.Jobs {
		speeds := m.speeds[i]
		scenario.Jobs[i].Speedup = func(n int64) float64 { return speeds[n] }
	}
	result, err := sim.Run(ctx, scenario, policy)
	if err != nil {
		return 0, err
	}
	return result.Worth(), nil
}

// stating returns a job that states its speeds: a way for every number of workers that is faster than all smaller ones. Units
// are rounded so that no plan promises more than there is.
// A number that is no faster than a smaller one would only cost more.
func stating(j *primaldual.Job, speeds []float64) primaldual.Job {
	out := primaldual.Job{ID: j.ID, Arrival: j.Arrival, Units: j.WorkerSlots() * fineness, Worker: j.Worker, PS: j.PS, Utility: j.Utility}
	fastest := int64(0)
	for n := int64(1); n <= j.Chunks; n++ {
		if units := int64(math.Floor(fineness * speeds[n])); units > fastest {
			out.Speeds = append(out.Speeds, primaldual.Speed{Workers: n, PS: j.PSFor(n), Units: units})
			fastest = units
		}
	}
	return out
}

// planner is a policy of the windows with measured speeds.
// It is a contender that is made from measured speeds.
type planner struct {
	name  string
	make  func(m *measured) sim.Policy
	rival bool
}

// planners are the policies in the order of the table. The first two differ in nothing but what they believe of speeds, and so
// do the next two.
var planners = []planner{
	{name: "learnt prices, speeds known", make: func(m *measured) sim.Policy { return m.learns(2, true) }},
	{name: "learnt prices, linear", make: func(m *measured) sim.Policy { return m.learns(2, false) }},
	{name: "promises kept, speeds known", make: func(m *measured) sim.Policy { return m.learns(0, true) }},
	{name: "promises kept, linear", make: func(m *measured) sim.Policy { return m.learns(0, false) }},
	{name: "earliest deadline", rival: true, make: func(*measured) sim.Policy {
		return &learned{learning: primaldual.Learning{Refuse: -1}, rigid: true}
	}},
	{name: "DRF", rival: true, make: func(*measured) sim.Policy { return &policies.DRF{} }},
	{name: "Dorm", rival: true, make: func(*measured) sim.Policy {
		return policies.DormInSlots(embedded.New(&embedded.Options{Effort: dormEffort}))
	}},
	{name: "RRH", rival: true, make: func(*measured) sim.Policy { return &policies.RRH{} }},
	{name: "FIFO", rival: true, make: func(*measured) sim.Policy { return &policies.FIFO{} }},
	{name: "FIFO+backfill", rival: true, make: func(*measured) sim.Policy { return &policies.FIFO{Backfill: true} }},
}

// learns returns a policy with learnt prices, a factor of displacement, and speeds that it knows or takes for linear. It plans
// again, slot by slot, what is left of jobs that do not run as believed.
// A displace of 0 keeps every promise.
func (m *measured) learns(displace float64, known bool) sim.Policy {
	l := &learned{learning: primaldual.Learning{Displace: displace}, corrects: true}
	if known {
		l.believes = func(job *sim.JobState) primaldual.Job { return m.stated[job.Index] }
	}
	return l
}

// runSpeeds plays the windows at measured speeds and prints the ratios.
// Only every so manieth window is played, as each decision takes longer with a way for every number of
// workers.
func runSpeeds(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	curves, err := readSpeeds(o.speeds)
	if err != nil {
		return err
	}
	windows, err := readWindows(o.windows, o.gpus)
	if err != nil {
		return err
	}
	var results []result
	for i := 0; i < len(windows); i += o.every {
		results = append(results, result{window: &windows[i], worth: make([]float64, len(planners))})
	}
	n := len(planners)
	err = command.InParallel(ctx, len(results)*n, stderr, "playing", func(ctx context.Context, task int) error {
		r := &results[task/n]
		load, err := r.workload()
		if err != nil {
			return err
		}
		m, err := measure(load, curves)
		if err != nil {
			return err
		}
		r.worth[task%n], err = m.earns(ctx, planners[task%n].make(m))
		return err
	})
	if err != nil {
		return err
	}
	reportSpeeds(stdout, curves, results)
	return nil
}

// reportSpeeds prints the curves and the ratios.
func reportSpeeds(w io.Writer, curves []*speedup.Curve, results []result) {
	for _, curve := range curves {
		fmt.Fprint(w, "Speed on 8, 16, 40 and 64 GPUs, of linear:")
		speeds, err := curve.Speeds([]int64{8, 16, 40, 64}, perServer)
		if err != nil {
			fmt.Fprintln(w, err)
			continue
		}
		for i, n := range []float64{8, 16, 40, 64} {
			fmt.Fprintf(w, " %.2f", speeds[i]/n)
		}
		fmt.Fprintln(w)
	}
	rival := func(r *result) float64 {
		best := 0.0
		for i := range planners {
			if planners[i].rival {
				best = max(best, r.worth[i])
			}
		}
		return best
	}
	fmt.Fprintf(w, "Total utility over that of the best rival: %d windows of real traces at measured speeds.\n", len(results))
	table := newTable(w)
	fmt.Fprintln(table, "policy\tleast\tquartile\tmedian\tquartile\tmost\tgeometric mean\tahead or level")
	for i := range planners {
		reportWindowRatios(table, planners[i].name, results, func(r *result) float64 { return ratio(r.worth[i], rival(r)) })
	}
	for _, i := range []int{1, 3} {
		reportWindowRatios(table, planners[i].name+", over speeds known", results, func(r *result) float64 { return ratio(r.worth[i], r.worth[i-1]) })
	}
	flush(table)
}
