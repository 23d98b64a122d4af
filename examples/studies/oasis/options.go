// This file reads the flags.

package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"strconv"
	"strings"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/examples/studies/command"
)

// options are the flags.
// seeds and tiny count workloads. windows and trace are paths, empty where the flag is not given; each, seed and solver go with windows.
type options struct {
	seeds, tiny int
	out         string
	small       bool
	trace       string
	windows     string
	each, seed  int
	// solver answers linear programs; nil where the flag is not given.
	solver milp.Solver
	// gpus are sizes of cluster, nil where the flag is not given.
	gpus []int
}

// declare declares them.
func declare(flags *flag.FlagSet) command.Body {
	o := &options{}
	flags.IntVar(&o.seeds, "seeds", 5, "how many random workloads of each size")
	flags.IntVar(&o.tiny, "tiny", 50, "how many tiny workloads to compare with the offline optimum")
	command.Out(flags, &o.out)
	flags.BoolVar(&o.small, "small", false, "a quick run: 8 servers a side, 30 slots, 10 to 40 jobs")
	flags.StringVar(&o.trace, "trace", "", "play the trace in this `file` instead: CSV, with the columns of README.md")
	flags.StringVar(&o.windows, "windows", "", "play windows of the traces in this `folder` instead: chronus_slo, ms_itp_2021, thetagpu_2023, philly_vcs, each .csv.gz")
	flags.IntVar(&o.each, "each", 15, "with -windows: how many of each trace")
	flags.IntVar(&o.seed, "seed", 1, "with -windows: the seed of the first of each trace")
	flags.Func("lp", "with -windows: bound what deadlines can earn by the linear program, answered by this `solver`: "+lpSolvers, o.readSolver)
	flags.Func("gpus", "with -trace: the sizes of cluster, `numbers` of GPUs with commas between", o.readSizes)
	return func(ctx context.Context, stdout, stderr io.Writer) error {
		if o.seeds < 1 || o.tiny < 1 || o.each < 1 || o.seed < 0 {
			return command.Misused("-seeds, -tiny and -each must be positive, -seed not negative")
		}
		return o.run(ctx, stdout, stderr)
	}
}

// lpSolvers are the names that -lp takes.
const lpSolvers = backend.BranchAndBound + " or " + backend.HiGHS

// readSolver reads -lp.
func (o *options) readSolver(name string) error {
	found, err := backend.Find(backend.All(), name)
	if err != nil || name != backend.BranchAndBound && name != backend.HiGHS {
		return errors.New("must be " + lpSolvers)
	}
	o.solver = found.General
	return nil
}

// readSizes reads -gpus.
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
