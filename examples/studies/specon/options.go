// This file reads the flags.

package main

import (
	"io"

	"github.com/apportion/apportion/examples/studies/command"
)

// options are the flags.
// noisy is 0 for the thesis' tables.
type options struct {
	seeds, noisy int
	interference float64
	out          string
}

// parse reads them; what cannot be played is an error that says how the program is called.
func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := command.Flags("specon", stderr)
	flags.IntVar(&o.seeds, "seeds", 50, "how many runs of each schedule, with other random arrivals, models and placements")
	flags.Float64Var(&o.interference, "interference", 0, "loss of a worker's capacity for each job beside the first, in [0, 1]")
	flags.IntVar(&o.noisy, "noisy", 0, "instead: how many random schedules of twenty jobs to play under each noise of the readings")
	command.Out(flags, &o.out)
	if err := command.Parse(flags, args); err != nil {
		return nil, err
	}
	if o.noisy < 0 {
		return nil, command.Misused(flags, "-noisy must not be negative")
	}
	if o.seeds < 1 || !(o.interference >= 0 && o.interference <= 1) {
		return nil, command.Misused(flags, "-seeds must be positive, -interference in [0, 1]")
	}
	return o, nil
}
