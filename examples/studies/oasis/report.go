// This file prints the tables of the study of the paper's workload.

package main

import (
	"fmt"
	"io"

	"github.com/apportion/apportion/examples/studies/command"
)

// reportUtility prints mean and spread of total utility by policy and number of jobs.
func (s *study) reportUtility(w io.Writer) {
	fmt.Fprintf(w, "Total utility, mean and standard deviation over %d workloads; %d slots, %d + %d servers.\n",
		s.seeds, s.settings.Slots, s.settings.WorkerServers, s.settings.PSServers)
	table := command.NewTable(w)
	table.Row("jobs", len(s.sizes), func(size int) string { return fmt.Sprint(s.sizes[size]) })
	for place, name := range policyNames {
		table.Row(name, len(s.sizes), func(size int) string { return plusMinus(s.totals(size, place), 0) })
	}
	table.Row("certified bound", len(s.sizes), func(size int) string { return plusMinus(s.bounds(size), 0) })
	s.reportRatios(table)
	s.reportUsage(table)
	table.End()
	s.reportSeeds(w)
}

// reportSeeds prints the total utility of OASiS over that of the best baseline, workload by workload.
func (s *study) reportSeeds(w io.Writer) {
	fmt.Fprintln(w, "Total utility of OASiS and of its second run over the best baseline's, by workload.")
	table := command.NewTable(w)
	table.Row("jobs", s.seeds, func(seed int) string { return fmt.Sprintf("seed %d\t", seed) })
	for size, n := range s.sizes {
		table.Row(fmt.Sprint(n), s.seeds, func(seed int) string {
			return fmt.Sprintf("%.2f\t%.2f", s.lead(size, seed, 0), s.lead(size, seed, 1))
		})
	}
	table.End()
}

// reportRatios prints the certified ratio of the two settings of OASiS, what Theorem 4 promises, and how
// often they lead.
// Theorem 4 bounds the ratio by 2 alpha in the worst case; the certified one is what happened.
func (s *study) reportRatios(table command.Table) {
	for place := range 2 {
		name := policyNames[place]
		table.Row("certified ratio, "+name, len(s.sizes), func(size int) string {
			return plusMinus(s.each(size, func(runs []*played) float64 { return runs[0].bound / runs[place].total }), 2)
		})
		table.Row("2 alpha, "+name, len(s.sizes), func(size int) string {
			return fmt.Sprintf("%.1f", mean(s.each(size, func(runs []*played) float64 { return 2 * runs[place].alpha })))
		})
		table.Row("leads the baselines, "+name, len(s.sizes), func(size int) string {
			return fmt.Sprintf("%d of %d", s.wins(size, place, baselines), s.seeds)
		})
	}
}

// plusMinus prints the mean of a sample and its standard deviation.
func plusMinus(values []float64, decimals int) string {
	mean, spread := meanAndSpread(values)
	return fmt.Sprintf("%.*f +- %.*f", decimals, mean, decimals, spread)
}

// baselines are the places of the policies that are not OASiS.
// The second run of OASiS knows more than any of them, and is none; Deadline is not of the paper's.
var baselines = []int{2, 3, 4, 5, 6}

// reportUsage prints which part of the GPUs a policy takes.
func (s *study) reportUsage(table command.Table) {
	for place, name := range policyNames {
		table.Row("GPUs taken, "+name, len(s.sizes), func(size int) string {
			return fmt.Sprintf("%.0f %%", 100*mean(s.each(size, func(runs []*played) float64 { return runs[place].gpus })))
		})
	}
	table.Row("without a server, Deadline", len(s.sizes), func(size int) string {
		return fmt.Sprintf("%.1f %%", 100*mean(s.each(size, func(runs []*played) float64 { return runs[len(runs)-1].unplaced })))
	})
}

// targetSize is the size of workload for which completion times are shown: the second.
// The first sizes have few jobs of each class, the last ones few that end.
const targetSize = 1

// reportTargets prints how jobs end against their targets.
// The paper's figure shows jobs of these two classes only.
func (s *study) reportTargets(w io.Writer) {
	fmt.Fprintf(w, "Completion less target, in slots, of jobs that ended; %d jobs.\n", s.sizes[targetSize])
	table := command.NewTable(w)
	fmt.Fprintln(table, "policy\tsensitive: mean\tdeviation\tended\tin time\tcritical: mean\tdeviation\tended\tin time")
	for place, name := range policyNames {
		table.Row(name, 2, func(column int) string {
			late, jobs := s.lateness(targetSize, place, []class{sensitive, critical}[column])
			mean, spread := meanAndSpread(late)
			times := "-\t-"
			if len(late) > 0 {
				times = fmt.Sprintf("%.1f\t%.1f", mean, spread)
			}
			return fmt.Sprintf("%s\t%s\t%s", times, percent(len(late), jobs), percent(atMost(late, 0), jobs))
		})
	}
	table.End()
}

// percent prints a part of a whole, or a dash if the whole is nothing.
func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}
