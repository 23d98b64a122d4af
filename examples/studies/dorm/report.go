// This file prints the table of a study.

package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/apportion/apportion/examples/studies/command"
)

// report prints the measures of the study, a column for each policy: the mean over the scenarios,
// in brackets the least and the largest, and the paper's number after a slash where it has one.
func (s *study) report(w io.Writer) {
	fmt.Fprintln(w, s.title)
	fmt.Fprintf(w, "Workloads: %d; applications in each: %d, of which %.0f %% run for more than 6 h under Swarm; period: %.4g h.\n",
		len(s.scenarios), len(s.scenarios[0].Jobs), 100*s.longShare(), s.measured.Hours())
	if s.paper {
		fmt.Fprintln(w, "Each cell: mean over the workloads (least-largest) / paper.")
	}
	table := command.NewTable(w)
	table.Row("", len(s.policies), func(p int) string { return s.policies[p] })
	for i := range measures {
		table.Row(measures[i].name, len(s.policies), func(p int) string { return s.cell(&measures[i], p) })
	}
	table.Flush()
	s.reportDecisions(w)
}

// The brackets are left out where least and largest print alike.
func (s *study) cell(m *measure, policy int) string {
	values := m.over(s, policy)
	text := number(mean(values), m.decimals)
	low, high := number(slices.Min(values), m.decimals), number(slices.Max(values), m.decimals)
	if text != noNumber && low != high {
		text += " (" + low + "-" + high + ")"
	}
	if s.paper && m.paper[policy] != "" {
		text += " / " + m.paper[policy]
	}
	return text
}

// longShare returns the share of applications that run longer than the paper's 6 hours under the
// baseline.
func (s *study) longShare() float64 {
	long, all := 0, 0
	for _, scenario := range s.scenarios {
		for i := range scenario.Jobs {
			all++
			if duration(&scenario.Jobs[i]) > longRunning {
				long++
			}
		}
	}
	return float64(long) / float64(all)
}
