// This file prints what the paper claims beside what the runs show.

package main

import (
	"fmt"
	"io"
	"math"

	"github.com/apportion/apportion/examples/studies/command"
)

// reportClaims prints the orderings of the paper, and whether the means of the study have them.
// A claim is an ordering, as absolute numbers cannot be compared; see README.md.
func (s *study) reportClaims(w io.Writer) {
	fmt.Fprintln(w, "The paper's claims, [OASiS] §5, and these runs.")
	table := command.NewTable(w)
	fmt.Fprintln(table, "claim\tOASiS\tOASiS, 2nd run")
	fmt.Fprintf(table, "the most utility of all, by number of jobs\t%s\t%s\n", s.leads(0), s.leads(1))
	fmt.Fprintf(table, "utility over the best baseline, fewest and most jobs\t%s\t%s\n", s.advantage(0), s.advantage(1))
	for _, of := range []struct {
		name string
		class
	}{{"sensitive", sensitive}, {"critical", critical}} {
		fmt.Fprintf(table, "earliest against the target, %s jobs\t%s\t%s\n", of.name, s.rank(0, of.class, mean), s.rank(1, of.class, mean))
		fmt.Fprintf(table, "least deviation, %s jobs\t%s\t%s\n", of.name, s.rank(0, of.class, deviation), s.rank(1, of.class, deviation))
	}
	table.End()
}

// It is NaN for no values.
func mean(values []float64) float64 {
	mean, _ := meanAndSpread(values)
	return mean
}

// It is 0 for one value.
func deviation(values []float64) float64 {
	_, spread := meanAndSpread(values)
	return spread
}

// best returns the greatest mean total of a baseline.
func (s *study) best(size int) float64 {
	best := 0.0
	for _, other := range baselines {
		best = max(best, mean(s.totals(size, other)))
	}
	return best
}

// leads lists the sizes and whether the policy's mean total leads there.
func (s *study) leads(place int) string {
	text := ""
	for size, n := range s.sizes {
		verdict := "no"
		if mean(s.totals(size, place)) > s.best(size) {
			verdict = "yes"
		}
		if size > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d: %s", n, verdict)
	}
	return text
}

// advantage returns the ratio to the best baseline at both ends.
func (s *study) advantage(place int) string {
	last := len(s.sizes) - 1
	return fmt.Sprintf("%.2f, %.2f", mean(s.totals(0, place))/s.best(0), mean(s.totals(last, place))/s.best(last))
}

// rank says the how manieth a policy is among the baselines and itself, least value first.
// Jobs that did not end do not count, so that a policy that refuses much may rank well.
func (s *study) rank(place int, of class, value func([]float64) float64) string {
	late, _ := s.lateness(targetSize, place, of)
	own, ahead := value(late), 0
	for _, other := range baselines {
		late, _ := s.lateness(targetSize, other, of)
		if v := value(late); v < own || math.IsNaN(own) {
			ahead++
		}
	}
	return fmt.Sprintf("%d of %d", ahead+1, len(baselines)+1)
}
