// Command dorm repeats the evaluation of the Dorm paper: its testbed and workload under static
// Swarm and under Dorm with three settings, a table of the results beside the paper's, and its
// figures 6, 7, 8 and 9(a).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/examples/internal/chart"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Stderr, os.Args[1:])
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "dorm:", err)
		os.Exit(1)
	}
}

// errUsage says that the flags are wrong, which the flag package has already explained.
var errUsage = errors.New("usage")

// options are the flags.
type options struct {
	seeds, apps int
	hours       float64
	solver      backend.Backend
	out         string
	trace       bool
	sweep       bool
	small       bool
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("dorm", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.seeds, "seeds", 5, "how many random workloads")
	flags.IntVar(&o.apps, "apps", paperApps, "how many applications; of a trace, how many jobs at most")
	flags.Float64Var(&o.hours, "hours", 24, "how many hours to measure; applications always run to their end")
	solver := flags.String("solver", backend.Embedded, "who solves the optimization problem: "+backend.Names(solvers))
	flags.StringVar(&o.out, "out", filepath.Join("dorm", "out"), "folder for the figures")
	flags.BoolVar(&o.trace, "trace", false, "play a day of a real trace instead of the paper's workload")
	flags.BoolVar(&o.sweep, "sweep", false, "show how the results move with what the paper leaves open")
	flags.BoolVar(&o.small, "small", false, "a quick run: 2 workloads of 10 applications, 8 hours")
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	if o.small {
		o.seeds, o.apps, o.hours = 2, 10, 8
	}
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
	case flags.NArg() > 0:
		return nil, usage(stderr, "what is %q?", flags.Arg(0))
	case o.seeds < 1 || o.apps < 1 || !(o.hours > 0 && o.hours <= 24*365):
		return nil, usage(stderr, "-seeds, -apps and -hours must be positive")
	case o.trace && o.sweep:
		return nil, usage(stderr, "-trace and -sweep exclude one another")
	case unknown != nil:
		return nil, usage(stderr, "-solver %v", unknown)
	}
	return o, nil
}

func usage(stderr io.Writer, format string, args ...any) error {
	fmt.Fprintf(stderr, "dorm: "+format+"\n", args...)
	return errUsage
}

// run plays what the flags ask for and prints the tables to stdout; progress goes to stderr if it
// is a terminal.
func run(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.sweep {
		return sweep(ctx, stdout, stderr, o)
	}
	studies := []*study{longStudy(o), shortStudy(o)}
	if o.trace {
		s, err := traceStudy(o)
		if err != nil {
			return err
		}
		studies = []*study{s}
	}
	if err := play(ctx, stderr, studies); err != nil {
		return err
	}
	for _, s := range studies {
		if err := s.report(stdout); err != nil {
			return err
		}
		figures, err := s.figures()
		if err != nil {
			return err
		}
		folder := filepath.Join(o.out, s.name)
		names, err := chart.Write(folder, figures)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "Figures, PNG and SVG, in %s: %s\n\n", folder, strings.Join(names, ", "))
	}
	return nil
}

// measured returns the period of the averages.
func (o *options) measured() time.Duration {
	return time.Duration(o.hours * float64(time.Hour))
}
