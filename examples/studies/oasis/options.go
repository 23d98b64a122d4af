// This file reads the flags.

package main

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/apportion/apportion/examples/studies/command"
)

// options are the flags.
// seeds and tiny count workloads. windows, trace and speeds are paths, empty where the flag is not given;
// held, factors, speeds and every go with windows.
type options struct {
	seeds, tiny int
	out         string
	small       bool
	traces      bool
	trace       string
	windows     string
	every       int
	held        bool
	factors     bool
	speeds      string
	// gpus are sizes of cluster, nil where the flag is not given.
	gpus []int
}

// parse reads them; what cannot be played is an error that says how the program is called.
func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := command.Flags("oasis", stderr)
	flags.IntVar(&o.seeds, "seeds", 5, "how many random workloads of each size")
	flags.IntVar(&o.tiny, "tiny", 50, "how many tiny workloads to compare with the offline optimum")
	command.Out(flags, &o.out)
	flags.BoolVar(&o.small, "small", false, "a quick run: 8 servers a side, 30 slots, 10 to 40 jobs")
	flags.BoolVar(&o.traces, "traces", false, "play 300 jobs of each of two real traces instead of the paper's workload")
	flags.StringVar(&o.trace, "trace", "", "play the trace in this `file` instead: CSV, with the columns of README.md")
	flags.StringVar(&o.windows, "windows", "", "play 90 windows of the traces in this `folder` instead: chronus_slo.csv.gz, ms_itp_2021.csv.gz")
	flags.BoolVar(&o.held, "held", false, "with -windows: traces on which no setting was chosen instead: thetagpu_2023.csv.gz, philly_vcs.csv.gz")
	flags.BoolVar(&o.factors, "factors", false, "with -windows: only displacement, with every factor, on those windows and the held ones")
	flags.StringVar(&o.speeds, "speeds", "", "with -windows: jobs scale as the step times in this `folder` say: pollux_placements.csv.gz, pollux_scalability.csv.gz")
	flags.IntVar(&o.every, "every", 1, "with -windows: play only every so manieth")
	flags.Func("gpus", "with -windows and -trace: the sizes of cluster, `numbers` of GPUs with commas between; else parts of what the jobs keep busy", o.readSizes)
	if err := command.Parse(flags, args); err != nil {
		return nil, err
	}
	if o.seeds < 1 || o.tiny < 1 || o.every < 1 {
		return nil, command.Misused(flags, "-seeds, -tiny and -every must be positive")
	}
	return o, nil
}

// readSizes reads -gpus.
// The flag may be given several times, which adds sizes.
func (o *options) readSizes(text string) error {
	for _, part := range strings.Split(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return errors.New("sizes must be positive whole numbers")
		}
		o.gpus = append(o.gpus, n)
	}
	return nil
}
