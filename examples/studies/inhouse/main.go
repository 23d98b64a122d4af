// This file implements the command line of the in-house scheduler.

// Inhouse is a scheduler of one's own in a few hundred lines: a master that decides with alloc and lets
// checkpoint's protocol carry the decisions out, agents that run real training processes, and a command
// line. Without a subcommand it plays a demonstration on this machine.
package main

import (
	"context"
	"io"
	"strings"

	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
)

func main() { command.Main("inhouse", run) }

// subcommands by name; the demonstration is what runs without one.
var subcommands = command.Subcommands{
	"demo":     command.Of("inhouse demo", demo),
	"overhead": command.Of("inhouse overhead", overhead),
	"master":   command.Of("inhouse master", runMaster),
	"agent":    command.Of("inhouse agent", runAgent),
	"train":    command.Of("inhouse train", runTrain),
	"guard":    func(_ context.Context, _, _ io.Writer, args []string) error { return cluster.RunGuard(args) },
	"submit":   asking("submit [flags] -- command of the job", submit),
	"list":     asking("list", list),
	"explain":  asking("explain", explain),
	"cancel":   asking("cancel", cancel),
	"move":     asking("move", move),
	"page":     asking("page", page),
	"key":      asking("key", key),
}

// The first word chooses; flags alone are those of the demonstration.
func run(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return subcommands["demo"](ctx, stdout, stderr, args)
	}
	return subcommands.Run(ctx, "inhouse", stdout, stderr, args)
}
