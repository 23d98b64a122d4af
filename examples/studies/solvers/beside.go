// This file compares answers of others in one run, and makes the page of it.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/examples/studies/command"
)

// work is a problem that others solve as well.
type work struct {
	name          string
	draw          func(seed uint64, servers, apps int, previous bool) *solver.Instance
	servers, apps int
	previous      bool
	// assigns: nothing runs, numbers have no minima and losses no limit, so that containers have only to be placed.
	assigns bool
}

// works are the rows of the page.
var works = []work{
	{"P2, Table II, fresh", alloctest.Table2, 20, 30, false, false},
	{"P2, Table II, full", alloctest.Table2, 20, 30, true, false},
	{"P2, mixed, full", alloctest.Mixed, 20, 30, true, false},
	{"P2, Table II, full", alloctest.Table2, 100, 100, true, false},
	{"placing, mixed", alloctest.Mixed, 20, 30, false, true},
	{"placing, mixed", alloctest.Mixed, 100, 100, false, true},
	{"placing, Table II", alloctest.Table2, 1000, 500, false, true},
}

// instance draws the problem.
func (w *work) instance() *solver.Instance {
	inst := w.draw(1, w.servers, w.apps, w.previous)
	if w.assigns {
		inst.LossBudget = float64(2 * len(inst.Apps))
		for i := range inst.Apps {
			inst.Apps[i].Min = 0
		}
	}
	return inst
}

// other is another program: what it answers, and in how much time of the processor.
type other struct {
	name    string
	assigns bool // it places containers and does nothing else
	answer  func(ctx context.Context, inst *solver.Instance, limit time.Duration) (point, error)
}

// others are all but the embedded solver, in the order of the page.
var others = []other{
	{"HiGHS", false, general(ortools.HiGHS{})},
	{"CP-SAT", false, general(ortools.CPSAT{})},
	{"linear relaxation", false, relaxation},
	{"Rebalancer", true, rebalancer},
	{"first fit decreasing", true, naive(firstFit)},
	{"best fit", true, naive(bestFit)},
}

// least is how long the processor is at work for one figure: less is lost in the ticks of its clock.
const least = 200 * time.Millisecond

// timed runs do, again where that is soon done, and returns the time of the processor that it took in the mean.
func timed(do func() error) (time.Duration, error) {
	began := processorTime()
	for n := 1; ; n++ {
		err := do()
		if took := processorTime() - began; err != nil || took >= least {
			return took / time.Duration(n), err
		}
	}
}

// general asks a general solver on the disjunctive form.
func general(by milp.Solver) func(context.Context, *solver.Instance, time.Duration) (point, error) {
	return func(ctx context.Context, inst *solver.Instance, limit time.Duration) (p point, err error) {
		one := search{inst, by, mip.Disjunctive, limit, 1, 0}
		took, err := timed(func() error { p, err = one.once(ctx, limit, nil); return err })
		p.after = took
		return p, err
	}
}

// relaxation has a bound and no answer.
func relaxation(ctx context.Context, inst *solver.Instance, _ time.Duration) (p point, err error) {
	p.objective = math.NaN()
	p.after, err = timed(func() error { p.bound, err = relax(ctx, inst); return err })
	return p, err
}

// besideTitle is the head of the page, besideColumns that of its table.
const (
	besideTitle = `# Beside others

Written by %[1]sgo run -C examples/studies ./solvers -beside -limit %[2]s%[1]s: each row is another program on the problem of the embedded solver, in one
run on one machine. *ours* and *theirs* are milliseconds of the processor in user mode, with one thread; the others had %[2]s by the clock, of which
other work on the machine may have taken most. *ratio* is how often ours goes into theirs. *gap* and *our gap* are how far the answers are below the least bound that any of them proved; the relaxation has a
bound and no answer, and its gap is how far that is above the least one. *placing* is P2 without minima and without a limit of losses, where
nothing runs: containers have only to be placed, which is all that Rebalancer (version 1.0.4, single moves and swaps) and the naive can state.

`
	besideColumns = "| work | size | other | ours | theirs | ratio | our gap | gap |\n|---|---|---|---|---|---|---|---|\n"
)

// runBeside prints the page. What is not there has no row, and is named below the table.
func (o *options) runBeside(ctx context.Context, stdout, stderr io.Writer) error {
	fmt.Fprintf(stdout, besideTitle+besideColumns, "`", o.limit)
	tick := command.Progress(stderr, len(works), "solving")
	absent := make(map[string]error)
	for at := range works {
		if err := o.besideRows(ctx, stdout, &works[at], absent); err != nil {
			return err
		}
		tick()
	}
	for _, r := range others {
		if why := absent[r.name]; why != nil {
			fmt.Fprintf(stdout, "\n%s was not there: %v.\n", r.name, why)
		}
	}
	return ctx.Err()
}

// besideRows asks all programs about one problem, and prints their rows.
func (o *options) besideRows(ctx context.Context, stdout io.Writer, w *work, absent map[string]error) error {
	inst := w.instance()
	var own point
	took, err := timed(func() (err error) { own, err = o.solve(ctx, inst, embedded.Default); return err })
	if err != nil {
		return err
	}
	own.after = took
	bound, points := own.bound, make([]point, len(others))
	for at, r := range others {
		if points[at].after = never; r.assigns && !w.assigns {
			continue
		}
		p, err := r.answer(ctx, inst, o.limit)
		switch {
		case errors.Is(err, ortools.ErrUnavailable) || errors.Is(err, errNoRebalancer):
			absent[r.name] = err
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", r.name, err)
		}
		points[at] = p
		if p.bound < bound { // false for NaN
			bound = p.bound
		}
	}
	for at, r := range others {
		if p := points[at]; p.after != never {
			reached := p.objective
			if math.IsNaN(reached) && r.name == "linear relaxation" {
				reached = 2*bound - p.bound
			}
			fmt.Fprintf(stdout, "| %s | %d x %d | %s | %.3g | %.3g | %.3g | %s | %s |\n", w.name, w.servers, w.apps, r.name, milliseconds(own.after), milliseconds(p.after),
				float64(p.after)/float64(max(1, own.after)), percent(solver.Gap(own.objective, bound)), gapText(reached, bound))
		}
	}
	return nil
}

// gapText is the gap of an answer, a dash where there is none.
func gapText(reached, bound float64) string {
	if math.IsNaN(reached) {
		return "no answer"
	}
	return percent(math.Max(0, (bound-reached)/math.Abs(bound)))
}

func milliseconds(d time.Duration) float64 { return 1000 * d.Seconds() }
