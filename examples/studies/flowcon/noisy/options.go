// This file reads the flags that the studies of FlowCon and SpeCon have in common.

package noisy

import (
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

// Parse reads the flags of the study of a name; what cannot be played is an error that says on stderr how the program is called.
func (u Usage) Parse(name string, args []string, stderr io.Writer) (*Options, error) {
	o := &Options{}
	flags := command.Flags(name, stderr)
	flags.IntVar(&o.Seeds, "seeds", 50, u.Seeds)
	flags.Float64Var(&o.Interference, "interference", u.Loss, u.Interference)
	flags.IntVar(&o.Noisy, "noisy", 0, u.Noisy)
	command.Out(flags, &o.Out)
	if err := command.Parse(flags, args); err != nil {
		return nil, err
	}
	if o.Noisy < 0 {
		return nil, command.Misused(flags, "-noisy must not be negative")
	}
	if o.Seeds < 1 || !(o.Interference >= 0 && o.Interference <= 1) { // NaN is neither
		return nil, command.Misused(flags, "-seeds must be positive, -interference in [0, 1]")
	}
	return o, nil
}
