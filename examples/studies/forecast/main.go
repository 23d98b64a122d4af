// Command forecast judges forecasts of starts on a trace: how often jobs start before the quantiles that were told at their submission.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
)

func main() { command.Main("forecast", run) }

var run = command.Of("forecast", declare)

// options are the flags.
type options struct {
	trace, unit, policy string
	servers, size       int64
	from, days          float64
	samples, replays    int
	real, ablations     bool
	out                 string
}

// declare declares the flags.
func declare(flags *flag.FlagSet) command.Body {
	o := &options{}
	flags.StringVar(&o.trace, "trace", "", "a trace, for instance theta_2023.csv.gz; empty: jobs that are made up")
	flags.StringVar(&o.unit, "unit", "gpus", "what jobs ask for: gpus or tasks")
	flags.StringVar(&o.policy, "policy", "easy", "who decides: "+strings.Join(policyNames, ", "))
	flags.Int64Var(&o.servers, "servers", 4, "how many servers the cluster has")
	flags.Int64Var(&o.size, "size", 8, "how many units each of them has")
	flags.Float64Var(&o.from, "from", 0, "the first day of the trace that is played")
	flags.Float64Var(&o.days, "days", 30, "how many days are played; the second half is judged")
	flags.IntVar(&o.samples, "samples", 300, "how many jobs are judged at most")
	flags.IntVar(&o.replays, "replays", 32, "how many replays a forecast has")
	flags.BoolVar(&o.real, "real", false, "judge by the waits that the trace has, in place of those under the policy")
	flags.BoolVar(&o.ablations, "ablations", false, "a row without each of the ingredients")
	command.Out(flags, &o.out)
	return o.run
}

// run prints the tables to stdout and writes the figure.
func (o *options) run(ctx context.Context, stdout, stderr io.Writer) error {
	if !slices.Contains(policyNames, o.policy) || o.unit != "gpus" && o.unit != "tasks" {
		return command.Misused("-policy %s, -unit %s", o.policy, o.unit)
	}
	if o.servers < 1 || o.size < 1 || o.days <= 0 || o.samples < 1 || o.replays < 1 {
		return command.Misused("-servers, -size, -days, -samples and -replays must be positive")
	}
	jobs, err := readJobs(o)
	if err != nil {
		return err
	}
	moments, jobs, err := watch(ctx, o, jobs)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d jobs in %g days on %d units; judged: %d that waited, of the second half\n\n", len(jobs), o.days, o.servers*o.size, len(moments))
	if len(moments) == 0 {
		return nil
	}
	rows := variants[:1:1]
	if o.ablations {
		rows = variants
	}
	rows = append(rows[:len(rows):len(rows)], limitsAlone)
	var judged []*judgement
	for _, v := range rows {
		j, err := o.judge(ctx, jobs, moments, v, stderr)
		if err != nil {
			return err
		}
		judged = append(judged, j)
	}
	report(stdout, judged)
	return chart.Publish(stdout, o.out, reliability(judged[0], judged[len(judged)-1]))
}
