// This file prints the tables and draws the figure.

package main

import (
	"fmt"
	"io"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/growth/speedup"
)

// nameOf is the head of a model's column.
func nameOf(m int) string { return models[m].String() }

// reportLearned prints errors by number of known configurations.
func reportLearned(w io.Writer, jobs []*job, all learned, seeds int) {
	fmt.Fprintf(w, "Steps of %d models on 1 to 16 GPUs of 1 to 4 servers and all batch sizes: known are some configurations, drawn %d times,\n"+
		"predicted are all others. Mean of |predicted/measured - 1| in percent, and the error that auto names itself.\n", len(jobs), seeds)
	table := command.NewTable(w)
	table.Row("job\tknown", len(models), nameOf, "auto says")
	for j := range jobs {
		for k, n := range known {
			says := "-"
			if auto := &all[j][k][len(models)-1]; auto.named > 0 {
				says = fmt.Sprintf("%.1f", 100*auto.says/float64(auto.named))
			}
			table.Row(fmt.Sprintf("%s\t%d", jobs[j].name, n), len(models), func(m int) string { return all[j][k][m].off.String() }, says)
		}
	}
	table.End()
}

// reportDoubled prints errors on more containers than were measured.
func reportDoubled(w io.Writer, jobs []*job) error {
	fmt.Fprintln(w, "Known are up to 64 configurations on up to some GPUs, predicted those on twice as many; the last row of a job: up to 16, predicted up to 64.")
	table := command.NewTable(w)
	table.Row("job\tknown\tpredicted", len(models), nameOf)
	for _, j := range jobs {
		for _, n := range []int64{1, 2, 4, 8, 16} {
			train, test := split(j.small, func(o *speedup.Observation) bool { return o.Containers <= n },
				func(o *speedup.Observation) bool { return o.Containers == 2*n })
			name := fmt.Sprint(2 * n)
			if n == 16 {
				_, test = split(j.wide, func(*speedup.Observation) bool { return false }, func(o *speedup.Observation) bool { return o.Containers > n })
				name = "to 64"
			}
			off := make([]wrong, len(models))
			if err := fitAll(off, thin(train, mostKnown), test); err != nil {
				return err
			}
			table.Row(fmt.Sprintf("%s\tto %d\t%s", j.name, n, name), len(off), func(m int) string { return off[m].String() })
		}
	}
	table.End()
	return nil
}

// fitAll fits all models to some measurements, and adds their errors on others.
func fitAll(off []wrong, train, test []speedup.Observation) error {
	for m, model := range models {
		c, err := speedup.Fit(train, &speedup.Options{Model: model})
		if err != nil {
			return err
		}
		off[m].add(c, test)
	}
	return nil
}

// reportTypes prints errors on types of jobs and accelerators, which were measured four times each.
func reportTypes(w io.Writer, types []*kind) error {
	fmt.Fprintln(w, "Types of jobs by accelerator, each container with a batch of its own: the mean error over the types.")
	table := command.NewTable(w)
	table.Row("accelerator\ttypes\tknown\tpredicted", len(models), nameOf)
	for _, accelerator := range []string{"k80", "p100", "v100"} {
		for _, cut := range []int64{1, 2, 4} {
			off := make([]wrong, len(models))
			count := 0
			for _, k := range types {
				if k.accelerator != accelerator {
					continue
				}
				count++
				train, test := split(k.steps, func(o *speedup.Observation) bool { return o.Containers <= cut },
					func(o *speedup.Observation) bool { return o.Containers == 2*cut })
				if err := fitAll(off, train, test); err != nil {
					return err
				}
			}
			table.Row(fmt.Sprintf("%s\t%d\tto %d\t%d", accelerator, count, cut, 2*cut), len(off), func(m int) string { return off[m].String() })
		}
	}
	table.End()
	return nil
}

// figure draws the mean error of the jobs over the number of known configurations.
func figure(all learned) *chart.Figure {
	f := chart.New("speedup-error", "Error of predicted step times", "Known configurations", "Error (percent)")
	f.YRange(0, 60)
	for m, model := range models {
		var points plotter.XYs
		for k, n := range known {
			sum := 0.0
			for j := range all {
				sum += all[j][k][m].off.percent() / float64(len(all))
			}
			points = append(points, plotter.XY{X: float64(n), Y: min(sum, 60)})
		}
		f.Line(m, model.String(), points)
	}
	return f
}
