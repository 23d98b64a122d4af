// Command dorm repeats the evaluation of the Dorm paper: its testbed and workload under static
// Swarm and under Dorm with three settings, a table of the results beside the paper's, and its
// figures 6, 7, 8 and 9(a).
package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
)

func main() { command.Main("dorm", run) }

var run = command.Of("dorm", declare)

// run plays what the flags ask for and prints the tables to stdout; progress goes to stderr if it
// is a terminal.
func (o *options) run(ctx context.Context, stdout, stderr io.Writer) error {
	if o.sweep {
		return sweep(ctx, stdout, stderr, o)
	}
	if o.rules {
		return compareRules(ctx, stdout, stderr)
	}
	studies := []*study{longStudy(o), shortStudy(o)}
	if o.trace {
		s, err := traceStudy(o)
		if err != nil {
			return err
		}
		studies = []*study{s}
	}
	if err := play(ctx, stderr, studies); err != nil {
		return err
	}
	// Figures of a study go into a folder of its own, since their names are the same.
	for i, s := range studies {
		if i > 0 {
			fmt.Fprintln(stdout)
		}
		s.report(stdout)
		if err := chart.Publish(stdout, filepath.Join(o.out, s.name), s.figures()...); err != nil {
			return err
		}
	}
	return nil
}
