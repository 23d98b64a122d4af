// This file reads the flags that the studies of FlowCon and SpeCon have in common.

package noisy

import (
	"context"
	"flag"
	"io"

	"github.com/apportion/apportion/examples/studies/command"
)

// Options are the flags of a study.
type Options struct {
	// Seeds is how many random schedules of each size are played, at least 1; Noisy is how many are played under each noise
	// instead, 0 for the thesis' tables.
	Seeds, Noisy int
	// Interference is the part of a worker that is lost for each job beside the first, in [0, 1].
	Interference float64
	// Out is the folder for the figures.
	Out string
}

// Usage is what the flags of a study say of themselves, and the interference by default.
type Usage struct {
	Seeds, Noisy, Interference string
	Loss                       float64
}

// Study returns the study of a name, which plays what its flags ask for.
func (u Usage) Study(name string, play func(o *Options, stdout, stderr io.Writer) error) command.Run {
	return command.Of(name, func(flags *flag.FlagSet) command.Body {
		o := &Options{}
		flags.IntVar(&o.Seeds, "seeds", 50, u.Seeds)
		flags.Float64Var(&o.Interference, "interference", u.Loss, u.Interference)
		flags.IntVar(&o.Noisy, "noisy", 0, u.Noisy)
		command.Out(flags, &o.Out)
		return func(_ context.Context, stdout, stderr io.Writer) error {
			if o.Noisy < 0 {
				return command.Misused("-noisy must not be negative")
			}
			if o.Seeds < 1 || !(o.Interference >= 0 && o.Interference <= 1) { // NaN is neither
				return command.Misused("-seeds must be positive, -interference in [0, 1]")
			}
			return play(o, stdout, stderr)
		}
	})
}
