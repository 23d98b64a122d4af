//go:build unix

// Package yarn shares a YARN cluster among elastic training jobs: it decides by Dorm's optimizer who has how many containers
// on which node, and resizes running jobs by checkpoints. Jobs are files; see README.md.
package yarn

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/apportion/apportion/checkpoint/controller/daemon"
)

// The variables of the environment that say where Hadoop is.
const (
	// confVariable names the folder with yarn-site.xml, which is Hadoop's own variable.
	confVariable = "HADOOP_CONF_DIR"
	// holderVariable is the command of the holder, for the shell; empty: holderCommand.
	holderVariable = "APPORTION_YARN_HOLDER"
	// jobsVariable names the folder of the jobs; empty: jobs in the shared folder.
	jobsVariable = "APPORTION_YARN_JOBS"
)

// program is the controller as a program, on the cluster of a configuration.
// Connect is called again for each term of leadership, with the folder of that controller.
func program(c conf) *daemon.Program {
	kinds := c.kinds()
	return &daemon.Program{Name: "apportion-yarn", Kinds: kinds, Idle: 5 * time.Second, Connect: func(epoch int64, folder string, g daemon.Guarded) (daemon.Cluster, error) {
		y := newYARN(c, g)
		y.jobs = os.Getenv(jobsVariable)
		if folder == "" {
			return y, nil // a dry run: nothing is held
		}
		y.jobs = cmp.Or(y.jobs, filepath.Join(g.Shared, "jobs"))
		return y, y.keep(folder, os.Getenv(holderVariable))
	}}
}

// Main is the main function of apportion-yarn: it runs the controller, or with the word queues the program for queues.
// An interrupt ends the context, and a controller that ends by it leaves all jobs running.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	c, err := readConf(os.Getenv(confVariable))
	switch {
	case err != nil:
	case len(os.Args) > 1 && os.Args[1] == "queues":
		err = shareQueues(ctx, c, os.Args[2:], os.Stdout, os.Stderr)
	default:
		err = program(c).Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	// Help was printed by the flag package, and is no failure.
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "apportion-yarn:", err)
		os.Exit(1)
	}
}
