// This file draws time against size.

package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/examples/studies/chart"
)

// goal is what is timed in a figure.
// time returns never where a search did not get there.
type goal struct {
	name, title string
	time        func(i *instance, t trace) time.Duration
}

var goals = []goal{
	{"found", "0.1 % from the best known", func(i *instance, t trace) time.Duration { return t.found((1 - tight) * i.best()) }},
	{"certified", "a certified gap of 1 %", func(_ *instance, t trace) time.Duration { return t.certified(loose) }},
	{"proof", "proof", func(_ *instance, t trace) time.Duration { return t.proven() }},
}

// group is a sort of instances.
type group struct {
	mix   string // what their names begin with
	fresh bool
	title string
}

// The order is that of the summary, the usual case first.
var groups = []group{
	{"table2", false, "Table II, full cluster"}, {"mixed", false, "Mixed, full cluster"},
	{"table2", true, "Table II, nothing runs yet"}, {"mixed", true, "Mixed, nothing runs yet"},
}

// of returns the instances of the group.
func (g *group) of(all []*instance) []*instance {
	var some []*instance
	for _, i := range all {
		if i.fresh == g.fresh && strings.HasPrefix(i.Name, g.mix) {
			some = append(some, i)
		}
	}
	return some
}

// figures returns a figure for each goal and each group that has instances. The full clusters are the
// usual case: where there are any, only they are in the summary.
// A name ends in -fresh where nothing runs.
func (s *study) figures() []*chart.Figure {
	full := slices.ContainsFunc(s.instances, func(i *instance) bool { return !i.fresh })
	var figures []*chart.Figure
	for _, to := range goals {
		for _, g := range groups {
			some := g.of(s.instances)
			if len(some) == 0 {
				continue
			}
			name := to.name + "-" + g.mix
			if g.fresh {
				name += "-fresh"
			}
			f := chart.New(name, g.title+": time to "+to.title, "Servers x applications", "Seconds")
			f.Detail = g.fresh && full
			s.draw(f, to, some)
			figures = append(figures, f)
		}
	}
	return figures
}

// draw draws a line for each solver, on the form on which it is fastest. A search that did not reach the
// goal counts with the limit.
// some ascends by size and is not empty.
func (s *study) draw(f *chart.Figure, to goal, some []*instance) {
	var marks []chart.Mark
	for _, i := range some {
		mark := chart.Mark{At: float64(i.size()), Label: fmt.Sprintf("%d x %d", len(i.Instance.Capacity), len(i.Instance.Apps))}
		if !slices.Contains(marks, mark) {
			marks = append(marks, mark)
		}
	}
	limit := s.limit.Seconds()
	f.LogLog(chart.Range{Low: 0.8 * marks[0].At, High: 1.3 * marks[len(marks)-1].At}, chart.Range{Low: 1e-4, High: 2 * limit}, marks)
	f.Reference(limit)
	f.Note = fmt.Sprintf("Medians of each size. Dots: the limit of %s, where what did not get there is drawn", s.limit)
	for series, b := range backend.All() {
		form, points := s.bestForm(some, b.Name, to)
		if len(points) > 0 {
			f.Line(series, b.Name+", "+form, points)
		}
	}
}

// bestForm returns the form on which a solver has the least geometric mean of its times, and its
// medians by size.
// It is generous to the general solvers: each is shown on its best form, chosen afterwards.
func (s *study) bestForm(some []*instance, solver string, to goal) (best string, points plotter.XYs) {
	// logs are for choosing a form, times for drawing it.
	logs, times := map[string][]float64{}, map[string]map[int][]float64{}
	var forms []string
	for _, i := range some {
		for _, c := range i.cells {
			if c.solver != solver || c.failed != nil {
				continue
			}
			t := min(to.time(i, c.points), s.limit).Seconds()
			if times[c.form] == nil {
				forms, times[c.form] = append(forms, c.form), map[int][]float64{}
			}
			logs[c.form] = append(logs[c.form], math.Log(t))
			times[c.form][i.size()] = append(times[c.form][i.size()], t)
		}
	}
	least := math.Inf(1)
	for _, form := range forms {
		sum := 0.0
		for _, x := range logs[form] {
			sum += x
		}
		if mean := sum / float64(len(logs[form])); mean < least {
			best, least = form, mean
		}
	}
	for size, all := range times[best] {
		slices.Sort(all)
		points = append(points, plotter.XY{X: float64(size), Y: middle(all)})
	}
	slices.SortFunc(points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	return best, points
}

// middle returns the median of sorted numbers: between two of them their geometric mean.
// Times are compared by ratios, hence the geometric mean.
func middle(all []float64) float64 {
	n := len(all)
	return math.Sqrt(all[(n-1)/2] * all[n/2])
}
