// Command solvers compares the solvers of P2 in one run on the same instances: how long each takes,
// on each way to write the problem, to an answer near the best, to a certificate and to proof; tables,
// and figures of time against size.
package main

import (
	"context"
	"io"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
)

func main() { command.Main("solvers", run) }

var run = command.Of("solvers", declare)

// run prints the tables to stdout and writes the figures; progress goes to stderr if it is a terminal.
// An interrupt leaves what has been measured until then.
func (o *options) run(ctx context.Context, stdout, stderr io.Writer) error {
	// -beside, -growth, -certificates and -features are programs of their own.
	if o.beside {
		return o.runBeside(ctx, stdout, stderr)
	}
	if o.growth {
		return o.runGrowth(ctx, stdout, stderr)
	}
	if o.certificates {
		return o.runCertificates(ctx, stdout, stderr)
	}
	if o.features > 0 {
		return o.runFeatures(ctx, stdout, stderr)
	}
	s, err := newStudy(o)
	if err != nil {
		return err
	}
	// Tables come instance by instance, as the whole may take an hour.
	s.reportHead(stdout)
	if err := s.measure(ctx, stdout, stderr); err != nil {
		return err
	}
	// It was interrupted before the first was done.
	if len(s.instances) == 0 {
		return ctx.Err()
	}
	if err := s.reportAll(stdout); err != nil {
		return err
	}
	if err := chart.Publish(stdout, o.out, s.figures()...); err != nil {
		return err
	}
	return ctx.Err()
}

// runGrowth does the same for -growth.
// The embedded solver works alone here.
func (o *options) runGrowth(ctx context.Context, stdout, stderr io.Writer) error {
	curves, err := grow(ctx, stderr, o.limit)
	if err != nil {
		return err
	}
	if err := reportGrowth(stdout, curves); err != nil {
		return err
	}
	return chart.Publish(stdout, o.out, growthFigures(curves)...)
}
