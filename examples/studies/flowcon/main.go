// Command flowcon repeats the evaluation of FlowCon in its thesis: three jobs on a fixed schedule
// and 5, 10 and 15 random jobs on one worker, without limits (NA) and with FlowCon's, under the
// thesis' test of growth and under ours; tables beside the thesis' numbers, and its figures.
package main

import (
	"context"
	"io"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
)

func main() { command.Main("flowcon", run) }

// options are the flags.
type options struct {
	seeds, noisy int
	interference float64
	out          string
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := command.Flags("flowcon", stderr)
	flags.IntVar(&o.seeds, "seeds", 50, "how many random schedules of each size")
	flags.Float64Var(&o.interference, "interference", 0.05, "loss of capacity for each job beside the first, where the tables ask for one; in [0, 1]")
	flags.IntVar(&o.noisy, "noisy", 0, "instead: how many random schedules of ten jobs to play under each noise of the readings")
	command.Out(flags, &o.out)
	if err := command.Parse(flags, args); err != nil {
		return nil, err
	}
	if o.noisy < 0 {
		return nil, command.Misused(flags, "-noisy must not be negative")
	}
	if o.seeds < 1 || !(o.interference >= 0 && o.interference <= 1) {
		return nil, command.Misused(flags, "-seeds must be positive, -interference in [0, 1]")
	}
	return o, nil
}

// run prints the tables to stdout and writes the figures.
func run(_ context.Context, stdout, stderr io.Writer, args []string) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.noisy > 0 {
		return reportNoisy(stdout, stderr, o.noisy)
	}
	if err := reportFixed(stdout); err != nil {
		return err
	}
	studies, err := playRandom(o, stderr)
	if err != nil {
		return err
	}
	if err := reportRandom(stdout, o, studies); err != nil {
		return err
	}
	figures, err := figures(studies)
	if err != nil {
		return err
	}
	return chart.Publish(stdout, o.out, figures)
}
