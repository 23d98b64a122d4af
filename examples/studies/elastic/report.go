// This file prints the tables and draws the figure.

package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
)

// report prints the tables of all policies on one type; what depends on the machine goes to stderr.
func (t *table) report(w, stderr io.Writer) {
	fmt.Fprintf(w, "Mean completion time in seconds, one type of GPU. The last columns are the reduction against %q in percent,\n", nameLAS)
	fmt.Fprintf(w, "the mean of the workloads and the worst of them.\n\n")
	t.means(w, nameLAS)
	t.details(w)
	t.wins(w)
	t.times(stderr)
}

// wins prints by how much the worth is ahead.
func (t *table) wins(w io.Writer) {
	fmt.Fprintln(w, "What the worth wins in the mean of the workloads, and in the worst, in percent:")
	for _, against := range []string{nameLAS, nameDorm} {
		mean, worst := reduction(t.row(nameWorth), t.row(against))
		fmt.Fprintf(w, "- against %s: %.1f, %.1f\n", against, mean, worst)
	}
	mean, worst := reduction(t.row(nameWorth), t.bestThreshold())
	fmt.Fprintf(w, "- against the better threshold of each workload: %.1f, %.1f\n\n", mean, worst)
}

// reportOthers prints the table of the workloads that had no say.
func (t *table) reportOthers(w io.Writer) {
	fmt.Fprintf(w, "Mean completion time in seconds on stretches that had no say; the reduction is against %q.\n\n", nameLAS)
	t.means(w, nameLAS)
	t.wins(w)
}

// reportTypes prints the table of several types.
func (t *table) reportTypes(w io.Writer) {
	fmt.Fprintf(w, "Servers of V100, P100 and K80 in turn; the reduction is against %q.\n\n", nameGavel)
	t.means(w, nameGavel)
}

// reportParts prints the table of the parts of the worth.
func (t *table) reportParts(w io.Writer) {
	fmt.Fprintf(w, "The worth without each of its parts; the reduction is against all of it.\n\n")
	t.means(w, nameWorth)
}

// bestThreshold returns by workload the run of the better threshold on n_max.
func (t *table) bestThreshold() []*played {
	a, b := t.row(nameHalf), t.row(nameMore)
	best := make([]*played, len(a))
	for k := range a {
		best[k] = slices.MinFunc([]*played{a[k], b[k]}, func(a, b *played) int { return cmp.Compare(a.Mean, b.Mean) })
	}
	return best
}

// reduction returns by how much, in percent, completion times are below those of other runs: the mean over the workloads,
// and the worst.
// The mean is over workloads and not over jobs, so that all weigh alike.
func reduction(runs, others []*played) (mean, worst float64) {
	worst = math.Inf(1)
	for k := range runs {
		part := 100 * (1 - runs[k].Mean.Seconds()/others[k].Mean.Seconds())
		mean += part / float64(len(runs))
		worst = min(worst, part)
	}
	return mean, worst
}

// means prints the mean completion times by workload.
func (t *table) means(w io.Writer, against string) {
	out := command.RightTable(w)
	fmt.Fprint(out, "policy\t")
	for _, l := range t.loads {
		fmt.Fprintf(out, "%s\t", l.name)
	}
	fmt.Fprintln(out, "less\tworst\t")
	for i, e := range t.entries {
		fmt.Fprintf(out, "%s\t", e.name)
		for _, p := range t.cells[i] {
			fmt.Fprintf(out, "%.0f\t", p.Mean.Seconds())
		}
		mean, worst := reduction(t.cells[i], t.row(against))
		fmt.Fprintf(out, "%.1f\t%.1f\t\n", mean, worst)
	}
	out.End()
}

// details prints what else came of every policy.
// Of an even number of workloads the lower middle one is taken, as everywhere here.
func (t *table) details(w io.Writer) {
	fmt.Fprintln(w, "Medians over the workloads, and the worst of them: completion times in seconds, makespan in hours, restarts, GPU hours,")
	fmt.Fprintf(w, "finish-time fairness (1 is what an equal part would give, less is sooner), jobs later than that, decisions proven to 0.1 %%.\n\n")
	out := command.RightTable(w)
	fmt.Fprintln(out, "policy\tmedian\tworst\t99 %\tworst\tmakespan\trestarts\tworst\tGPU hours\trho\tworst\tlater\tproven\t")
	for i, e := range t.entries {
		runs := t.cells[i]
		middle := func(of func(*played) float64) float64 {
			values := make([]float64, len(runs))
			for k := range runs {
				values[k] = of(runs[k])
			}
			slices.Sort(values)
			return values[(len(values)-1)/2]
		}
		most := func(of func(*played) float64) float64 {
			most := 0.0
			for k := range runs {
				most = max(most, of(runs[k]))
			}
			return most
		}
		median := func(p *played) float64 { return p.Median.Seconds() }
		late := func(p *played) float64 { return p.P99.Seconds() }
		restarts := func(p *played) float64 { return float64(p.Restarts) }
		fmt.Fprintf(out, "%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.1f\t%.0f\t%.0f\t%.0f\t%.2f\t%.1f\t%.0f %%\t%s\t\n", e.name,
			middle(median), most(median), middle(late), most(late),
			middle(func(p *played) float64 { return p.Makespan.Hours() }), middle(restarts), most(restarts),
			middle(func(p *played) float64 { return p.ContainerHours }), middle(func(p *played) float64 { return p.Rho }),
			most(func(p *played) float64 { return p.WorstRho }), 100*middle(func(p *played) float64 { return p.Unfair }), proven(runs))
	}
	out.End()
}

// proven returns the part of the decisions that are proven, of a policy that asks the optimizer.
func proven(runs []*played) string {
	yes, all := 0, 0
	for _, p := range runs {
		yes, all = yes+p.proven, all+p.decisions
	}
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(yes)/float64(all))
}

// times prints what decisions took on this machine.
func (t *table) times(w io.Writer) {
	out := command.RightTable(w)
	fmt.Fprintln(out, "policy\tdecision\tlongest\t")
	for i, e := range t.entries {
		var mean, longest time.Duration
		for _, p := range t.cells[i] {
			mean, longest = mean+p.mean/time.Duration(len(t.cells[i])), max(longest, p.took)
		}
		fmt.Fprintf(out, "%s\t%v\t%v\t\n", e.name, mean.Round(10*time.Microsecond), longest.Round(10*time.Microsecond))
	}
	out.Flush()
}

// figure draws the mean completion times in parts of least attained service.
func figure(t *table) *chart.Figure {
	f := chart.New("summary", "Mean completion time in parts of least attained service", "workload", "ratio")
	names := make([]string, len(t.loads))
	for k, l := range t.loads {
		names[k] = l.name
	}
	base := t.row(nameLAS)
	shown := []string{"static", "marginal gain", "Sia", nameDorm, "Dorm, n_max at 0.5", nameWorth}
	for i, name := range shown {
		values := make([]float64, len(t.loads))
		for k, p := range t.row(name) {
			values[k] = p.Mean.Seconds() / base[k].Mean.Seconds()
		}
		f.Bars(names, i, len(shown), name, values)
	}
	f.Reference(1)
	return f
}
