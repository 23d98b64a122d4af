// Command queues plays a month of a cluster whose users belong to projects, under shares of all users alike and under
// shares of projects: what each project loses, how long jobs wait, what is borrowed and taken back.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
)

func main() { command.Main("queues", study) }

var study = command.Of("queues", declare)

// declare declares the flags. What runs prints the table to stdout and writes the figure.
func declare(flags *flag.FlagSet) command.Body {
	file := flags.String("trace", "", "a trace, for instance thetagpu_2023.csv.gz: its busiest 30 days; empty: a month that is made up")
	gpus := flags.Int64("gpus", 32, "how many GPUs the cluster has")
	var out string
	command.Out(flags, &out)
	return func(_ context.Context, stdout, _ io.Writer) error {
		if *gpus < 1 {
			return command.Misused("-gpus must be positive")
		}
		jobs := madeUp(*gpus)
		if *file != "" {
			var err error
			if jobs, err = readMonth(*file, *gpus); err != nil {
				return err
			}
		}
		var outcomes []*outcome
		for _, p := range policies {
			o, err := play(jobs, *gpus, p)
			if err != nil {
				return err
			}
			outcomes = append(outcomes, o)
		}
		report(stdout, jobs, outcomes)
		return chart.Publish(stdout, out, losses(outcomes))
	}
}

// report prints a line for each policy.
// Waiting times are of first starts: what comes after being taken back counts as lost work.
func report(w io.Writer, jobs []job, outcomes []*outcome) {
	work := 0.0
	for _, j := range jobs {
		work += j.length * float64(j.gpus) / hour
	}
	fmt.Fprintf(w, "%d jobs of %d projects, %.0f GPU hours\n\n", len(jobs), len(guarantees(jobs, 1)), work)
	fmt.Fprintln(w, "| shares | mean wait, h | 95 % wait, h | loss of all projects, GPU h | of the one that loses most | borrowed, GPU h | taken back | reclaimed, GPU h | work lost, GPU h |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, o := range outcomes {
		sum, most := 0.0, 0.0
		for _, project := range slices.Sorted(maps.Keys(o.loss)) {
			sum += o.loss[project]
			most = max(most, o.loss[project])
		}
		mean, wait := 0.0, slices.Sorted(slices.Values(o.waiting))
		for _, hours := range wait {
			mean += hours / float64(len(wait))
		}
		fmt.Fprintf(w, "| %s | %.2f | %.1f | %.0f | %.0f | %.0f | %d | %.0f | %.0f |\n",
			o.policy.name, mean, wait[len(wait)*95/100], sum, most, o.borrowed, o.taken, o.reclaimed, o.lost)
	}
	fmt.Fprintln(w)
}

// shown is how many projects the figure has.
const shown = 12

// losses draws the loss of the projects that lose most under the first policy.
func losses(outcomes []*outcome) *chart.Figure {
	flat := outcomes[0].loss
	projects := slices.Sorted(maps.Keys(flat))
	slices.SortStableFunc(projects, func(a, b string) int { return cmp.Compare(flat[b], flat[a]) })
	projects = projects[:min(shown, len(projects))]
	f := chart.New("losses", "What projects have below their due", "project", "GPU hours")
	top := 1.0
	for i, o := range outcomes {
		var values []float64
		for _, project := range projects {
			values = append(values, o.loss[project])
			top = max(top, o.loss[project])
		}
		f.Bars(projects, i, len(outcomes), o.policy.name, values)
	}
	f.YRange(0, 1.1*top)
	return f
}
