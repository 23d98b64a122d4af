// This file implements the command line: a subcommand for each policy, and the programs of the cluster.

// Live runs real training jobs of TensorFlow, PyTorch and MXNet under this library's policies, on
// processes of this machine, and on its accelerator.
package main

import (
	"context"
	"io"

	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
)

func main() { command.Main("live", run) }

// subcommands by name; FlowCon and SpeCon, which need Linux, add theirs.
var subcommands = command.Subcommands{
	"device": runDevice,
	"dorm":   dorm,
	"faults": runFaults,
	"oasis":  oasisAndFIFO,
	"master": runMaster,
	"agent":  runAgent,
	"guard":  func(_ context.Context, _, _ io.Writer, args []string) error { return cluster.RunGuard(args) },
}

// run chooses the play by the first argument.
func run(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	return subcommands.Run(ctx, "live", stdout, stderr, args)
}
