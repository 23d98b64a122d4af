// Command elastic plays jobs that train on any number of GPUs under the schedulers of the last years and under what
// containers are worth: published workloads and traces, measured step times, on one type of accelerator and on three.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
)

func main() { command.Main("elastic", run) }

// quickJobs is how many jobs of each workload -quick plays.
const quickJobs = 25

// options are the flags.
type options struct {
	quick bool
	// quality is how often the curves of each workload are drawn; 0: the other tables.
	quality int
	// others: the workloads that had no say, and nothing else.
	others bool
	// places: the table of what worths know of servers, and nothing else.
	places bool
	out    string
}

var run = command.Of("elastic", declare)

// declare declares the flags.
func declare(flags *flag.FlagSet) command.Body {
	o := &options{}
	flags.BoolVar(&o.quick, "quick", false, "the first 25 jobs of one workload only")
	flags.IntVar(&o.quality, "quality", 0, "instead of all this: how often to draw learning curves for each workload, with weights by growth")
	flags.BoolVar(&o.others, "others", false, "instead of all this: ten stretches of traces that had no say in any setting")
	flags.BoolVar(&o.places, "places", false, "instead of all this: worths that know nothing of servers, the measured speeds on them, or blocks of GPUs")
	command.Out(flags, &o.out)
	return o.run
}

// run prints the tables to stdout, what decisions took to stderr, and writes the figure.
// What depends on the machine goes to stderr, so that stdout is the same everywhere.
func (o *options) run(ctx context.Context, stdout, stderr io.Writer) error {
	if o.quality < 0 {
		return command.Misused("-quality must not be negative")
	}
	w, err := readWorld()
	if err != nil {
		return err
	}
	if o.others {
		return w.playOthers(ctx, stdout, stderr, o.quick)
	}
	loads, err := readWorkloads()
	if err != nil {
		return err
	}
	// The tables by type and by part are made on these alone, as each is another run of every policy.
	some := judged(loads)
	published := loads[:4]
	if o.quick {
		loads = loads[2:3]
		loads[0].jobs = loads[0].jobs[:quickJobs]
		some, published = loads, loads
	}
	if o.places {
		return w.playPlaces(ctx, stdout, stderr, published)
	}
	if o.quality > 0 {
		return w.reportQuality(ctx, stdout, stderr, some, o.quality)
	}
	plain, err := w.playAll(ctx, loads, nil, contest(), stderr)
	if err != nil {
		return err
	}
	plain.report(stdout, stderr)
	mixed, err := w.playAll(ctx, some, types, onTypes(), stderr)
	if err != nil {
		return err
	}
	mixed.reportTypes(stdout)
	parts, err := w.playAll(ctx, some, nil, ablation(), stderr)
	if err != nil {
		return err
	}
	parts.reportParts(stdout)
	return chart.Publish(stdout, o.out, figure(plain))
}

// playPlaces plays what worths know of servers, and prints that table.
func (w *world) playPlaces(ctx context.Context, stdout, stderr io.Writer, loads []*workload) error {
	t, err := w.playAll(ctx, loads, nil, places(), stderr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "Mean completion time in seconds by what worths know of servers; the reduction is against %q.\n\n", nameBlocks)
	t.means(stdout, nameBlocks)
	t.details(stdout)
	return nil
}

// playOthers plays the workloads that had no say, with quick one of them, and prints their table.
func (w *world) playOthers(ctx context.Context, stdout, stderr io.Writer, quick bool) error {
	loads, err := readOthers()
	if err != nil {
		return err
	}
	if quick {
		loads = loads[8:9]
		loads[0].jobs = loads[0].jobs[:quickJobs]
	}
	t, err := w.playAll(ctx, loads, nil, thresholds(), stderr)
	if err != nil {
		return err
	}
	t.reportOthers(stdout)
	return nil
}
