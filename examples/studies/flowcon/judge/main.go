// Command judge holds what ranks jobs by their growth against learning curves of which the end is known, recorded
// and trained here, each family of models judged by weights that were fitted without it; and fits the weights.
package main

import (
	"context"
	"flag"
	"io"

	"github.com/apportion/apportion/examples/studies/command"
)

func main() { command.Main("judge", run) }

// options are the flags.
type options struct {
	curves     string
	seeds      int
	fit, fresh bool
	ceiling    bool
}

var run = command.Of("judge", declare)

// declare declares the flags.
func declare(flags *flag.FlagSet) command.Body {
	o := &options{}
	flags.StringVar(&o.curves, "curves", "../../growth/testdata/curves", "folder with curves and their INDEX.csv")
	flags.IntVar(&o.seeds, "seeds", 1, "how often each run is drawn")
	flags.BoolVar(&o.fit, "fit", false, "print the weights that package growth has, and nothing else")
	flags.BoolVar(&o.fresh, "fresh", false, "judge the weights of package growth on families that they were not fitted to")
	flags.BoolVar(&o.ceiling, "ceiling", false, "print what models reach that were fitted to the very families that they are judged on, and nothing else")
	return o.run
}

// run prints the tables to stdout.
func (o *options) run(_ context.Context, stdout, _ io.Writer) error {
	if o.seeds < 1 {
		return command.Misused("-seeds must be positive")
	}
	if o.fresh {
		judgeFresh(stdout, o.seeds)
		return nil
	}
	curves, err := readCurves(o.curves)
	if err != nil {
		return err
	}
	curves = append(curves, trained(known)...)
	all := gather(curves, o.seeds)
	if o.fit {
		weights(stdout, all)
		return nil
	}
	names := families(curves)
	if o.ceiling {
		(&judged{all: all, names: names}).ceiling(stdout)
		return nil
	}
	j := &judged{all, unseen(all, names, signsOf(whole), shares), names}
	j.report(stdout)
	j.ablation(stdout)
	return nil
}

// judgeFresh judges the weights of package growth as they are.
func judgeFresh(stdout io.Writer, seeds int) {
	curves := trained(fresh)
	j := &judged{all: gather(curves, seeds), names: families(curves)}
	for i := range j.all {
		j.logits = append(j.logits, logOdds(j.all[i].evidence.Chance(enough)))
	}
	j.report(stdout)
}
