// This file plays 300 jobs of a real trace with deadlines, chronus_slo.csv.

package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/slotsim"
	"github.com/apportion/apportion/internal/trace"
	"github.com/apportion/apportion/primaldual"
)

//go:embed data/chronus_slo.csv
var chronus []byte

const (
	// traceSlot is the length of a slot, traceSlots the span: the last job arrives after 28 hours.
	traceSlot  = 10 * time.Minute
	traceSlots = 288
	// A job on g GPUs becomes one of up to elastic x g workers of one GPU.
	elastic = 4
	// A parameter server serves up to perPS workers.
	perPS = 4
)

// traceGPUs are the sizes of cluster that the trace is played on, in GPUs; servers have 8.
var traceGPUs = []int{8, 16, 32, 64}

// traceScenario returns the jobs of the trace on a cluster of gpus GPUs.
func traceScenario(gpus int) (*slotsim.Scenario, error) {
	s := &slotsim.Scenario{Cluster: &primaldual.Cluster{Kinds: apportion.Kinds{"gpu", "slot"}, Slots: traceSlots}}
	for h := range gpus / 8 {
		s.Cluster.WorkerServers = append(s.Cluster.WorkerServers, apportion.Server{ID: fmt.Sprint("worker", h), Capacity: apportion.Resources{8, 0}})
		s.Cluster.PSServers = append(s.Cluster.PSServers, apportion.Server{ID: fmt.Sprint("ps", h), Capacity: apportion.Resources{0, 8}})
	}
	for row, err := range trace.Jobs("chronus_slo.csv", bytes.NewReader(chronus)) {
		if err != nil {
			return nil, err
		}
		job, err := traceJob(&row)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", row.ID, err)
		}
		s.Jobs = append(s.Jobs, job)
		s.Workers = append(s.Workers, int64(row.GPUs.Value))
	}
	return s, nil
}

// traceJob turns a row into a job: as many worker-slots as GPU-time in the trace, and the row's value
// if it ends by its deadline. A job that is submitted within a slot arrives in the next.
func traceJob(row *trace.Job) (primaldual.Job, error) {
	deadline, err := strconv.ParseFloat(row.Extra["deadline_s"], 64)
	if err != nil {
		return primaldual.Job{}, err
	}
	value, err := strconv.ParseFloat(row.Extra["value"], 64)
	if err != nil {
		return primaldual.Job{}, err
	}
	gpus := int64(row.GPUs.Value)
	arrival := int((row.Submit + traceSlot - 1) / traceSlot)
	end := int((row.Submit.Seconds() + deadline) / traceSlot.Seconds()) // whole slots before the deadline
	var utility primaldual.Utility = primaldual.Steps{{Within: end - arrival - 1, Value: value}}
	if arrival = arrival + 1; end < arrival {
		utility = primaldual.Sigmoid{}
	}
	return primaldual.Job{
		ID: row.ID, Arrival: arrival, Epochs: 1, Chunks: elastic * gpus, Minibatches: 1,
		MinibatchSlots:  row.Duration.Value.Seconds() / traceSlot.Seconds() / elastic,
		WorkerBandwidth: 1, PSBandwidth: perPS,
		Worker: apportion.Resources{1, 0}, PS: apportion.Resources{0, 1}, Utility: utility,
	}, nil
}

// runTrace prints how many deadlines each policy meets, on clusters of several sizes.
func runTrace(ctx context.Context, stdout, stderr io.Writer) error {
	runs := make([][]*played, len(traceGPUs))
	for i := range runs {
		runs[i] = make([]*played, len(policyNames))
	}
	err := inParallel(len(traceGPUs)*len(policyNames), stderr, func(task int) error {
		size, place := task/len(policyNames), task%len(policyNames)
		scenario, err := traceScenario(traceGPUs[size])
		if err != nil {
			return err
		}
		runs[size][place], err = playOne(ctx, scenario, place, primaldual.BoundsOptions{})
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "Deadlines met and GPUs taken: %d jobs of the Chronus trace, %d slots of %v.\n", len(runs[0][0].jobs), traceSlots, traceSlot)
	table := newTable(stdout)
	fmt.Fprint(table, "policy")
	for _, gpus := range traceGPUs {
		fmt.Fprintf(table, "\t%d GPUs\t", gpus)
	}
	fmt.Fprintln(table)
	for place, name := range policyNames {
		fmt.Fprint(table, name)
		for size := range traceGPUs {
			run := runs[size][place]
			met := 0
			for _, utility := range run.Utility {
				if utility > 0 {
					met++
				}
			}
			fmt.Fprintf(table, "\t%s\t%.0f %%", percent(met, len(run.Utility)), 100*run.Usage[primaldual.Workers][0])
		}
		fmt.Fprintln(table)
	}
	fmt.Fprint(table, "certified bound")
	for size := range traceGPUs {
		fmt.Fprintf(table, "\t%.0f %%\t", 100*runs[size][0].bound/traceWorth(runs[size][0].jobs))
	}
	fmt.Fprintln(table)
	flush(table)
	return nil
}

// traceWorth returns what all jobs are worth together if they end in time.
func traceWorth(jobs []primaldual.Job) float64 {
	worth := 0.0
	for i := range jobs {
		worth += jobs[i].Utility.Value(0)
	}
	return worth
}
