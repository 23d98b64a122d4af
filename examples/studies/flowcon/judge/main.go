// Command judge holds classifiers of growth against recorded learning curves of which the end is known: how
// often each calls a job converged that has more than 5 % of its improvement ahead (harm), and how often it
// does not call one so that has less (waste), on families of models that its alpha was not chosen on.
package main

import (
	"context"
	"io"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/growth"
)

func main() { command.Main("judge", run) }

// options are the flags.
type options struct {
	curves string
	seeds  int
	// confidence is growth.Prospect.Confidence.
	confidence float64
	out        string
}

// The folder is relative to examples/studies, where `go run -C` starts it.
func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := command.Flags("judge", stderr)
	flags.StringVar(&o.curves, "curves", "../../growth/testdata/curves", "folder with curves and their INDEX.csv")
	flags.IntVar(&o.seeds, "seeds", 2, "how often each noisy run is drawn")
	flags.Float64Var(&o.confidence, "confidence", growth.DefaultConfidence, "how many factors of two around alpha Prospect is unsure in")
	command.Out(flags, &o.out)
	if err := command.Parse(flags, args); err != nil {
		return nil, err
	}
	if o.seeds < 1 {
		return nil, command.Misused(flags, "-seeds must be positive")
	}
	if err := (growth.Prospect{Alpha: fixed.alpha, Confidence: o.confidence}).Validate(); err != nil || o.confidence == 0 {
		return nil, command.Misused(flags, "-confidence must be positive")
	}
	return o, nil
}

// run prints the tables to stdout and writes the figures.
func run(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	// Contestants are made anew each time they are asked for, and read it.
	confidence = o.confidence
	curves, err := readCurves(o.curves)
	if err != nil {
		return err
	}
	verdicts, err := judgeAll(ctx, curves, o.seeds, stderr)
	if err != nil {
		return err
	}
	if err := report(stdout, curves, verdicts); err != nil {
		return err
	}
	figures, err := figures(verdicts)
	if err != nil {
		return err
	}
	return chart.Publish(stdout, o.out, figures)
}
