//go:build linux

// Command nodeagent applies FlowCon's limits for real: three training processes on one CPU, first
// without limits, then with; a table of their completion times. It runs on Linux.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/apportion/apportion/examples/nodeagent/node"
	"github.com/apportion/apportion/examples/nodeagent/train"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
)

// Help that was asked for is no failure; bad flags have code 2.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Stderr, os.Args[1:])
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "nodeagent:", err)
		os.Exit(1)
	}
}

// errUsage says that the flags are wrong, which has been explained already.
var errUsage = errors.New("usage")

// options are the flags.
// scale stretches starts and lengths alike.
type options struct {
	writer   string
	docker   string
	runs     int
	scale    float64
	alpha    float64
	robust   bool
	interval time.Duration
	timeout  time.Duration
}

// What is wrong is said on stderr once.
func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("nodeagent", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.writer, "writer", "auto", "what sets the limits: v2, v1, docker, signals, or auto for the first that the machine offers")
	flags.StringVar(&o.docker, "docker-host", "", "where Docker's daemon listens, like unix:///var/run/docker.sock; empty for DOCKER_HOST or the default")
	flags.IntVar(&o.runs, "runs", 3, "how often to run with and without limits; the table shows medians")
	flags.Float64Var(&o.scale, "scale", 1, "length of the jobs")
	flags.Float64Var(&o.alpha, "alpha", 0.05, "growth below which a job is slow, as a share of its largest")
	flags.BoolVar(&o.robust, "robust", false, "judge by the whole run of a job; alpha is then a share of all its improvement")
	flags.DurationVar(&o.interval, "interval", 500*time.Millisecond, "time between two checks")
	flags.DurationVar(&o.timeout, "timeout", 2*time.Minute, "end everything after this time")
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "nodeagent: what is %q?\n", flags.Arg(0))
		return nil, errUsage
	}
	if o.runs < 1 || !(o.scale > 0 && o.scale <= 100) || o.timeout <= 0 {
		fmt.Fprintln(stderr, "nodeagent: -runs and -timeout must be positive, -scale in (0, 100]")
		return nil, errUsage
	}
	return o, nil
}

// run runs the jobs without and with limits and prints the table; limits are logged as they are set. As
// "train EPOCHS HIDDEN RATE SEED" it is one of the jobs.
// The writer is closed whatever happens, which lifts all limits.
func run(ctx context.Context, stdout, stderr io.Writer, args []string) (err error) {
	if len(args) > 0 && args[0] == "train" {
		return train.Command(stdout, args[1:])
	}
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer func() {
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("not done within -timeout %v: %w", o.timeout, err)
		}
	}()
	cpu, cpuErr := node.LastCPU()
	program, err := os.Executable()
	if err = errors.Join(cpuErr, err); err != nil {
		return err
	}
	w, runner, notes, err := node.Choose(o.writer, node.Machine{CPU: cpu, DockerHost: o.docker, Program: program, Endless: endless})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, note := range notes {
		fmt.Fprintln(stdout, "not there:", note)
	}
	fmt.Fprintln(stdout, "limits by", w.Name())
	jobs := schedule(program, o.scale)
	var without, with [][]time.Duration
	for i := range o.runs {
		times, err := (&node.Agent{Runner: runner}).Run(ctx, jobs)
		if err != nil {
			return err
		}
		without = append(without, times)
		fmt.Fprintf(stdout, "run %d\n", i+1)
		if times, err = limited(ctx, o, &node.Agent{Runner: runner, Writer: w, Log: stdout}, jobs); err != nil {
			return err
		}
		with = append(with, times)
	}
	return report(stdout, jobs, medians(without), medians(with))
}

// readingsPerCheck is how many readings the robust test has from one check to the next.
const readingsPerCheck = 5

// limited runs the jobs with FlowCon's limits.
// An executor serves one run, so that each has its own.
func limited(ctx context.Context, o *options, a *node.Agent, jobs []node.Job) (times []time.Duration, err error) {
	options := &flowcon.Options{Normalization: growth.LargestGrowth}
	if o.robust {
		options.Classifier = growth.Prospect{Alpha: o.alpha}
		a.Every = o.interval / readingsPerCheck
	}
	a.FlowCon, err = flowcon.New(flowcon.Config{Interval: o.interval, Alpha: o.alpha, Kinds: 1}, options)
	if err != nil {
		return nil, err
	}
	return a.Run(ctx, jobs)
}

// medians returns the median of each job's times over the runs.
// Each job's runs are sorted by themselves.
func medians(runs [][]time.Duration) []time.Duration {
	middle := make([]time.Duration, len(runs[0]))
	for i := range middle {
		var all []time.Duration
		for _, times := range runs {
			all = append(all, times[i])
		}
		slices.Sort(all)
		middle[i] = all[len(all)/2]
	}
	return middle
}

// endless makes this program a job that nobody waits for.
var endless = arguments(train.Job{Epochs: math.MaxInt32, Hidden: 1, Rate: 0.01})

func arguments(job train.Job) []string { return append([]string{"train"}, job.Arguments()...) }

// schedule returns the thesis' fixed schedule in small: a long job that is soon as good as done, then
// two that come one after the other, the last the shortest. The program is this one.
func schedule(program string, scale float64) []node.Job {
	of := func(name string, start time.Duration, epochs int, rate float64, seed uint64) node.Job {
		job := train.Job{Epochs: max(1, int(scale*float64(epochs))), Hidden: 64, Rate: rate, Seed: seed}
		return node.Job{Name: name, Start: time.Duration(scale * float64(start)), Argv: append([]string{program}, arguments(job)...), Read: train.ReadLine, Better: growth.SmallerIsBetter}
	}
	return []node.Job{
		of("long", 0, 1500, 0.02, 1),
		of("middle", 1500*time.Millisecond, 700, 0.0005, 2),
		of("short", 3*time.Second, 250, 0.0005, 3),
	}
}

// report prints the completion times, each from the start of its job, and the makespans.
// A makespan counts from the start of the first job.
func report(w io.Writer, jobs []node.Job, without, with []time.Duration) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "job\tstarts\twithout limits\twith\tchange")
	var last, lastWith time.Duration
	for i, j := range jobs {
		row(table, j.Name, fmt.Sprintf("%.1f s", j.Start.Seconds()), without[i], with[i])
		last, lastWith = max(last, j.Start+without[i]), max(lastWith, j.Start+with[i])
	}
	row(table, "makespan", "", last, lastWith)
	return table.Flush()
}

// A change below 0 is sooner.
func row(w io.Writer, name, start string, without, with time.Duration) {
	fmt.Fprintf(w, "%s\t%s\t%.2f s\t%.2f s\t%+.1f %%\n", name, start, without.Seconds(), with.Seconds(),
		100*(with.Seconds()/without.Seconds()-1))
}
