//go:build linux

// This file plays jobs of three frameworks on one CPU, without limits and under FlowCon's, [Zheng] §6.1.

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/nodeagent/node"
	"github.com/apportion/apportion/examples/studies/chart"
	studies "github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/examples/studies/inhouse/wire"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
)

// Limits need what this system has.
func init() {
	subcommands["flowcon"] = play("flowcon", filepath.Join("out", "flowcon"), 30*time.Minute, flowConRuns)
}

// worker is one CPU and the jobs that share it.
type worker struct {
	jobs   []harness.Job
	kit    *harness.Kit
	place  cluster.Place
	writer node.Writer
	runner node.Runner
	every  time.Duration // between samples
	stdout io.Writer
}

// trial is one run of the jobs.
type trial struct {
	times   []time.Duration // of each job, from its start
	samples []node.Sample
	curves  [][]master.Point
}

// mixed are the jobs at a scale of 1: the thesis' schedule, a long job that is soon as good as done and
// then others, the last the shortest.
// Their steps are such that all end within minutes of each other.
func mixed(scale float64) []harness.Job {
	of := func(at float64, name, framework, option, value string, steps int64) harness.Job {
		return harness.Job{Name: name, At: time.Duration(scale * at * float64(time.Second)), Framework: framework,
			Args: []string{option, value}, Steps: max(20, int64(scale*float64(steps))), Seed: int64(steps)}
	}
	return []harness.Job{
		of(0, "vae", "tensorflow", "--model", "vae", 9000),
		of(14, "gru", "pytorch", "--cell", "gru", 3000),
		of(18, "network", "mxnet", "--model", "network", 3000),
		of(22, "lstm", "pytorch", "--cell", "lstm", 900),
	}
}

// Without -first a run says little on a machine that others use.
func flowConRuns(flags *flag.FlagSet) performance {
	w := &worker{every: 500 * time.Millisecond}
	scale := flags.Float64("scale", 1, "length of the jobs")
	runs := flags.Int("runs", 1, "how often to run without and with limits; the table shows medians")
	by := flags.String("writer", "auto", "what sets the limits: v2, v1, signals, or auto for the first that the machine offers")
	first := flags.Bool("first", false, "the jobs go before all other processes of their CPU, where control groups set the limits")
	out := flags.String("out", "out", "folder for the figures")
	config := flowcon.Config{Kinds: 1}
	flags.DurationVar(&config.Interval, "interval", 2*time.Second, "time between two checks")
	flags.Float64Var(&config.Alpha, "alpha", 0.1, "a job is slow that can expect to gain less than this share of its improvement by running as long again")
	return func(ctx context.Context, dir cluster.Place, stdout io.Writer) (err error) {
		if *runs < 1 || !(*scale > 0 && *scale <= 100) {
			return studies.Misused("-runs must be positive, -scale in (0, 100]")
		}
		w.place, w.stdout, w.jobs = dir, stdout, mixed(*scale)
		if err := w.open(*by, *first); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.writer.Close()) }()
		without, with, err := w.compare(ctx, *runs, config)
		if err != nil {
			return err
		}
		if err := w.report(without, with); err != nil {
			return err
		}
		return chart.Publish(stdout, *out, w.figures(without[len(without)-1], with[len(with)-1])...)
	}
}

// open prepares the place and chooses what limits.
// The last CPU is the one that the system itself uses least.
func (w *worker) open(by string, first bool) error {
	if err := os.RemoveAll(string(w.place)); err != nil {
		return err
	}
	var err error
	if w.kit, err = harness.NewKit(w.place.Join("trainers")); err != nil {
		return err
	}
	cpu, err := node.LastCPU()
	if err != nil {
		return err
	}
	var notes []string
	if w.writer, w.runner, notes, err = node.Choose(by, node.Machine{CPU: cpu, First: first}); err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintln(w.stdout, "not there:", note)
	}
	fmt.Fprintln(w.stdout, "limits by", w.writer.Name())
	return nil
}

