// This file implements the command line: a subcommand for each policy, and the programs of the cluster.

// Live runs real training jobs of TensorFlow, PyTorch and MXNet under this library's policies, on
// processes of this machine, and on its accelerator.
package main

import (
	"context"
	"flag"
	"io"
	"time"

	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
)

func main() { command.Main("live", run) }

// subcommands by name; FlowCon and SpeCon, which need Linux, add theirs.
var subcommands = command.Subcommands{
	"device": play("device", home, 30*time.Minute, runDevice),
	"dorm":   play("dorm", home, 30*time.Minute, dorm),
	"faults": play("faults", home, 30*time.Minute, runFaults),
	"oasis":  play("oasis", home, time.Hour, oasisAndFIFO),
	"master": command.Of("live master", runMaster),
	"agent":  command.Of("live agent", runAgent),
	"guard":  func(_ context.Context, _, _ io.Writer, args []string) error { return cluster.RunGuard(args) },
}

// run chooses the play by the first argument.
func run(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	return subcommands.Run(ctx, "live", stdout, stderr, args)
}

// performance is a play whose flags have been read, on a cluster in an empty place.
type performance func(ctx context.Context, p cluster.Place, stdout io.Writer) error

// play returns the subcommand of a play: its place and how long it may take, by default these, are flags of every play.
func play(name, place string, limit time.Duration, declare func(flags *flag.FlagSet) performance) command.Run {
	return command.Of("live "+name, func(flags *flag.FlagSet) command.Body {
		dir := cluster.Flag(flags, place)
		limit := flags.Duration("limit", limit, "how long it may take")
		run := declare(flags)
		return func(ctx context.Context, stdout, _ io.Writer) error {
			ctx, cancel := context.WithTimeout(ctx, *limit)
			defer cancel()
			return run(ctx, *dir, stdout)
		}
	})
}
