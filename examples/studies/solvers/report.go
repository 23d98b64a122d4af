// This file prints the tables.

package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/apportion/apportion/examples/internal/backend"
)

// The two distances from the best that are timed.
// A scheduler is content with the first, a paper with the second.
const (
	loose = 0.01
	tight = 0.001
)

// reportHead says what the numbers are.
func (s *study) reportHead(w io.Writer) {
	fmt.Fprintf(w, "Seconds from the instance to an allocation within 1 %% and 0.1 %% of the best known (found), to the\n"+
		"solver's own certificate of such a gap (certified), and to the end with a proof. Limit %s, %d workers.\n",
		s.limit, s.workers)
	for _, line := range s.skipped {
		fmt.Fprintln(w, "SKIPPED:", line)
	}
}

// report prints the table of an instance.
// Errors of a solver stand below the table, which shows the others.
func (i *instance) report(w io.Writer, limit time.Duration) error {
	best := i.best()
	fmt.Fprintf(w, "\n%s: %d servers, %d applications, best known %s\n", i.Name, len(i.Instance.Capacity), len(i.Instance.Apps), number(best))
	table := tabwriter.NewWriter(w, 10, 0, 2, ' ', 0)
	fmt.Fprintln(table, "solver\tform\tfound 1 %\t0.1 %\tcertified 1 %\t0.1 %\tproof\tutilization\tbelow best\tgap")
	var failed []string
	for _, c := range i.cells {
		if c.failed != nil {
			failed = append(failed, fmt.Sprintf("FAILED: %s, %s: %v\n", c.solver, c.form, c.failed))
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t", c.solver, c.form)
		last := c.points.last()
		for _, t := range []time.Duration{
			c.points.found((1 - loose) * best), c.points.found((1 - tight) * best),
			c.points.certified(loose), c.points.certified(tight), c.points.proven(),
		} {
			// The search ended by itself, and waiting longer would not have helped.
			if t == never && last.after < limit*9/10 {
				fmt.Fprint(table, noNumber, "\t")
			} else {
				fmt.Fprint(table, seconds(t, limit), "\t")
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", number(last.objective), percent((best-last.objective)/best), percent(last.gap()))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, strings.Join(failed, ""))
	return err
}

// noNumber stands where there is none, and for what a search did not reach that ended by itself.
const noNumber = "-"

// seconds prints a time with three digits, and what did not happen in a search as long as the limit as
// more than that.
// Three digits are what a single run is worth.
func seconds(t, limit time.Duration) string {
	if t == never {
		return "> " + seconds(limit, limit)
	}
	return strconv.FormatFloat(t.Seconds(), 'g', 3, 64)
}

// ownSeconds is seconds for the embedded solver, which ends by itself.
func ownSeconds(t time.Duration) string {
	if t == never {
		return noNumber
	}
	return seconds(t, t)
}

// Six decimals tell two allocations apart.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return noNumber
	}
	return strconv.FormatFloat(x, 'f', 6, 64)
}

// Below 0 is rounding: nobody is better than the best.
func percent(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return noNumber
	}
	return strconv.FormatFloat(math.Max(0, 100*x), 'f', 3, 64) + " %" // not -0
}

// rival is the time of the best general solver on its best form.
// time is never where nobody reached the goal.
type rival struct {
	name string
	time time.Duration
}

// rivalTo returns the general solver that was first to reach a goal.
// goal returns when a search reached it.
func (i *instance) rivalTo(goal func(trace) time.Duration) rival {
	first := rival{noNumber, never}
	for _, c := range i.cells {
		if c.solver == backend.Embedded {
			continue
		}
		if t := goal(c.points); t < first.time {
			first = rival{c.solver + ", " + c.form, t}
		}
	}
	return first
}

// own returns the points of the embedded solver: with one effort, or with all if that is empty.
// Points of several efforts are merged, which is right for what only asks for the first of something.
func (i *instance) own(effort string) trace {
	var points trace
	for _, c := range i.cells {
		if c.solver == backend.Embedded && (effort == "" || effort == c.form) {
			points = append(points, c.points...)
		}
	}
	return points
}

// sooner is how many times sooner the embedded solver was; atLeast where no other reached the goal
// within the limit.
type sooner struct {
	times   float64
	atLeast bool
}

// Three digits, and a mark where it is only a lower bound.
func (s sooner) String() string {
	switch {
	case math.IsNaN(s.times):
		return noNumber
	case s.atLeast:
		return "> " + strconv.FormatFloat(s.times, 'g', 3, 64)
	}
	return strconv.FormatFloat(s.times, 'g', 3, 64)
}

// against compares two times; there is no number where the embedded solver did not reach the goal.
// limit stands for a time that is longer than it.
func against(own, other, limit time.Duration) sooner {
	switch {
	case own == never:
		return sooner{times: math.NaN()}
	case other == never:
		return sooner{limit.Seconds() / own.Seconds(), true}
	}
	return sooner{other.Seconds() / own.Seconds(), false}
}

// reportAll prints the embedded solver beside the best of the others, an instance a line, and the
// medians. It prints nothing without the embedded solver or without another.
// Only instances that both have been asked count.
func (s *study) reportAll(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\t\tembedded, default\t\t\tfirst other as good\t\ttimes\tembedded\tfirst other\t\ttimes")
	fmt.Fprintln(table, "instance\tbest known\tseconds\tbelow best\tgap\tsolver, form\tseconds\tsooner\tproof\twith a proof\tseconds\tsooner")
	var same, proof []sooner
	for _, i := range s.instances {
		points := i.own("default")
		others := slices.ContainsFunc(i.cells, func(c *cell) bool { return c.solver != backend.Embedded })
		if len(points) == 0 || !others {
			continue
		}
		answer, best := points.last(), i.best()
		equal := i.rivalTo(func(t trace) time.Duration { return t.found(answer.objective) })
		proving := i.rivalTo(trace.proven)
		ownProof := i.own("").proven()
		same = append(same, against(answer.after, equal.time, s.limit))
		proof = append(proof, against(ownProof, proving.time, s.limit))
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", i.Name, number(best),
			seconds(answer.after, s.limit), percent((best-answer.objective)/best), percent(answer.gap()),
			equal.name, seconds(equal.time, s.limit), same[len(same)-1],
			ownSeconds(ownProof), proving.name, seconds(proving.time, s.limit), proof[len(proof)-1])
	}
	if len(same) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "Times sooner, median: %s to the same utilization, %s to proof where the embedded solver has one.\n\n",
		median(same), median(proof))
	return nil
}

// median returns the middle one of those that have a number, the lower of two.
// At-least numbers are ordered by what they are at least.
func median(all []sooner) sooner {
	all = slices.DeleteFunc(slices.Clone(all), func(s sooner) bool { return math.IsNaN(s.times) })
	if len(all) == 0 {
		return sooner{times: math.NaN()}
	}
	slices.SortFunc(all, func(a, b sooner) int { return cmp.Compare(a.times, b.times) })
	return all[(len(all)-1)/2]
}
