// This file prints a table of what the optimizer decided, and how long that took.

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion/examples/studies/command"
)

// reportDecisions prints a line for each setting of Dorm with its decisions in the measured period, over
// all scenarios.
func (s *study) reportDecisions(w io.Writer) {
	fmt.Fprintf(w, "Decisions in the period, by solver %s. Proven, gap: of those that did not keep the allocation.\n"+
		"Seconds: on this machine, with a run on every processor.\n", s.solver.Name)
	table := command.NewTable(w)
	fmt.Fprintln(table, "\tdecisions\tkept\tproven\tgap: median\tlargest\tmoved: mean\tmost\tseconds: median\t99 %\tlongest")
	for p, policy := range s.policies {
		var all []decision
		for _, runs := range s.runs {
			for _, d := range runs[p].decisions {
				if d.at < s.measured {
					all = append(all, d)
				}
			}
		}
		if len(all) > 0 {
			fmt.Fprintf(table, "%s\t%s\n", policy, summary(all))
		}
	}
	table.Flush()
}

// summary returns the cells of a line.
// gap and proof are of those decisions that were not kept: one that kept the allocation has no gap to speak
// of.
func summary(all []decision) string {
	var kept int
	var proven, gaps, moves, seconds []float64
	for _, d := range all {
		moves, seconds = append(moves, float64(d.moved)), append(seconds, d.took.Seconds())
		switch {
		case d.kept:
			kept++
			continue
		case d.proven:
			proven = append(proven, 100)
		default:
			proven = append(proven, 0)
		}
		gaps = append(gaps, 100*d.gap)
	}
	// A policy all of whose decisions were kept has no gaps, and quantile says NaN.
	percent := func(x float64, decimals int) string {
		if math.IsNaN(x) {
			return noNumber
		}
		return number(x, decimals) + " %"
	}
	digits := func(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }
	return fmt.Sprintf("%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", len(all), kept,
		percent(mean(proven), 1), percent(quantile(gaps, 0.5), 3), percent(quantile(gaps, 1), 3),
		number(mean(moves), 1), number(slices.Max(moves), 0),
		digits(quantile(seconds, 0.5)), digits(quantile(seconds, 0.99)), digits(quantile(seconds, 1)))
}