// compare runs the jobs without and with limits, in turn. That no limit changes what a job computes is
// checked.
func (w *worker) compare(ctx context.Context, runs int, config flowcon.Config) (without, with []*trial, err error) {
	for range runs {
		for _, limited := range []bool{false, true} {
			var decider *flowcon.Executor
			fmt.Fprintln(w.stdout, map[bool]string{false: "without limits", true: "under FlowCon"}[limited])
			if limited {
				// The reading that does not depend on the unit of the evaluation function, and the test that
				// noise does not mislead.
				options := &flowcon.Options{Normalization: growth.LargestGrowth, Classifier: growth.Prospect{Alpha: config.Alpha}}
				if decider, err = flowcon.New(config, options); err != nil {
					return nil, nil, err
				}
			}
			t, err := w.run(ctx, fmt.Sprintf("run-%d", len(without)+len(with)), decider)
			if err != nil {
				return nil, nil, err
			}
			if limited {
				with = append(with, t)
			} else {
				without = append(without, t)
			}
			if err := w.same(without[0], t); err != nil {
				return nil, nil, err
			}
		}
	}
	return without, with, nil
}

// run runs the jobs once.
func (w *worker) run(ctx context.Context, name string, decider *flowcon.Executor) (*trial, error) {
	a := &node.Agent{Runner: w.runner, Writer: w.writer, FlowCon: decider, Log: w.stdout, Every: w.every}
	dir := w.place.Join(name)
	var jobs []node.Job
	complaints := make([]bytes.Buffer, len(w.jobs))
	for i := range w.jobs {
		j := &w.jobs[i]
		own := filepath.Join(dir, j.Name, "1")
		if err := os.MkdirAll(own, 0o700); err != nil {
			return nil, err
		}
		env := append(harness.Processes(wire.Work{Executor: j.Framework}).Env, "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"),
			command.EnvCheckpointDir+"="+own)
		jobs = append(jobs, node.Job{Name: j.Name, Start: j.At, Argv: w.kit.Command(j), Env: env, Read: evaluation(), Better: growth.SmallerIsBetter, Stderr: &complaints[i]})
	}
	times, err := a.Run(ctx, jobs)
	if err != nil {
		for i := range complaints {
			err = errors.Join(err, complaint(jobs[i].Name, complaints[i].String()))
		}
		return nil, err
	}
	t := &trial{times: times, samples: a.Samples}
	for i := range w.jobs {
		curve, err := master.Curve(dir, w.jobs[i].Name)
		if err != nil {
			return nil, err
		}
		t.curves = append(t.curves, curve)
	}
	return t, nil
}

// complaint is what a job has printed to its standard error, nil if nothing.
func complaint(job, text string) error {
	if text == "" {
		return nil
	}
	return fmt.Errorf("%s said: %s", job, text)
}

// newest is how many of the newest losses the evaluation function is the mean of: the loss of one batch
// says more of the batch than of the model.
const newest = 200

// evaluation returns what takes the evaluation function of one job from its output, line by line.
// Each job has its own, as it keeps the newest losses.
func evaluation() func(line []byte) (float64, bool) {
	var losses []float64
	sum := 0.0
	return func(line []byte) (float64, bool) {
		reading, ok := command.ParseLine(line)
		if !ok || math.IsNaN(reading.Value) {
			return 0, false
		}
		losses, sum = append(losses, reading.Value), sum+reading.Value
		if len(losses) > newest {
			losses, sum = losses[1:], sum-losses[0]
		}
		return sum / float64(len(losses)), true
	}
}

// same checks that each job has done each step once, with the losses of the first run.
// Limits change when a job computes, and nothing else.
func (w *worker) same(first, t *trial) error {
	for i := range w.jobs {
		job, curve := &w.jobs[i], t.curves[i]
		if int64(len(curve)) != job.Steps {
			return fmt.Errorf("job %q did %d of %d steps", job.Name, len(curve), job.Steps)
		}
		for k, p := range curve {
			alone := first.curves[i]
			if off := math.Abs(p.Value-alone[k].Value) / math.Abs(alone[0].Value); p.Step != int64(k+1) || !(off < harness.Tolerance) {
				return fmt.Errorf("job %q: loss %v at step %d, in the first run %v at step %d", job.Name, p.Value, p.Step, alone[k].Value, k+1)
			}
		}
	}
	return nil
}
