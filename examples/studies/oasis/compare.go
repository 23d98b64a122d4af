// This file compares policies on windows and prints the ratios.

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/primaldual/deadline"
)

// contender is a policy of the windows, made anew for each.
type contender struct {
	name string
	make func(w *window, h hardship) decider
}

// contenders are the policies in the order of the tables, the method's first; the rivals begin with earliest deadline.
var contenders = []contender{
	{"no promise", methodWith(deadline.Options{})},
	{"promise on start", methodWith(deadline.Options{Promise: deadline.OnStart})},
	{"promise on admission", methodWith(deadline.Options{Promise: deadline.OnAdmission})},
	{"promise on admission, all stay", methodWith(deadline.Options{Promise: deadline.OnAdmission, Stay: true})},
	{"earliest deadline", always(earliestDeadline)},
	{"apparent tardiness", always(order(tardiness))},
	{"least laxity", always(leastLaxity)},
	{"shortest remaining", always(shortest)},
	{"density", always(densest)},
	{"Lucier et al.", func(*window, hardship) decider { return &lucier{started: make(map[string]bool)} }},
	{"Jain et al.", always(jain{})},
	{"DRF", always(fair{})},
	{"OASiS, bounds of all jobs", func(w *window, _ hardship) decider { return &oasis{window: w} }},
}

// The places of contenders that others are compared with.
const (
	firstRival  = 4
	tardinessAt = 5
)

func methodWith(options deadline.Options) func(*window, hardship) decider {
	return func(_ *window, h hardship) decider {
		options := options
		options.ChangeLoss = h.loss
		return &method{options: options}
	}
}
func always(p decider) func(*window, hardship) decider {
	return func(*window, hardship) decider { return p }
}

// result is a window played by all.
type result struct {
	*window
	worth []float64
	// bound is what nobody can exceed: the optimum of the linear program where it was solved, else the certificate by prices; over
	// is the certificate over that optimum, 0 where it was not solved.
	bound, over float64
	// broken counts by contender promises taken back without a failure, excused with one.
	broken, excused []int
}

// playAll plays windows under all contenders, and bounds them by a solver where there is one.
func playAll(ctx context.Context, stderr io.Writer, windows []*window, h hardship, solver milp.Solver) ([]result, error) {
	results := make([]result, len(windows))
	n := len(contenders)
	err := command.InParallel(ctx, len(windows), stderr, "playing", func(ctx context.Context, i int) error {
		r := &results[i]
		*r = result{window: windows[i], worth: make([]float64, n), broken: make([]int, n), excused: make([]int, n)}
		for c := range contenders {
			p := contenders[c].make(r.window, h)
			var err error
			if r.worth[c], err = r.play(p, h); err != nil {
				return fmt.Errorf("%s, seed %d, %s: %w", r.family, r.seed, contenders[c].name, err)
			}
			if m, ok := p.(*method); ok {
				r.broken[c], r.excused[c] = m.broken, m.excused
			}
		}
		r.bound = r.window.bound(h, slices.Max(r.worth))
		if solver == nil {
			return nil
		}
		optimum, err := r.optimum(ctx, solver, h)
		r.bound, r.over = optimum, ratio(r.bound, optimum)
		return err
	})
	return results, err
}

// rival returns the most that any rival earned, but for one.
func (r *result) rival(except int) float64 {
	best := 0.0
	for c := firstRival; c < len(r.worth); c++ {
		if c != except {
			best = max(best, r.worth[c])
		}
	}
	return best
}

// ratio returns what a contender earned over a reference; 1 where both earned nothing.
func ratio(own, reference float64) float64 {
	if own == 0 && reference == 0 {
		return 1
	}
	return own / reference
}

