// This file plays the demonstration: a cluster of processes on this machine, jobs that arrive, and what
// becomes of them.

package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/examples/studies/inhouse/train"
)

func newArrival(at time.Duration, name string, job train.Job, weight float64, most int64) (arrival, error) {
	program, err := os.Executable()
	argv := []string{program, "train", "-model", job.Model, "-steps", strconv.FormatInt(job.Steps, 10),
		"-seed", strconv.FormatUint(job.Seed, 10), "-cost", job.Cost.String()}
	return arrival{at, alloc.Application{ID: name, Executor: "gonum", Weight: weight, Form: alloc.Form{Min: 1, Max: most,
		Demand: apportion.Resources{1, 2}}, Start: argv, Resume: argv}, job}, err
}

// arrivals are the jobs: the first has the cluster to itself until others come.
func arrivals(cost time.Duration) ([]arrival, error) {
	a, err1 := newArrival(0, "net-a", train.Job{Model: "network", Steps: 700, Seed: 1, Cost: cost}, 1, 8)
	b, err2 := newArrival(3*time.Second, "logistic", train.Job{Model: "logistic", Steps: 300, Seed: 2, Cost: cost}, 1, 4)
	c, err3 := newArrival(6*time.Second, "net-b", train.Job{Model: "network", Steps: 500, Seed: 3, Cost: cost}, 2, 6)
	d, err4 := newArrival(9*time.Second, "late", train.Job{Model: "logistic", Steps: 200, Seed: 4, Cost: cost}, 1, 4)
	return []arrival{a, b, c, d}, errors.Join(err1, err2, err3, err4)
}

// servers are those of the demonstration.
var servers = []apportion.Server{
	{ID: "north", Capacity: apportion.Resources{4, 8}},
	{ID: "south", Capacity: apportion.Resources{3, 8}},
	{ID: "west", Capacity: apportion.Resources{3, 6}},
}

// A folder that was there before is removed with all that is in it.
func demo(flags *flag.FlagSet) command.Body {
	dir := cluster.Flag(flags, home)
	cost := flags.Duration("cost", 2*time.Millisecond, "time that a sample takes")
	kills := flags.Duration("kill-every", 0, "kill a program with signal 9 this often; 0: never")
	most := flags.Int("kills", 1000, "how often at most")
	seed := flags.Uint64("seed", 1, "what is killed")
	out := flags.String("out", filepath.Join("inhouse", "out"), "folder for the figures")
	limit := flags.Duration("limit", 5*time.Minute, "how long the demonstration may take")
	return func(ctx context.Context, stdout, _ io.Writer) error {
		ctx, cancel := context.WithTimeout(ctx, *limit)
		defer cancel()
		if err := os.RemoveAll(string(*dir)); err != nil { // a demonstration begins anew
			return err
		}
		jobs, err := arrivals(*cost)
		if err != nil {
			return err
		}
		d := &drive{place: *dir, stdout: stdout, arrivals: jobs, servers: servers, killEvery: *kills, killMost: *most, random: rand.New(rand.NewPCG(*seed, 0))}
		if err := d.run(ctx); err != nil {
			return err
		}
		return chart.Publish(stdout, *out, d.figures()...)
	}
}

// run starts the cluster, plays the jobs and tells how it went.
func (d *drive) run(ctx context.Context) (err error) {
	d.live, err = cluster.Start(d.place, programs(d.place, d.servers))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.live.Stop()) }()
	if err := d.live.Await(ctx, d.servers); err != nil {
		return err
	}
	d.play = cluster.Play{Cluster: d.live, Stdout: d.stdout, Each: d.killIfDue}
	for _, a := range d.arrivals {
		d.play.Arrivals = append(d.play.Arrivals, cluster.Arrival{At: a.at, Job: master.Submission{Application: a.app}})
	}
	d.kill = d.killEvery
	if err := d.play.Run(ctx); err != nil {
		return err
	}
	return d.report(ctx)
}

func (d *drive) killIfDue(s *cluster.Sample) error {
	if d.killEvery > 0 && s.At >= d.kill && d.killed < d.killMost {
		d.play.Say("killed %s", d.live.Kill(d.random))
		d.killed++
		d.kill = s.At + d.killEvery
	}
	return nil
}
