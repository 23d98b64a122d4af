// Command oasis repeats the comparison of the OASiS paper: total utility under OASiS, FIFO, DRF, RRH
// and Dorm, completion against target, the ratio to the offline optimum and what estimates of U and L
// do; tables, figures, and the same jobs with deadlines from a real trace.
package main

import (
	"context"
	"io"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
)

func main() { command.Main("oasis", run) }

// options are the flags.
type options struct {
	seeds, tiny int
	out         string
	small       bool
	trace       bool
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := command.Flags("oasis", stderr)
	flags.IntVar(&o.seeds, "seeds", 5, "how many random workloads of each size")
	flags.IntVar(&o.tiny, "tiny", 50, "how many tiny workloads to compare with the offline optimum")
	command.Out(flags, &o.out)
	flags.BoolVar(&o.small, "small", false, "a quick run: 8 servers a side, 30 slots, 10 to 40 jobs")
	flags.BoolVar(&o.trace, "trace", false, "play 300 jobs of each of two real traces instead of the paper's workload")
	if err := command.Parse(flags, args); err != nil {
		return nil, err
	}
	if o.seeds < 1 || o.tiny < 1 {
		return nil, command.Misused(flags, "-seeds and -tiny must be positive")
	}
	return o, nil
}

// run prints the tables to stdout and writes the figures; progress goes to stderr if it is a terminal.
func run(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.trace {
		return runTrace(ctx, stdout, stderr)
	}
	s := newStudy(o)
	if err := s.play(ctx, stderr); err != nil {
		return err
	}
	s.reportUtility(stdout)
	s.reportTargets(stdout)
	if err := s.reportScales(ctx, stdout, stderr); err != nil {
		return err
	}
	if err := reportOptimum(ctx, stdout, o.tiny); err != nil {
		return err
	}
	s.reportClaims(stdout)
	figures, err := s.figures()
	if err != nil {
		return err
	}
	return chart.Publish(stdout, o.out, figures)
}
