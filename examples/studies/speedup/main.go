// Command speedup holds fits of training speed against measured step times: how far off each model is on placements that
// it has not seen, by how many it has, and on more containers than were measured.
package main

import (
	"context"
	"flag"
	"io"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
)

func main() { command.Main("speedup", run) }

// options are the flags.
type options struct {
	seeds int
	out   string
}

var run = command.Of("speedup", declare)

// declare declares the flags.
func declare(flags *flag.FlagSet) command.Body {
	o := &options{}
	flags.IntVar(&o.seeds, "seeds", 20, "how many draws of measured placements each row is the mean of")
	command.Out(flags, &o.out)
	return o.run
}

// run prints the tables to stdout and writes the figure.
func (o *options) run(ctx context.Context, stdout, stderr io.Writer) error {
	if o.seeds < 1 {
		return command.Misused("-seeds must be positive")
	}
	jobs, err := readJobs()
	if err != nil {
		return err
	}
	types, err := readTypes()
	if err != nil {
		return err
	}
	learned, err := learnAll(ctx, jobs, o.seeds, stderr)
	if err != nil {
		return err
	}
	reportLearned(stdout, jobs, learned, o.seeds)
	if err := reportDoubled(stdout, jobs); err != nil {
		return err
	}
	if err := reportTypes(stdout, types); err != nil {
		return err
	}
	return chart.Publish(stdout, o.out, figure(learned))
}
