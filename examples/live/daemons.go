// This file implements the subcommands that run for long: master and agent.

package main

import (
	"context"
	"flag"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// policies make the decider of a master.
// SpeCon and the default scheduler add themselves where they can run.
var policies = map[string]func(*setting) (master.Decider, error){
	"dorm":   func(*setting) (master.Decider, error) { return dormDecider, nil },
	"static": func(*setting) (master.Decider, error) { return static{}, nil },
	"OASiS":  oasisDecider,
	"FIFO":   fifoDecider,
}

// The trace of its effects is what costs are read from.
func runMaster(flags *flag.FlagSet) command.Body {
	dir := cluster.Flag(flags, home)
	o := cluster.MasterOptions{Kinds: kinds, Listen: "127.0.0.1:0", Trace: true, Grace: 2 * lease}
	names := strings.Join(slices.Sorted(maps.Keys(policies)), ", ")
	policy := flags.String("policy", "dorm", "who decides: "+names)
	slot := flags.Duration("slot", 0, "length of a slot, for policies that have slots")
	flags.DurationVar(&o.SaveEvery, "save-every", 10*time.Second, "how often a running job is saved")
	flags.DurationVar(&o.StallAfter, "stall-after", 10*time.Minute, "how long a running job may do no step before it is ended and begun again")
	flags.DurationVar(&o.Patience, "patience", 3*time.Minute, "how long a save, a stop or a start may take")
	return func(ctx context.Context, stdout, _ io.Writer) (err error) {
		decider, ok := policies[*policy]
		if !ok {
			return command.Misused("-policy: what is %q?", *policy)
		}
		if o.Decider, err = decider(&setting{*dir, *slot}); err != nil {
			return err
		}
		if o.Store, err = storeFromEnvironment(ctx); err != nil {
			return err
		}
		return cluster.RunMaster(ctx, *dir, o, stdout)
	}
}

// Where checkpoints are kept is in the environment, so that all programs of a cluster agree.
func runAgent(flags *flag.FlagSet) command.Body {
	dir := cluster.Flag(flags, home)
	o := cluster.AgentOptions{Lease: lease, Processes: harness.Processes}
	cluster.ServerFlags(flags, &o.Server)
	return func(ctx context.Context, _, stderr io.Writer) (err error) {
		if o.Store, err = storeFromEnvironment(ctx); err != nil {
			return err
		}
		return cluster.RunAgent(ctx, *dir, o, stderr)
	}
}
