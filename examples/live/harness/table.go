// This file prints the tables of a play: what became of each job, and what adjustments cost.

package harness

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// PrintOutcomes prints a line for each job.
func PrintOutcomes(w io.Writer, outcomes []Outcome) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "job\tframework\tarrived (s)\tended (s)\tsteps\truns\tdone again\tfirst loss\tlast loss\toff an undisturbed run by")
	for i := range outcomes {
		o := &outcomes[i]
		fmt.Fprintf(table, "%s\t%s\t%.0f\t%.0f\t%d\t%d\t%d\t%.3f\t%.3f\t%.1g\n", o.Job.Name, o.Job.Framework, o.Job.At.Seconds(), o.Ended.Seconds(),
			len(o.Points), o.Runs, o.Redone, o.Points[0].Value, o.Points[len(o.Points)-1].Value, o.Off)
	}
	return table.Flush()
}

// PrintTimes prints how long each job took from its arrival to its end under several policies, by policy and job, then the mean and the
// end of the last, with the change against the first policy, and more rows with a cell for each policy.
func PrintTimes(w io.Writer, jobs []Job, policies []string, took [][]time.Duration, more ...[]string) error {
	fmt.Fprintln(w, "\nSeconds from arrival to end")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "job\tframework\tsteps\tarrived (s)\t%s\n", strings.Join(policies, "\t"))
	means, ends := make([]time.Duration, len(policies)), make([]time.Duration, len(policies))
	for i := range jobs {
		j, row := &jobs[i], make([]time.Duration, len(policies))
		for k := range policies {
			row[k] = took[k][i]
			means[k] += row[k] / time.Duration(len(jobs))
			ends[k] = max(ends[k], j.At+row[k])
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%.0f\t%s\n", j.Name, j.Framework, j.Steps, j.At.Seconds(), against(row))
	}
	fmt.Fprintf(table, "mean\t\t\t\t%s\nmakespan\t\t\t\t%s\n", against(means), against(ends))
	for _, row := range more {
		fmt.Fprintf(table, "%s\t\t\t\t%s\n", row[0], strings.Join(row[1:], "\t"))
	}
	return table.Flush()
}

// against prints times in seconds, with the change against the first.
func against(times []time.Duration) string {
	cells := []string{fmt.Sprintf("%.1f", times[0].Seconds())}
	for _, t := range times[1:] {
		cells = append(cells, fmt.Sprintf("%.1f (%+.1f %%)", t.Seconds(), 100*(t.Seconds()/times[0].Seconds()-1)))
	}
	return strings.Join(cells, "\t")
}

// PrintCosts prints, for each framework, what its adjustments cost: the median of each part in seconds.
// Adjustments that nobody has planned have no cost of saving, and are left out of the medians.
func PrintCosts(w io.Writer, all []Adjustment) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "framework\tadjustments\tunplanned\tsave (s)\tstop (s)\tstart (s)\tresume (s)\ttogether (s)\tsteps done again\tsteps lost\t")
	for _, name := range slices.Sorted(maps.Keys(scripts)) {
		own := slices.DeleteFunc(slices.Clone(all), func(a Adjustment) bool { return a.Job.Framework != name })
		if len(own) == 0 {
			continue
		}
		planned := slices.DeleteFunc(slices.Clone(own), func(a Adjustment) bool { return !a.Planned })
		var redone, lost int64
		for i := range own {
			redone, lost = redone+own[i].Redone, lost+own[i].Lost
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t", name, len(own), len(own)-len(planned))
		for _, part := range []func(*Adjustment) time.Duration{
			func(a *Adjustment) time.Duration { return a.Save }, func(a *Adjustment) time.Duration { return a.Stop },
			func(a *Adjustment) time.Duration { return a.Start }, func(a *Adjustment) time.Duration { return a.Resume },
			(*Adjustment).Total,
		} {
			fmt.Fprint(table, median(planned, part), "\t")
		}
		fmt.Fprintf(table, "%d\t%d\t\n", redone, lost)
	}
	return table.Flush()
}

// median returns that of a part in seconds, as text; a dash for none.
func median(all []Adjustment, part func(*Adjustment) time.Duration) string {
	if len(all) == 0 {
		return "-"
	}
	var times []time.Duration
	for i := range all {
		times = append(times, part(&all[i]))
	}
	slices.Sort(times)
	return fmt.Sprintf("%.2f", (times[(len(times)-1)/2]+times[len(times)/2]).Seconds()/2)
}
