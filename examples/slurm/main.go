// This program shares a Slurm cluster among elastic training jobs: it decides by Dorm's optimizer who has how many tasks on
// which node, and resizes running jobs by checkpoints. Jobs are held and marked by their comment; see README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/apportion/apportion/examples/internal/beside"
)

// program is the controller as a program. Slurm's commands find their cluster by themselves, or by SLURM_CONF.
var program = beside.Program{Name: "slurm", Kinds: kinds, Connect: func(epoch int64, folder string, g beside.Guarded) (beside.Cluster, error) {
	return newSlurm(epoch, folder, g), nil
}}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := program.Run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "slurm:", err)
		os.Exit(1)
	}
}
