// This file plays elastic jobs of three frameworks under Dorm: every arrival and every end changes what
// the others have, [Dorm] §III-C.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// dormDecider tolerates half of the largest fairness loss, and adjusts at most half of the running jobs
// in one decision.
var dormDecider = master.Dorm{Theta1: 0.5, Theta2: 0.5}

// dormServers are those that the elastic jobs share.
var dormServers = []apportion.Server{
	{ID: "north", Capacity: apportion.Resources{4, 8}},
	{ID: "south", Capacity: apportion.Resources{4, 8}},
}

// elastic are the jobs at a scale of 1: the first has the cluster to itself until others come.
func elastic() []harness.Job {
	const cost = 10 * time.Millisecond
	return []harness.Job{
		{Name: "lstm", At: 0, Framework: "pytorch", Args: []string{"--cell", "lstm"}, Steps: 200, Seed: 1, Cost: cost,
			Min: 1, Max: 5, Weight: 1, Demand: apportion.Resources{1, 2}},
		{Name: "logistic", At: 20 * time.Second, Framework: "mxnet", Args: []string{"--model", "logistic"}, Steps: 150, Seed: 2, Cost: cost,
			Min: 2, Max: 4, Weight: 1, Demand: apportion.Resources{1, 1}},
		{Name: "vae", At: 40 * time.Second, Framework: "tensorflow", Args: []string{"--model", "vae"}, Steps: 120, Seed: 3, Cost: cost,
			Min: 1, Max: 3, Weight: 2, Demand: apportion.Resources{1, 2}},
		{Name: "gru", At: 60 * time.Second, Framework: "pytorch", Args: []string{"--cell", "gru"}, Steps: 120, Seed: 4, Cost: cost,
			Min: 1, Max: 4, Weight: 1, Demand: apportion.Resources{1, 2}},
		{Name: "network", At: 80 * time.Second, Framework: "mxnet", Args: []string{"--model", "network"}, Steps: 120, Seed: 5, Cost: cost,
			Min: 2, Max: 5, Weight: 1, Demand: apportion.Resources{1, 1}},
		{Name: "cnn", At: 100 * time.Second, Framework: "tensorflow", Args: []string{"--model", "cnn"}, Steps: 80, Seed: 6, Cost: cost,
			Min: 1, Max: 2, Weight: 1, Demand: apportion.Resources{1, 2}},
	}
}

// dorm plays the elastic jobs, and with -compare the same under the static partition.
func dorm(flags *flag.FlagSet) performance {
	scale := flags.Float64("scale", 1, "stretches all times: more than 1 on a slow machine")
	compare := flags.Bool("compare", false, "play the same jobs under a static partition, too")
	out := flags.String("out", "out", "folder for the figures")
	return func(ctx context.Context, dir cluster.Place, stdout io.Writer) error {
		jobs := stretch(elastic(), *scale)
		record, outcomes, err := playElastic(ctx, dir, jobs, "dorm", stdout)
		if err != nil {
			return err
		}
		if err := chart.Publish(stdout, *out, record.Figures(outcomes)...); err != nil || !*compare {
			return err
		}
		fixed, _, err := playElastic(ctx, dir, jobs, "static", stdout)
		if err != nil {
			return err
		}
		dorms, err := record.Took()
		statics, err2 := fixed.Took()
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		return harness.PrintTimes(stdout, jobs, []string{"Dorm", "static"}, [][]time.Duration{dorms, statics})
	}
}

func playElastic(ctx context.Context, dir cluster.Place, jobs []harness.Job, policy string, stdout io.Writer) (*harness.Record, []harness.Outcome, error) {
	place := cluster.Place(dir.Join(policy))
	if err := os.RemoveAll(string(place)); err != nil { // a play begins anew
		return nil, nil, err
	}
	fmt.Fprintf(stdout, "\nPolicy %s\n", policy)
	stage := &harness.Stage{Place: place, Servers: dormServers, Jobs: jobs, Master: []string{"-policy", policy}, Stdout: stdout}
	record, err := stage.Run(ctx)
	if err != nil {
		return nil, nil, err
	}
	outcomes, err := report(ctx, stdout, record)
	return record, outcomes, err
}
