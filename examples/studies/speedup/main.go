// Command speedup holds fits of training speed against measured step times: how far off each model is on placements that
// it has not seen, by how many it has, and on more containers than were measured.
package main

import (
	"context"
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

// parse reads the flags; an error has been explained on stderr.
func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := command.Flags("speedup", stderr)
	flags.IntVar(&o.seeds, "seeds", 20, "how many draws of measured placements each row is the mean of")
	command.Out(flags, &o.out)
	if err := command.Parse(flags, args); err != nil {
		return nil, err
	}
	if o.seeds < 1 {
		return nil, command.Misused(flags, "-seeds must be positive")
	}
	return o, nil
}

// run prints the tables to stdout and writes the figure.
func run(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
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
