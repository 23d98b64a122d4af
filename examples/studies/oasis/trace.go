// This file plays 300 jobs of each of two real traces with deadlines: chronus_slo.csv and
// ms_itp_cluster07.csv.

package main

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/trace"
	"github.com/apportion/apportion/primaldual"
)

//go:embed data
var data embed.FS

// traces are the files, and the sizes of cluster that each is played on, in GPUs; servers have 8.
// The sizes go from one where most jobs miss their deadlines to one where none has to.
var traces = []struct {
	name, file string
	gpus       []int
}{
	{"the Chronus trace", "chronus_slo.csv", []int{8, 16, 32, 64}},
	{"cluster 07 of the ITP trace", "ms_itp_cluster07.csv", []int{32, 64, 128, 256}},
}

// A slot of ten minutes makes two days 288 slots, which is what prices and schedules are counted in.
const (
	// traceSlot is the length of a slot, traceSlots the span: the last jobs arrive after 28 and 29
	// hours.
	traceSlot  = 10 * time.Minute
	traceSlots = 288
	// A job on g GPUs becomes one of up to elastic x g workers of one GPU.
	elastic = 4
	// A parameter server serves up to perPS workers.
	perPS = 4
	// traceValue is what a job is worth where the trace does not say.
	traceValue = "10"
)

// traceWorkload returns the jobs of a trace on a cluster of gpus GPUs.
// Errors name the job.
func traceWorkload(file string, gpus int) (*workload, error) {
	rows, err := data.ReadFile("data/" + file)
	if err != nil {
		return nil, err
	}
	s := &workload{cluster: traceCluster(gpus)}
	s.cluster.Slots = traceSlots
	for row, err := range trace.Jobs(file, bytes.NewReader(rows)) {
		if err != nil {
			return nil, err
		}
		job, err := traceJob(&row)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", row.ID, err)
		}
		s.jobs = append(s.jobs, job)
		s.workers = append(s.workers, int64(row.GPUs.Value))
	}
	return s, nil
}

// traceJob turns a row into a job: as many worker-slots as GPU-time in the trace, and the row's value
// if it ends by its deadline. A job that is submitted within a slot arrives in the next.
// MinibatchSlots is such that one epoch of all chunks is the GPU time of the trace; CommSlots is 0, as the
// speed is linear.
func traceJob(row *trace.Job) (primaldual.Job, error) {
	deadline, err := strconv.ParseFloat(row.Extra["deadline_s"], 64)
	if err != nil {
		return primaldual.Job{}, err
	}
	value, err := strconv.ParseFloat(cmp.Or(row.Extra["value"], traceValue), 64)
	if err != nil {
		return primaldual.Job{}, err
	}
	gpus := max(1, int64(row.GPUs.Value))
	arrival := int((row.Submit + traceSlot - 1) / traceSlot)
	end := int((row.Submit.Seconds() + deadline) / traceSlot.Seconds()) // whole slots before the deadline
	var utility primaldual.Utility = primaldual.Steps{{Within: end - arrival - 1, Value: value}}
	// The deadline passes before the first whole slot: nothing can earn its value.
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

// runTrace plays both traces under all policies and prints how many deadlines each meets.
// Runs are printed when all of a trace are there.
func runTrace(ctx context.Context, stdout, stderr io.Writer) error {
	for _, source := range traces {
		runs := make([][]*played, len(source.gpus))
		for i := range runs {
			runs[i] = make([]*played, len(policyNames))
		}
		err := command.InParallel(ctx, len(source.gpus)*len(policyNames), stderr, "simulating", func(ctx context.Context, task int) error {
			size, place := task/len(policyNames), task%len(policyNames)
			w, err := traceWorkload(source.file, source.gpus[size])
			if err != nil {
				return err
			}
			runs[size][place], err = playOne(ctx, w, place)
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "Deadlines met and GPUs taken: %d jobs of %s, %d slots of %v.\n", len(runs[0][0].jobs), source.name, traceSlots, traceSlot)
		reportTrace(stdout, source.gpus, runs)
	}
	return nil
}

// reportTrace prints the runs of a trace, by size of cluster and policy.
// Each size has two columns: deadlines met, and the part of the GPUs that was taken.
func reportTrace(w io.Writer, sizes []int, runs [][]*played) {
	table := newTable(w)
	fmt.Fprint(table, "policy")
	for _, gpus := range sizes {
		fmt.Fprintf(table, "\t%d GPUs\t", gpus)
	}
	fmt.Fprintln(table)
	for place, name := range policyNames {
		fmt.Fprint(table, name)
		for size := range sizes {
			run := runs[size][place]
			met := 0
			for _, utility := range run.utility {
				if utility > 0 {
					met++
				}
			}
			fmt.Fprintf(table, "\t%s\t%.0f %%", percent(met, len(run.utility)), 100*run.gpus)
		}
		fmt.Fprintln(table)
	}
	fmt.Fprint(table, "certified bound")
	for size := range sizes {
		fmt.Fprintf(table, "\t%.0f %%\t", 100*runs[size][0].bound/traceWorth(runs[size][0].jobs))
	}
	fmt.Fprintln(table)
	flush(table)
}

// traceWorth returns what all jobs are worth together if they end in time.
// It is the trivial bound.
func traceWorth(jobs []primaldual.Job) float64 {
	worth := 0.0
	for i := range jobs {
		worth += jobs[i].Utility.Value(0)
	}
	return worth
}
