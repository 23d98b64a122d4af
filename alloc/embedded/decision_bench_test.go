//go:build unix

// This file measures whole decisions off the beaten path, in time of the processor: where the loss budget binds, nothing is like
// anything else, all features meet, only a few jobs are there, or nobody waits any longer.

package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/problemtest"
	"github.com/apportion/apportion/alloc/solver"
)

// used returns the time of the processor that this process has used.
func used(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// options and speeds are features that the paper's applications have not.
func options(app *alloc.Application) {
	own := alloc.Option{ID: "own", Form: app.Form}
	other := own
	other.ID, other.Demand = "other", own.Demand.Clone()
	other.Demand[0], other.Demand[2] = max(1, own.Demand[0]/2), own.Demand[2]+1
	app.Options, app.Option = []alloc.Option{own, other}, own.ID
	app.Form = alloc.Form{}
}

func speeds(app *alloc.Application, serial float64) {
	app.Max = min(app.Max, 64)
	for n := max(1, app.Min); n <= app.Max; n++ {
		app.Speed = append(app.Speed, 1/(serial+(1-serial)/float64(n)))
	}
}

// binding draws 20 servers and 30 applications with one feature, whose loss budget is two per cent of the largest loss.
func binding(feature string, seed uint64) *alloc.Problem {
	p := problemtest.Draw(alloctest.Families()[seed%2], seed, 20, 30, seed/2%2 == 1)
	p.Theta1, p.Options.NoCeil15 = 0.02, true
	for i := range p.Applications {
		app := &p.Applications[i]
		app.Min = min(app.Min, 1)
		switch {
		case feature == "lists":
			lists(app)
		case feature == "steps":
			app.Min, app.Step = 0, int64(2+i%2)
		case feature == "options" && i%2 == 1:
			options(app)
		case feature == "losses":
			p.Options.Loss = alloc.LossInWorth
			speeds(app, 0.02+0.02*float64(i%5))
		}
	}
	return p
}

// everything draws a cluster whose applications have all features by turns.
func everything(seed uint64, servers, apps int) *alloc.Problem {
	p := problemtest.Draw(alloctest.Families()[seed%2], seed, servers, apps, true)
	p.Options.Loss = alloc.LossInWorth
	for i := range p.Applications {
		app := &p.Applications[i]
		app.Min = min(app.Min, 1)
		switch i % 3 {
		case 0:
			lists(app)
		case 1:
			options(app)
		case 2:
			speeds(app, 0.02+0.02*float64(i%5))
		}
	}
	return p
}

// full draws servers and applications that all differ, where what fills the cluster runs already.
func full(b *testing.B, seed uint64) *solver.Instance {
	inst := instancetest.Unlike(seed, 20, 30, 3)
	inst.AdjustBudget = 3
	sol, err := embedded.New(nil).Solve(b.Context(), inst)
	if err != nil || !sol.Status.HasSolution() {
		b.Fatal(err, sol)
	}
	r := rand.New(rand.NewPCG(seed, 30))
	for i := range inst.Apps {
		app := &inst.Apps[i]
		app.Previous, app.Cost = sol.Counts[i], 1
		app.Running = len(app.Previous) > 0
		app.Max = max(solver.Containers(app.Previous), 1+r.Int64N(12))
	}
	return inst
}

// BenchmarkDecision has a row for each family: the mean, the median and the longest time of the processor of a decision over some seeds,
// the largest gap, and the means of gap, objective and loss budget.
func BenchmarkDecision(b *testing.B) {
	type row struct {
		name  string
		seeds uint64
		draw  func(seed uint64) *alloc.Problem
	}
	var rows []row
	for _, feature := range []string{"none", "lists", "steps", "options", "losses"} {
		rows = append(rows, row{"binding/" + feature, 4, func(seed uint64) *alloc.Problem { return binding(feature, seed) }})
	}
	rows = append(rows, row{"everything/100x100", 2, func(seed uint64) *alloc.Problem { return everything(seed, 100, 100) }})
	for _, jobs := range []int{1, 2, 3, 12} {
		rows = append(rows, row{fmt.Sprint("jobs/", jobs), 20, func(seed uint64) *alloc.Problem { return few(seed, jobs) }})
	}
	for _, row := range rows {
		b.Run(row.name, func(b *testing.B) {
			measure(b, row.seeds, func(seed uint64) func() *alloc.Decision {
				p := row.draw(seed)
				return func() *alloc.Decision { return decided(b, b.Context(), p) }
			})
		})
	}
	b.Run("unlike", func(b *testing.B) {
		measure(b, 4, func(seed uint64) func() *alloc.Decision {
			inst := full(b, seed)
			return func() *alloc.Decision {
				sol, err := embedded.New(nil).Solve(b.Context(), inst)
				if err != nil {
					b.Fatal(err)
				}
				return &alloc.Decision{Objective: sol.Objective, Gap: sol.Gap()}
			}
		})
	})
	b.Run("late/500x1000", func(b *testing.B) {
		measure(b, 2, func(seed uint64) func() *alloc.Decision {
			p := everything(seed, 500, 1000)
			ended, cancel := context.WithCancel(b.Context())
			cancel()
			return func() *alloc.Decision { return decided(b, ended, p) }
		})
	})
}

// decided decides a problem.
func decided(b *testing.B, ctx context.Context, p *alloc.Problem) *alloc.Decision {
	d, err := alloc.Reallocate(ctx, p, nil)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// measure decides what is drawn from each seed, and reports on that.
func measure(b *testing.B, seeds uint64, draw func(seed uint64) func() *alloc.Decision) {
	decisions := make([]func() *alloc.Decision, seeds)
	for seed := range decisions {
		decisions[seed] = draw(uint64(seed))
	}
	var all time.Duration
	var each []time.Duration
	var sum alloc.Decision
	worst := 0.0
	for b.Loop() {
		for _, decide := range decisions {
			began := used(b)
			d := decide()
			took := used(b) - began
			all, each = all+took, append(each, took)
			sum.Gap, worst, sum.Objective = sum.Gap+d.Gap, max(worst, d.Gap), sum.Objective+d.Objective
			sum.Metrics.LossBudget += d.Metrics.LossBudget
		}
	}
	slices.Sort(each)
	n := float64(len(each))
	b.ReportMetric(all.Seconds()*1000/n, "cpu-ms")
	b.ReportMetric(each[len(each)/2].Seconds()*1000, "median-ms")
	b.ReportMetric(each[len(each)-1].Seconds()*1000, "longest-ms")
	b.ReportMetric(100*sum.Gap/n, "gap%")
	b.ReportMetric(100*worst, "worst-gap%")
	b.ReportMetric(sum.Objective/n, "objective")
	b.ReportMetric(sum.Metrics.LossBudget/n, "loss-budget")
}
