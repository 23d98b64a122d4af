// This file notes what the optimizer decided, and how long that took, and prints a table of it.

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// now is the clock of the decisions' times.
var now = time.Now

// decision is what is noted of one decision of Dorm.
type decision struct {
	// at is when it was due in the simulation, took how long it took here.
	at, took time.Duration
	// kept says that no allocation was found within the thresholds, so that the old one stayed. The
	// others have a gap to the bound on the utilization, and may be proven to have the largest.
	kept, proven bool
	gap          float64
	// moved counts the containers that were created or destroyed for applications that ran before.
	moved int64
}

// noted is Dorm with an eye on its decisions.
type noted struct {
	*policies.Dorm
	run *played
}

// Decide implements sim.Policy.
func (n noted) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	d, before := decision{at: state.Now}, state.Problem().Previous
	decided := false
	n.Observe = func(answer *alloc.Decision) {
		decided, d.moved = true, moved(before, answer.Allocation)
		d.kept, d.gap = answer.Status == alloc.Kept, answer.Gap
		d.proven = !d.kept && answer.Proven >= solver.ByUtilization
	}
	start := now()
	orders, err := n.Dorm.Decide(ctx, state)
	d.took = now().Sub(start)
	if err == nil && decided {
		n.run.decisions = append(n.run.decisions, d)
	}
	return orders, err
}

// moved counts the containers that are created or destroyed for those who have some.
func moved(before, after alloc.Allocation) int64 {
	var count int64
	for id, servers := range before {
		for server, n := range servers {
			count += max(n-after[id][server], 0)
		}
		for server, n := range after[id] {
			count += max(n-servers[server], 0)
		}
	}
	return count
}

// reportDecisions prints a line for each setting of Dorm with its decisions in the measured period, over
// all scenarios.
func (s *study) reportDecisions(w io.Writer) error {
	fmt.Fprintf(w, "Decisions in the period, by solver %s. Proven, gap: of those that did not keep the allocation.\n"+
		"Seconds: on this machine, with a run on every processor.\n", s.solver.Name)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
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
	return table.Flush()
}

// summary returns the cells of a line.
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
