// Command clusters shows what a day of a real trace came to on real clusters, by the cluster manager alone and with the
// controller beside it.
package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/internal/beside/day"
	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
)

func main() { command.Main("clusters", study) }

// played are the records that TestDay of examples/nomad and examples/slurm, and TestYARN/day of examples/yarn, have written.
//
//go:embed data
var played embed.FS

// plays are the records in their order: managers, and the policies on each.
var plays = []struct {
	manager string
	// fixed is what the manager does by itself, elastic what the controller beside it does.
	fixed, elastic string
}{
	{"nomad", "Nomad: binpack, fixed counts", "Nomad: Dorm, elastic jobs"},
	{"slurm", "Slurm: backfill, fixed sizes", "Slurm: Dorm, elastic jobs"},
	{"yarn", "YARN: CapacityScheduler, fixed counts", "YARN: Dorm, elastic jobs"},
}

// study prints a table and writes a figure for each manager.
func study(_ context.Context, stdout, stderr io.Writer, args []string) error {
	flags := command.Flags("clusters", stderr)
	folder := flags.String("data", "", "the folder with records of TestDay; empty: those that are kept here")
	var out string
	command.Out(flags, &out)
	if err := command.Parse(flags, args); err != nil {
		return err
	}
	files, err := fs.Sub(played, "data")
	if *folder != "" {
		files = os.DirFS(*folder)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, "| cluster, policy | jobs | mean completion, s | longest, s | mean slowdown | all ended after, s | slots at work | useful | fairness loss | pauses | mean pause, s |")
	fmt.Fprintln(stdout, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	var published []func() error
	for _, p := range plays {
		figures, err := shown(stdout, files, p.manager, []string{p.fixed, p.elastic})
		if err != nil {
			return err
		}
		published = append(published, func() error { return chart.Publish(stdout, filepath.Join(out, p.manager), figures) })
	}
	fmt.Fprintln(stdout)
	for _, publish := range published {
		err = errors.Join(err, publish())
	}
	return err
}

// pictures are the figures of a manager.
type pictures struct{ held, loss, ends *chart.Figure }

// shown prints the lines of a manager's records, and draws them.
func shown(w io.Writer, files fs.FS, manager string, policies []string) ([]*chart.Figure, error) {
	p := pictures{chart.New("held", "Slots at work", "time (s)", "part of the cluster"), chart.New("loss", "Fairness loss", "time (s)", ""),
		chart.New("completion", "Completion times", "", "from submission to end (s)")}
	for i, name := range []string{"fixed", "elastic"} {
		r, err := read(files, manager+"-"+name+".json")
		if err != nil {
			return nil, err
		}
		m, err := r.Measure()
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", manager, name, err)
		}
		fmt.Fprintf(w, "| %s | %d | %.1f | %.1f | %.2f | %.1f | %.0f %% | %.0f %% | %.2f | %d | %.1f |\n", policies[i], len(r.Jobs), m.Mean, m.Longest, m.Slowdown,
			m.Last, 100*m.Held, 100*m.Useful, m.Loss, m.Resized, m.Pause)
		if err := p.draw(r, i, policies[i]); err != nil {
			return nil, err
		}
	}
	return []*chart.Figure{p.held, p.loss, p.ends}, nil
}

// draw adds a record to the figures, as their i-th series of two.
func (p *pictures) draw(r *day.Record, i int, policy string) error {
	samples, err := r.Samples(1)
	if err != nil {
		return err
	}
	var parts, losses plotter.XYs
	for _, s := range samples {
		parts = append(parts, plotter.XY{X: s.At, Y: s.Held})
		losses = append(losses, plotter.XY{X: s.At, Y: s.Loss})
	}
	var names []string
	var took []float64
	for j := range r.Jobs {
		names = append(names, fmt.Sprintf("%d", j+1))
		took = append(took, r.Jobs[j].Ended-r.Jobs[j].At)
	}
	return errors.Join(p.held.Steps(i, policy, parts), p.loss.Steps(i, policy, losses), p.ends.Bars(names, i, 2, policy, took))
}

// read reads a record.
func read(files fs.FS, name string) (*day.Record, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	r := &day.Record{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}
