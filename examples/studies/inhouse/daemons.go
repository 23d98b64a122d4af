// This file implements the subcommands that run for long: master and agent.

package main

import (
	"context"
	"flag"
	"io"
	"path/filepath"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// kinds are those of the cluster.
var kinds = apportion.Kinds{"cpu", "memory"}

// home is the place of a cluster unless -dir names another.
var home = filepath.Join("inhouse", "out", "cluster")

// It runs until it is interrupted or another master has taken over.
func runMaster(flags *flag.FlagSet) command.Body {
	dir := cluster.Flag(flags, home)
	o := cluster.MasterOptions{Kinds: kinds, Patience: 20 * time.Second}
	var dorm master.Dorm
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:0", "address to listen on")
	flags.Float64Var(&dorm.Theta1, "theta1", 0.5, "part of all shares that may be lost")
	flags.Float64Var(&dorm.Theta2, "theta2", 0.5, "share of running jobs that one decision may adjust")
	flags.DurationVar(&o.Patience, "patience", o.Patience, "how long a save, a stop or a start may take")
	flags.DurationVar(&o.Grace, "grace", cluster.Grace, "how long a server may be silent: longer than every agent's lease")
	flags.DurationVar(&o.SaveEvery, "save-every", 5*time.Second, "how often a running job is saved")
	flags.DurationVar(&o.SaveLimit, "save-limit", checkpoint.DefaultSaveLimit, "how long a job that is to change may take to be saved, at least; then it is stopped without")
	flags.DurationVar(&o.StallAfter, "stall-after", driver.DefaultStallAfter, "how long a job that gets on may tell no new step; then it is begun again from what was saved")
	flags.DurationVar(&o.Retain, "retain", 24*time.Hour, "how long a job that has ended is remembered, with its checkpoints")
	flags.StringVar(&o.AcceptLoss, "accept-loss", "", "go on without what the journal of this name has lost, see checkpoint/FAULTS.md")
	o.TLS.Flags(flags)
	return func(ctx context.Context, stdout, _ io.Writer) error {
		o.Decider = dorm
		return cluster.RunMaster(ctx, *dir, o, stdout)
	}
}

// It needs the place's secret, or on another machine a key.
func runAgent(flags *flag.FlagSet) command.Body {
	dir := cluster.Flag(flags, home)
	var o cluster.AgentOptions
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:0", "address to listen on")
	flags.StringVar(&o.Master, "master", "", "address of the master, \"http://host:port\", where -dir does not name it")
	flags.StringVar(&o.Key, "key", "", "file that inhouse key has written for this agent, where -dir has no secret")
	flags.DurationVar(&o.Lease, "lease", cluster.Lease, "how long jobs run on without a master")
	o.TLS.Flags(flags)
	cluster.ServerFlags(flags, &o.Server)
	return func(ctx context.Context, _, stderr io.Writer) error { return cluster.RunAgent(ctx, *dir, o, stderr) }
}

func programs(p cluster.Place, servers []apportion.Server) []cluster.Program {
	return cluster.Programs(p, servers, []string{"-save-every", "2s"}, nil)
}
