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

var run = command.Of("oasis", declare)

// run prints the tables to stdout and writes the figures; progress goes to stderr if it is a terminal.
func (o *options) run(ctx context.Context, stdout, stderr io.Writer) error {
	if o.windows != "" {
		return runWindows(ctx, o, stdout, stderr)
	}
	if o.trace != "" {
		return runOwn(ctx, o, stdout, stderr)
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
	return chart.Publish(stdout, o.out, s.figures()...)
}
