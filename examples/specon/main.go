// Command specon repeats the evaluation of SpeCon in its thesis: 20 VAE at a fixed interval, 20, 30
// and 50 random jobs on 4 and 8 workers, under the default scheduler (DS) and under SpeCon; tables
// beside the thesis' numbers, and its figures.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/apportion/apportion/examples/internal/chart"
)

func main() {
	err := run(os.Stdout, os.Stderr, os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "specon:", err)
		os.Exit(1)
	}
}

// errUsage says that the flags are wrong, which has been explained already.
var errUsage = errors.New("usage")

// options are the flags.
type options struct {
	seeds        int
	interference float64
	out          string
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("specon", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.seeds, "seeds", 50, "how many runs of each schedule, with other random arrivals, models and placements")
	flags.Float64Var(&o.interference, "interference", 0, "loss of a worker's capacity for each job beside the first, in [0, 1]")
	flags.StringVar(&o.out, "out", filepath.Join("specon", "out"), "folder for the figures")
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 || o.seeds < 1 || !(o.interference >= 0 && o.interference <= 1) {
		fmt.Fprintln(stderr, "specon: -seeds must be positive, -interference in [0, 1]; there are no arguments")
		return nil, errUsage
	}
	return o, nil
}

// run prints the tables to stdout and writes the figures.
func run(stdout, stderr io.Writer, args []string) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	studies, err := playAll(o, stderr)
	if err != nil {
		return err
	}
	if err := reportSchedules(stdout, o, studies); err != nil {
		return err
	}
	if err := reportParameters(stdout, studies); err != nil {
		return err
	}
	if err := reportJobs(stdout, studies); err != nil {
		return err
	}
	figures, err := figures(studies)
	if err != nil {
		return err
	}
	names, err := chart.Write(o.out, figures)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "Figures, PNG and SVG, in %s: %s\n", o.out, strings.Join(names, ", "))
	return nil
}
