// This file plays jobs of several sizes on the accelerator of this machine, one after the other, while each is moved, killed, and
// hangs inside a kernel that does not end: what a restart takes there, and whether it gives back the memory of the device.

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
)

// layers is the number of layers of the trainer's model; the state of a job is three float32 numbers for each parameter.
const layers = 5

// devicePlay is what the command line asks for.
type devicePlay struct {
	place  cluster.Place
	device string
	steps  int64
	cost   time.Duration
	// patience is how long a save may take, stall how long the job may do no step.
	patience, stall time.Duration
}

// runDevice plays a job for each width.
func runDevice(flags *flag.FlagSet) performance {
	var p devicePlay
	flags.StringVar(&p.device, "device", "cuda", "as PyTorch names it; cpu: a trial of the play itself")
	widths := flags.String("widths", "2000,6400,10000", "of the layers of each job's model, between commas: five layers of that square of parameters")
	flags.Int64Var(&p.steps, "steps", 3000, "of each job")
	flags.DurationVar(&p.cost, "cost", 20*time.Millisecond, "what a step takes beside its arithmetic")
	flags.DurationVar(&p.patience, "patience", time.Minute, "how long a save, a stop or a start may take")
	flags.DurationVar(&p.stall, "stall-after", 15*time.Second, "how long a job may do no step before it is ended and begun again")
	return func(ctx context.Context, dir cluster.Place, stdout io.Writer) error {
		p.place = dir
		for _, text := range strings.Split(*widths, ",") {
			width, err := strconv.ParseInt(text, 10, 32)
			if err != nil || width < 1 {
				return command.Misused("-widths: %q is no positive number", text)
			}
			if err := p.play(ctx, stdout, width); err != nil {
				return err
			}
		}
		return nil
	}
}

func (p *devicePlay) play(ctx context.Context, stdout io.Writer, width int64) error {
	name := fmt.Sprintf("width-%d", width)
	job := harness.Job{Name: name, Framework: harness.Device, Args: []string{"--device", p.device, "--width", fmt.Sprint(width)}, Steps: p.steps, Seed: 1,
		Cost: p.cost / harness.Batch, Min: 1, Max: 1, Weight: 1, Demand: apportion.Resources{1, 2}}
	f := &failing{place: cluster.Place(p.place.Join(name)), master: []string{"-policy", "dorm", "-save-every", "10s", "-patience", p.patience.String(), "-stall-after", p.stall.String()},
		faults: []fault{
			{what: "a move to another server", job: name, do: move, anew: true},
			{what: "kill -9 of the trainer", job: name, do: killRank(0), anew: true},
			{what: "a kernel that does not end", job: name, do: hang, anew: true},
			{what: "kill -9 of the agent", job: name, do: killAgent},
		}}
	fmt.Fprintf(stdout, "\n%s: %.2g parameters, %.2f GB of state\n", name, float64(layers*width*width), float64(12*layers*width*width)/1e9)
	if err := f.run(ctx, stdout, []harness.Job{job}); err != nil {
		return err
	}
	return f.printBeginnings(stdout, name)
}

// hang asks the trainer of the job that the fault is for to begin a kernel that does not end.
func hang(_ context.Context, f *failing) error {
	return os.WriteFile(filepath.Join(f.jobFolder(f.done[len(f.done)-1].job), "endless"), nil, 0o600)
}

// jobFolder is where all attempts of a job write.
func (f *failing) jobFolder(job string) string {
	return filepath.Join(f.place.Shared(), string(store.FolderOf(job)))
}

// beginning is what a trainer tells of how it began.
type beginning struct {
	// Taken are the bytes of the device that were in use when it had just got to it, its own context included.
	Taken   int64
	Seconds struct{ Import, Context, Model, Load float64 }
}

// leftover is how much more memory of the device may be taken when an attempt begins than when the first one did.
const leftover = 64 << 20

// printBeginnings prints what the beginning of each attempt took. Memory that an attempt before has not given back is an error.
func (f *failing) printBeginnings(w io.Writer, job string) error {
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "attempt\timport (s)\tcontext (s)\tmodel (s)\tload (s)\tdevice memory in use at its start (MB)\t")
	files, err := filepath.Glob(filepath.Join(f.jobFolder(job), "*", "begin.json"))
	if err != nil {
		return err
	}
	all := map[int64]beginning{}
	for _, file := range files {
		attempt, err := strconv.ParseInt(filepath.Base(filepath.Dir(file)), 10, 64)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		var b beginning
		if err == nil {
			err = json.Unmarshal(text, &b)
		}
		if err != nil {
			return err
		}
		all[attempt] = b
	}
	attempts := slices.Sorted(maps.Keys(all))
	for i, attempt := range attempts {
		b := all[attempt]
		if extra := b.Taken - all[attempts[0]].Taken; extra > leftover {
			return fmt.Errorf("attempt %d began while %d bytes of the device more were taken than at first", attempt, extra)
		}
		s := &b.Seconds
		fmt.Fprintf(table, "%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f\t\n", i+1, s.Import, s.Context, s.Model, s.Load, float64(b.Taken)/1e6)
	}
	return table.Flush()
}
