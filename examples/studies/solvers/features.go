// This file compares decisions whose loss budget binds, feature by feature, with those of a general solver.

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/problemtest"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/examples/studies/command"
)

// feature is what the paper's applications have not.
type feature struct {
	name string
	add  func(p *alloc.Problem, i int)
}

// features are compared one by one, the first without any.
var features = []feature{
	{"none", func(*alloc.Problem, int) {}},
	{"lists of counts", func(p *alloc.Problem, i int) { p.Applications[i].Counts = []int64{1, 2, 4, 8, 16, 32} }},
	{"steps", func(p *alloc.Problem, i int) { p.Applications[i].Min, p.Applications[i].Step = 0, int64(2+i%2) }},
	{"options", addOptions},
	{"losses in worth", addSpeeds},
}

// addOptions lets every second application run with half of its first kind and more of the others.
func addOptions(p *alloc.Problem, i int) {
	app := &p.Applications[i]
	if i%2 == 0 {
		return
	}
	own := alloc.Option{ID: "own", Form: alloc.Form{Demand: app.Demand, Min: app.Min, Max: app.Max}}
	other := own
	other.ID, other.Demand = "other", own.Demand.Clone()
	other.Demand[0], other.Demand[2] = max(1, own.Demand[0]/2), own.Demand[2]+1
	app.Options, app.Option = []alloc.Option{own, other}, own.ID
	app.Demand, app.Min, app.Max = nil, 0, 0
}

// addSpeeds gives an application speeds by Amdahl's law, and measures losses by them.
func addSpeeds(p *alloc.Problem, i int) {
	app := &p.Applications[i]
	p.Options.Loss = alloc.LossInWorth
	app.Max = min(app.Max, 64)
	serial := 0.02 + 0.02*float64(i%5)
	for n := max(1, app.Min); n <= app.Max; n++ {
		app.Speed = append(app.Speed, 1/(serial+(1-serial)/float64(n)))
	}
}

// binding draws a problem with a feature and a loss budget of two per cent of the largest loss, without a ceiling.
func binding(f feature, seed uint64, servers, apps int, previous bool) *alloc.Problem {
	p := problemtest.Draw(alloctest.Families()[seed%2], seed, servers, apps, previous)
	p.Theta1, p.Options.NoCeil15 = 0.02, true
	for i := range p.Applications {
		// What runs keeps a number that it may have.
		p.Applications[i].Min = min(p.Applications[i].Min, 1)
		f.add(p, i)
	}
	return p
}

// standing is how decisions on one feature compare.
type standing struct {
	n, near, least int // problems; answers within 0.1 % of the better one; loss budgets within 0.1 % of the lesser one
	worst          float64
	own, general   []time.Duration // processor time
}

// nearly is what counts as the same.
const nearly = 0.001

// compare decides one problem with both solvers.
func (s *standing) compare(ctx context.Context, p *alloc.Problem, general solver.Solver, limit time.Duration) error {
	began := processorTime()
	own, err := alloc.Reallocate(ctx, p, nil)
	if err != nil {
		return err
	}
	s.own = append(s.own, processorTime()-began)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began = processorTime()
	other, err := alloc.Reallocate(limited, p, general)
	if err != nil {
		return err
	}
	s.general = append(s.general, processorTime()-began)
	s.n++
	budget, least := own.Metrics.LossBudget, math.Min(own.Metrics.LossBudget, other.Metrics.LossBudget)
	if budget <= least*(1+nearly)+solver.LossTolerance {
		s.least++
	}
	// Who may lose more can have more: answers are compared where neither may.
	short := 0.0
	if other.Metrics.LossBudget <= budget*(1+nearly)+solver.LossTolerance {
		short = math.Max(0, (other.Objective-own.Objective)/math.Max(math.Abs(other.Objective), solver.ObjectiveTolerance))
	}
	if s.worst = math.Max(s.worst, short); short <= nearly {
		s.near++
	}
	return nil
}

// runFeatures prints a row for each feature; seeds problems of 20 servers and 30 applications of each, half of them full.
func (o *options) runFeatures(ctx context.Context, stdout, stderr io.Writer) error {
	general := o.solvers[slices.IndexFunc(o.solvers, func(b backend.Backend) bool { return b.General != nil })]
	if err := available(general); err != nil {
		return err
	}
	c := contest{general: general, limit: o.limit, seeds: o.features, servers: 20, apps: 30}
	return c.print(ctx, stdout, stderr)
}

// contest is the comparison with one general solver at one size.
type contest struct {
	general       backend.Backend
	limit         time.Duration
	seeds         int // problems of each feature
	servers, apps int
}

// print decides all problems, and prints the table.
func (c *contest) print(ctx context.Context, stdout, stderr io.Writer) error {
	fmt.Fprintf(stdout, "Loss budget of 0.02 2m, %d x %d: the embedded solver beside %s, which has %v for a decision.\n\n", c.servers, c.apps, c.general.Name, c.limit)
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "feature\tproblems\twithin 0.1 %\tfurthest\tleast loss within 0.1 %\tms\tms of "+c.general.Name)
	tick := command.Progress(stderr, len(features)*c.seeds, "deciding")
	for _, f := range features {
		var s standing
		for seed := range uint64(c.seeds) {
			if err := s.compare(ctx, binding(f, seed, c.servers, c.apps, seed/2%2 == 1), c.general.P2(nil), c.limit); err != nil {
				return err
			}
			tick()
		}
		slices.Sort(s.own)
		slices.Sort(s.general)
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%.3g\t%.3g\n", f.name, s.n, percent(float64(s.near)/float64(s.n)), percent(s.worst),
			percent(float64(s.least)/float64(s.n)), 1000*s.own[s.n/2].Seconds(), 1000*s.general[s.n/2].Seconds())
	}
	return table.Flush()
}
