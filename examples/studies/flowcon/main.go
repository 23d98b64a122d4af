// Command flowcon repeats the evaluation of FlowCon in its thesis: three jobs on a fixed schedule
// and 5, 10 and 15 random jobs on one worker, without limits (NA) and with FlowCon's, under the
// thesis' test of growth and under ours; tables beside the thesis' numbers, and its figures.
package main

import (
	"io"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
)

func main() { command.Main("flowcon", run) }

// run says what the flags are for. By default jobs beside each other lose a twentieth of a worker each, where the tables ask for a loss.
var run = noisy.Usage{
	Seeds:        "how many random schedules of each size",
	Noisy:        "instead: how many random schedules of ten jobs to play under each noise of the readings",
	Interference: "loss of capacity for each job beside the first, where the tables ask for one; in [0, 1]", Loss: 0.05,
}.Study("flowcon", play)

// play prints the tables to stdout and writes the figures.
// The whole of it takes seconds.
func play(o *noisy.Options, stdout, stderr io.Writer) error {
	if o.Noisy > 0 {
		return contest(o.Noisy).Report(stdout, stderr)
	}
	if err := reportFixed(stdout); err != nil {
		return err
	}
	studies, err := playRandom(o, stderr)
	if err != nil {
		return err
	}
	reportRandom(stdout, o, studies)
	figures, err := figures(studies)
	if err != nil {
		return err
	}
	return chart.Publish(stdout, o.Out, figures...)
}
