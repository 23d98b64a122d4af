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

// run prints the tables to stdout and writes the figures.
// The context is not looked at: the whole of it takes seconds.
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
