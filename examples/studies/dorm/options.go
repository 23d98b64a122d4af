// This file reads the flags.

package main

import (
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

// parse reads them; what cannot be played is an error that says how the program is called.
func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := command.Flags("dorm", stderr)
	flags.IntVar(&o.seeds, "seeds", 5, "how many random workloads")
	flags.IntVar(&o.apps, "apps", paperApps, "how many applications; of a trace, how many jobs at most")
	flags.Float64Var(&o.hours, "hours", 24, "how many hours to measure; applications always run to their end")
	solver := flags.String("solver", backend.Embedded, "who solves the optimization problem: "+backend.Names(solvers))
	command.Out(flags, &o.out)
	flags.BoolVar(&o.trace, "trace", false, "play a day of a real trace instead of the paper's workload")
	flags.BoolVar(&o.sweep, "sweep", false, "show how the results move with what the paper leaves open")
	flags.BoolVar(&o.rules, "rules", false, "compare what happens where not all newcomers can be had, on days with few GPUs")
	flags.BoolVar(&o.small, "small", false, "a quick run: 2 workloads of 10 applications, 8 hours")
	if err := command.Parse(flags, args); err != nil {
		return nil, err
	}
	if o.small {
		o.seeds, o.apps, o.hours = 2, 10, 8
	}
	// The trace is one scenario: there is nothing to draw. All its jobs are played unless -apps says how
	// many.
	if o.trace {
		set := false
		flags.Visit(func(f *flag.Flag) { set = set || f.Name == "apps" })
		if !set && !o.small {
			o.apps = traceJobs
		}
		o.seeds = 1
	}
	var unknown error
	o.solver, unknown = backend.Find(solvers, *solver)
	switch {
	case o.seeds < 1 || o.apps < 1 || !(o.hours > 0 && o.hours <= 24*365):
		return nil, command.Misused(flags, "-seeds, -apps and -hours must be positive")
	case o.trace && o.sweep:
		return nil, command.Misused(flags, "-trace and -sweep exclude one another")
	case unknown != nil:
		return nil, command.Misused(flags, "-solver %v", unknown)
	}
	return o, nil
}

// measured returns the period of the averages.
func (o *options) measured() time.Duration {
	return time.Duration(o.hours * float64(time.Hour))
}
