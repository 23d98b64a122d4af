// This file asks whether the factor of displacement was tuned on what it is judged by: for each family of traces it is
// chosen on all the others.

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/primaldual"
)

// factors are the values of Learning.Displace to choose from.
// A factor says how many times as much worth a unit of work must have as that of the job that it displaces.
var factors = []float64{1, 1.25, 1.5, 2, 3, 5, 10}

// recommended is the position of the factor that Learning recommends.
const recommended = 3

// factored is a window played with every factor.
// A ratio of 1 is as if nobody were displaced.
type factored struct {
	*window
	// over are, by factor, what it earned over what learnt prices earn that keep every promise.
	over []float64
}

// runFactors plays all windows, held ones too, with every factor and prints what one chosen on the other families earns.
// Held windows count here as well: nothing is chosen by this but to see whether it would have mattered.
func runFactors(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	windows, err := readWindows(o.windows, o.gpus)
	if err != nil {
		return err
	}
	held, err := readHeld(o.windows, o.gpus)
	if err != nil {
		return err
	}
	results, err := playFactors(ctx, stderr, append(windows, held...), o.every)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "Displacement by factor, over learnt prices that keep every promise: geometric mean and least of %d windows.\n", len(results))
	fmt.Fprintln(stdout, "Chosen: the factor with the greatest mean over all other families; the last column is what it earns here.")
	table := newTable(stdout)
	fmt.Fprint(table, "family\twindows")
	for _, factor := range factors {
		fmt.Fprintf(table, "\t%g\tleast", factor)
	}
	fmt.Fprintln(table, "\tchosen elsewhere\tearns")
	for _, name := range clans(results) {
		own, others := split(results, name)
		// A family is judged by a factor that its own windows had no say in.
		chosen := bestFactor(others)
		reportFactors(table, name, own)
		fmt.Fprintf(table, "\t%g\t%.3f\n", factors[chosen], meanOver(own, chosen))
	}
	reportFactors(table, "all", results)
	fmt.Fprintln(table, "\t\t")
	flush(table)
	reportChosen(stdout, results)
	return nil
}

// playFactors plays every windows[i] with i a multiple of every.
// A task plays one window eight times.
func playFactors(ctx context.Context, stderr io.Writer, windows []window, every int) ([]factored, error) {
	var results []factored
	for i := 0; i < len(windows); i += every {
		results = append(results, factored{window: &windows[i], over: make([]float64, len(factors))})
	}
	err := command.InParallel(ctx, len(results), stderr, "playing", func(ctx context.Context, i int) error {
		load, err := results[i].workload()
		if err != nil {
			return err
		}
		kept, err := load.earns(ctx, primaldual.Learning{})
		if err != nil {
			return err
		}
		for f, factor := range factors {
			worth, err := load.earns(ctx, primaldual.Learning{Displace: factor})
			if err != nil {
				return err
			}
			results[i].over[f] = ratio(worth, kept)
		}
		return nil
	})
	return results, err
}

// earns returns what learnt prices earn.
// Displacement is off where learning does not say.
func (w *workload) earns(ctx context.Context, learning primaldual.Learning) (float64, error) {
	_, run, err := w.run(ctx, &learned{learning: learning})
	if err != nil {
		return 0, err
	}
	return run.Worth(), nil
}

// clan returns the trace that a family belongs to: the virtual clusters of Philly are one.
// A dozen of small clusters of one company are no independent witnesses.
func clan(family string) string {
	if strings.HasPrefix(family, "Philly ") {
		return "Philly"
	}
	return family
}

// clans returns the traces in their order.
// Windows come family by family, so that a new name is a new trace.
func clans(results []factored) []string {
	var names []string
	for i := range results {
		if name := clan(results[i].family); len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}

// split separates the windows of a trace from all others.
func split(results []factored, name string) (own, others []factored) {
	for _, r := range results {
		if clan(r.family) == name {
			own = append(own, r)
		} else {
			others = append(others, r)
		}
	}
	return own, others
}

// bestFactor returns the position of the factor with the greatest mean, of equal ones the first.
func bestFactor(results []factored) int {
	best := 0
	for f := range factors {
		if meanOver(results, f) > meanOver(results, best) {
			best = f
		}
	}
	return best
}

// meanOver returns the geometric mean for a factor. A window in which nothing was earned counts as a hundredth.
// The limits keep one window from deciding the mean.
func meanOver(results []factored, factor int) float64 {
	logs := 0.0
	for i := range results {
		logs += math.Log(min(100, max(0.01, results[i].over[factor])))
	}
	return math.Exp(logs / float64(len(results)))
}

// reportFactors prints the start of a row: what each factor earns, and the least.
func reportFactors(table io.Writer, name string, results []factored) {
	fmt.Fprintf(table, "%s\t%d", name, len(results))
	for f := range factors {
		least := math.Inf(1)
		for i := range results {
			least = min(least, results[i].over[f])
		}
		fmt.Fprintf(table, "\t%.3f\t%.3f", meanOver(results, f), least)
	}
}

// reportChosen prints what is lost by a factor that was chosen on other families, and by the recommended one.
// elsewhere, hindsight and n sum logarithms and windows over all traces.
func reportChosen(w io.Writer, results []factored) {
	elsewhere, hindsight, n := 0.0, 0.0, 0.0
	for _, name := range clans(results) {
		own, others := split(results, name)
		elsewhere += float64(len(own)) * math.Log(meanOver(own, bestFactor(others)))
		hindsight += float64(len(own)) * math.Log(meanOver(own, bestFactor(own)))
		n += float64(len(own))
	}
	fmt.Fprintf(w, "Over all windows: chosen on the other families %.4f, always %g %.4f, each family's own best %.4f.\n",
		math.Exp(elsewhere/n), factors[recommended], meanOver(results, recommended), math.Exp(hindsight/n))
}