// runWindows draws windows of the traces in a folder, plays them and prints the ratios.
func runWindows(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	sources, err := readSources(o.windows)
	if err != nil {
		return err
	}
	for _, program := range []struct {
		title string
		value value
		hard  hardship
	}{
		{"deadlines", deadlines, hardship{}},
		{"linear values", linear, hardship{}},
		{"sigmoid values", sigmoid, hardship{}},
		{"deadlines, servers fail (one slot in 500, for 12)", deadlines, hardship{failures: 0.002, repair: 12}},
		{"deadlines, 5 % of a slot lost at each change of width", deadlines, hardship{loss: 0.05}},
	} {
		var windows []*window
		for f := range sources {
			for i := range o.each {
				w, err := sources[f].draw(uint64(o.seed)+uint64(i), program.value)
				if err != nil {
					return err
				}
				windows = append(windows, w)
			}
		}
		solver := o.solver
		if program.value != deadlines {
			solver = nil // a job of sixteen steps has sixteen times the variables
		}
		results, err := playAll(ctx, stderr, windows, program.hard, solver)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: %d windows, %d of each trace, seed %d.\n", program.title, len(windows), o.each, o.seed)
		if solver != nil {
			over := spreadOf(results, func(r *result) float64 { return r.over })
			fmt.Fprintf(stdout, "Certificate by prices over the linear program: mean %.3f, most %.3f.\n", over.mean, over.most)
		}
		reportRatios(stdout, results)
	}
	return nil
}

// reportRatios prints for each contender what it earned over earliest deadline, over the best rival, and over the bound.
func reportRatios(stdout io.Writer, results []result) {
	table := command.NewTable(stdout)
	fmt.Fprintln(table, "policy\tover EDF: mean\tmedian\tleast\tChronus, ITP\tover best but tardiness\tover best\tleast\tof the bound\tbroken\tat failures")
	for c := range contenders {
		over := func(reference func(*result) float64) spread {
			return spreadOf(results, func(r *result) float64 { return ratio(r.worth[c], reference(r)) })
		}
		edf := func(r *result) float64 { return r.worth[firstRival] }
		two := spreadOf(twoTraces(results), func(r *result) float64 { return ratio(r.worth[c], edf(r)) })
		all, but, best := over(edf), over(func(r *result) float64 { return r.rival(tardinessAt) }), over(func(r *result) float64 { return r.rival(-1) })
		bound := over(func(r *result) float64 { return r.bound })
		broken, excused := 0, 0
		for i := range results {
			broken, excused = broken+results[i].broken[c], excused+results[i].excused[c]
		}
		fmt.Fprintf(table, "%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%d\t%d\n", contenders[c].name,
			all.mean, all.median, all.least, two.mean, but.mean, best.mean, best.least, bound.mean, broken, excused)
	}
	reportRoom(table, results)
	table.End()
}

// reportRoom prints what the bound leaves to anybody.
func reportRoom(table io.Writer, results []result) {
	edf := func(r *result) float64 { return ratio(r.bound, r.worth[firstRival]) }
	all, two := spreadOf(results, edf), spreadOf(twoTraces(results), edf)
	but := spreadOf(results, func(r *result) float64 { return ratio(r.bound, r.rival(tardinessAt)) })
	best := spreadOf(results, func(r *result) float64 { return ratio(r.bound, r.rival(-1)) })
	fmt.Fprintf(table, "anybody, at most\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t1.000\n",
		all.mean, all.median, all.least, two.mean, but.mean, best.mean, best.least)
}

// twoTraces returns the windows of Chronus and ITP, whose deadlines are their own.
func twoTraces(results []result) []result {
	return slices.DeleteFunc(slices.Clone(results), func(r result) bool { return r.family != "Chronus" && r.family != "ITP" })
}

// spread is a distribution of ratios: geometric mean, median, least, most.
type spread struct{ mean, median, least, most float64 }

// spreadOf returns it. A ratio of 0 makes the mean 0; an infinite one counts in the order only.
func spreadOf(results []result, of func(*result) float64) spread {
	var ratios []float64
	logs, n := 0.0, 0
	for i := range results {
		r := of(&results[i])
		ratios = append(ratios, r)
		if !math.IsInf(r, 0) {
			logs += math.Log(r)
			n++
		}
	}
	slices.Sort(ratios)
	return spread{math.Exp(logs / float64(max(1, n))), ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1]}
}
