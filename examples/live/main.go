// This file implements the command line: a subcommand for each policy, and the programs of the cluster.

// Live runs real training jobs of TensorFlow, PyTorch and MXNet under this library's policies, on
// processes of this machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/apportion/apportion/examples/internal/command"
)

func main() { command.Main("live", run) }

// subcommands by name.
var subcommands = map[string]command.Run{
	"dorm":   dorm,
	"faults": runFaults,
	"oasis":  oasisAndFIFO,
	"master": runMaster,
	"agent":  runAgent,
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	names := strings.Join(slices.Sorted(maps.Keys(subcommands)), ", ")
	if len(args) == 0 {
		fmt.Fprintf(stderr, "live: which of %s?\n", names)
		return command.ErrUsage
	}
	subcommand, ok := subcommands[args[0]]
	if !ok {
		fmt.Fprintf(stderr, "live: what is %q? The subcommands are %s.\n", args[0], names)
		return command.ErrUsage
	}
	err := subcommand(ctx, stdout, stderr, args[1:])
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil // asked to end
	}
	return err
}
