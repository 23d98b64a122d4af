// This file reads the flags.

package main

import (
	"context"
	"flag"
	"io"
	"time"

	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/examples/studies/command"
)

// options are the flags.
// hours is the period that is measured; the four flags choose what is played.
type options struct {
	seeds, apps int
	hours       float64
	solver      backend.Backend
	out         string
	trace       bool
	sweep       bool
	rules       bool
	small       bool
}

// declare declares them.
func declare(flags *flag.FlagSet) command.Body {
	o := &options{}
	flags.IntVar(&o.seeds, "seeds", 5, "how many random workloads")
	flags.IntVar(&o.apps, "apps", paperApps, "how many applications; of a trace, how many jobs at most")
	flags.Float64Var(&o.hours, "hours", 24, "how many hours to measure; applications always run to their end")
	solver := flags.String("solver", backend.Embedded, "who solves the optimization problem: "+backend.Names(solvers))
	command.Out(flags, &o.out)
	flags.BoolVar(&o.trace, "trace", false, "play a day of a real trace instead of the paper's workload")
	flags.BoolVar(&o.sweep, "sweep", false, "show how the results move with what the paper leaves open")
	flags.BoolVar(&o.rules, "rules", false, "compare what happens where not all newcomers can be had, on days with few GPUs")
	flags.BoolVar(&o.small, "small", false, "a quick run: 2 workloads of 10 applications, 8 hours")
	return func(ctx context.Context, stdout, stderr io.Writer) error {
		given := false
		flags.Visit(func(f *flag.Flag) { given = given || f.Name == "apps" })
		if o.trace && !given {
			o.apps = traceJobs
		}
		if err := o.check(*solver); err != nil {
			return err
		}
		return o.run(ctx, stdout, stderr)
	}
}

// check settles what some flags say of others.
func (o *options) check(solver string) error {
	if o.small {
		o.seeds, o.apps, o.hours = 2, 10, 8
	}
	if o.trace {
		o.seeds = 1 // there is nothing to draw
	}
	var unknown error
	o.solver, unknown = backend.Find(solvers, solver)
	switch {
	case o.seeds < 1 || o.apps < 1 || !(o.hours > 0 && o.hours <= 24*365):
		return command.Misused("-seeds, -apps and -hours must be positive")
	case o.trace && o.sweep:
		return command.Misused("-trace and -sweep exclude one another")
	case unknown != nil:
		return command.Misused("-solver %v", unknown)
	}
	return nil
}

// measured returns the period of the averages.
func (o *options) measured() time.Duration {
	return time.Duration(o.hours * float64(time.Hour))
}
