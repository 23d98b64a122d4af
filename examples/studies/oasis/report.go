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
	fmt.Fprint(table, "jobs")
	for _, n := range s.sizes {
		fmt.Fprintf(table, "\t%d", n)
	}
	fmt.Fprintln(table)
	for place, name := range policyNames {
		fmt.Fprint(table, name)
		for size := range s.sizes {
			mean, spread := meanAndSpread(s.totals(size, place))
			fmt.Fprintf(table, "\t%.0f +- %.0f", mean, spread)
		}
		fmt.Fprintln(table)
	}
	fmt.Fprint(table, "certified bound")
	for size := range s.sizes {
		mean, spread := meanAndSpread(s.bounds(size))
		fmt.Fprintf(table, "\t%.0f +- %.0f", mean, spread)
	}
	fmt.Fprintln(table)
	s.reportRatios(table)
	s.reportUsage(table)
	table.End()
	s.reportSeeds(w)
}

// reportSeeds prints the total utility of OASiS over that of the best baseline, workload by workload.
func (s *study) reportSeeds(w io.Writer) {
	fmt.Fprintln(w, "Total utility of OASiS and of its second run over the best baseline's, by workload.")
	table := command.NewTable(w)
	fmt.Fprint(table, "jobs")
	for seed := range s.seeds {
		fmt.Fprintf(table, "\tseed %d\t", seed)
	}
	fmt.Fprintln(table)
	for size, n := range s.sizes {
		fmt.Fprint(table, n)
		for seed := range s.seeds {
			fmt.Fprintf(table, "\t%.2f\t%.2f", s.lead(size, seed, 0), s.lead(size, seed, 1))
		}
		fmt.Fprintln(table)
	}
	table.End()
}

// reportRatios prints the certified ratio of the two settings of OASiS, what Theorem 4 promises, and how
// often they lead.
// Theorem 4 bounds the ratio by 2 alpha in the worst case; the certified one is what happened.
func (s *study) reportRatios(table io.Writer) {
	for place := range 2 {
		fmt.Fprintf(table, "certified ratio, %s", policyNames[place])
		for size := range s.sizes {
			var ratios []float64
			for seed, bound := range s.bounds(size) {
				ratios = append(ratios, bound/s.runs[size][seed][place].total)
			}
			mean, spread := meanAndSpread(ratios)
			fmt.Fprintf(table, "\t%.2f +- %.2f", mean, spread)
		}
		fmt.Fprintf(table, "\n2 alpha, %s", policyNames[place])
		for size := range s.sizes {
			var ratios []float64
			for _, runs := range s.runs[size] {
				ratios = append(ratios, 2*runs[place].alpha)
			}
			fmt.Fprintf(table, "\t%.1f", mean(ratios))
		}
		fmt.Fprintf(table, "\nleads the baselines, %s", policyNames[place])
		for size := range s.sizes {
			fmt.Fprintf(table, "\t%d of %d", s.wins(size, place, baselines), s.seeds)
		}
		fmt.Fprintln(table)
	}
}

// baselines are the places of the policies that are not OASiS.
// The second run of OASiS knows more than any of them, and is none; Deadline is not of the paper's.
var baselines = []int{2, 3, 4, 5, 6}

// reportUsage prints which part of the GPUs a policy takes.
func (s *study) reportUsage(table io.Writer) {
	for place, name := range policyNames {
		fmt.Fprintf(table, "GPUs taken, %s", name)
		for size := range s.sizes {
			var usage []float64
			for _, runs := range s.runs[size] {
				usage = append(usage, runs[place].gpus)
			}
			mean, _ := meanAndSpread(usage)
			fmt.Fprintf(table, "\t%.0f %%", 100*mean)
		}
		fmt.Fprintln(table)
	}
	fmt.Fprint(table, "without a server, Deadline")
	for size := range s.sizes {
		var parts []float64
		for _, runs := range s.runs[size] {
			parts = append(parts, runs[len(runs)-1].unplaced)
		}
		fmt.Fprintf(table, "\t%.1f %%", 100*mean(parts))
	}
	fmt.Fprintln(table)
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
		fmt.Fprint(table, name)
		for _, of := range []class{sensitive, critical} {
			late, jobs := s.lateness(targetSize, place, of)
			mean, spread := meanAndSpread(late)
			if len(late) == 0 {
				fmt.Fprint(table, "\t-\t-")
			} else {
				fmt.Fprintf(table, "\t%.1f\t%.1f", mean, spread)
			}
			fmt.Fprintf(table, "\t%s\t%s", percent(len(late), jobs), percent(atMost(late, 0), jobs))
		}
		fmt.Fprintln(table)
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
