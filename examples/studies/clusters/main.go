// Command clusters shows what a day of a real trace came to on real clusters, by the cluster manager alone and with the
// controller beside it.
package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/managertest/day"
	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
)

func main() { command.Main("clusters", run) }

var run = command.Of("clusters", declare)

// played are the records that TestDay of examples/nomad, examples/slurm and examples/kubernetes, and TestYARN/day of
// examples/yarn, have written.
//
//go:embed data
var played embed.FS

// play are the records of a manager, by policy: the end of the file's name, and what the policy is called.
// A file's name is MANAGER-POLICY.json.
type play struct {
	manager  string
	policies [][2]string
}

// plays are the records in their order: what the manager does by itself comes first, and the controller beside it last.
var plays = []play{
	{"nomad", [][2]string{{"fixed", "Nomad: binpack, fixed counts"}, {"preempt", "Nomad: the same, with preemption"}, {"elastic", "Nomad: Dorm, elastic jobs"}}},
	{"slurm", [][2]string{{"fixed", "Slurm: backfill, fixed sizes"}, {"elastic", "Slurm: Dorm, elastic jobs"}}},
	{"yarn", [][2]string{{"fixed", "YARN: CapacityScheduler, fixed counts"}, {"elastic", "YARN: Dorm, elastic jobs"}}},
	{"kubernetes", [][2]string{{"fixed", "Kubernetes: stock Jobs, default scheduler"}, {"gang", "Kubernetes: gangs of fixed size"},
		{"elastic", "Kubernetes: Dorm, elastic jobs"}}},
}

// declare declares the flags.
func declare(flags *flag.FlagSet) command.Body {
	folder := flags.String("data", "", "the folder with records of TestDay; empty: those that are kept here")
	var out string
	command.Out(flags, &out)
	return func(_ context.Context, stdout, _ io.Writer) error { return publish(stdout, *folder, out) }
}

// publish prints a table and writes figures into folders by manager.
func publish(stdout io.Writer, folder, out string) error {
	files, err := fs.Sub(played, "data")
	if folder != "" {
		files = os.DirFS(folder)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, "| cluster, policy | jobs | mean completion, s | longest, s | mean slowdown | all ended after, s | slots at work | useful | fragments | fairness loss | pauses | mean pause, s |")
	fmt.Fprintln(stdout, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	var published []func() error
	for i := range plays {
		p := &plays[i]
		figures, err := p.shown(stdout, files)
		if err != nil {
			return err
		}
		published = append(published, func() error { return chart.Publish(stdout, filepath.Join(out, p.manager), figures...) })
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
func (p *play) shown(w io.Writer, files fs.FS) ([]*chart.Figure, error) {
	drawn := pictures{chart.New("held", "Slots at work", "time (s)", "part of the cluster"), chart.New("loss", "Fairness loss", "time (s)", ""),
		chart.New("completion", "Completion times", "", "from submission to end (s)")}
	for i, policy := range p.policies {
		r, err := read(files, p.manager+"-"+policy[0]+".json")
		if err != nil {
			return nil, err
		}
		m, err := r.Measure()
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", p.manager, policy[0], err)
		}
		fmt.Fprintf(w, "| %s | %d | %.1f | %.1f | %.2f | %.1f | %.0f %% | %.0f %% | %.0f %% | %.2f | %d | %.1f |\n", policy[1], len(r.Jobs), m.Mean, m.Longest, m.Slowdown,
			m.Last, 100*m.Held, 100*m.Useful, 100*m.Fragments, m.Loss, m.Resized, m.Pause)
		if err := drawn.draw(r, i, len(p.policies), policy[1]); err != nil {
			return nil, err
		}
	}
	return []*chart.Figure{drawn.held, drawn.loss, drawn.ends}, nil
}

// draw adds a record to the figures, as their i-th series of n.
func (p *pictures) draw(r *day.Record, i, n int, policy string) error {
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
	p.held.Steps(i, policy, parts)
	p.loss.Steps(i, policy, losses)
	p.ends.Bars(names, i, n, policy, took)
	return nil
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
