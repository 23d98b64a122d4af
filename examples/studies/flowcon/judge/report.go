// This file prints the tables and draws the figure.

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
)

// Columns are two blanks apart.
func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

// errors prints harm, waste and balanced accuracy.
// The first two are in percent.
func (t *tally) errors() string {
	return fmt.Sprintf("%.1f / %.1f = %.3f", 100*t.harm(), 100*t.waste(), t.balanced())
}

// report prints what each group makes of unseen families, by noise, then ours by row beside the best of the others.
// The three tables answer: how good on unseen families, by noise; which alphas were chosen; and whether
// anybody wastes less at the same harm.
func report(w io.Writer, curves []*curve, v verdicts) error {
	fmt.Fprintf(w, "%d curves of %d families: %s.\n", len(curves), len(families(curves)), strings.Join(families(curves), ", "))
	fmt.Fprintf(w, "Harm: converged with more than 5 %% ahead. Waste: not converged with less. Percent of the time, and balanced accuracy.\n")
	fmt.Fprintf(w, "Each family is judged at the one alpha that is best on all others, over all rows. Readings every %v.\n", every)
	if err := reportNoises(w, curves, v); err != nil {
		return err
	}
	if err := reportFamilies(w, curves, v); err != nil {
		return err
	}
	return reportRows(w, curves, v)
}

// reportNoises prints a row for each noise, over all lengths and intervals.
func reportNoises(w io.Writer, curves []*curve, v verdicts) error {
	table := newTable(w)
	fmt.Fprint(table, "noise")
	for _, g := range groups() {
		fmt.Fprint(table, "\t"+g.name)
	}
	fmt.Fprintln(table, "\t"+fixed.String()+" for all")
	for _, noise := range noisy.Noises() {
		fmt.Fprint(table, noise.Name)
		for _, g := range groups() {
			t := v.unseen(g, curves, ofNoise(noise.Name))
			fmt.Fprint(table, "\t"+t.errors())
		}
		t := v.fixed(ofNoise(noise.Name))
		fmt.Fprintln(table, "\t"+t.errors())
	}
	fmt.Fprintln(table)
	return table.Flush()
}

// ofNoise wants the rows of a noise.
// It is a filter for total.
func ofNoise(name string) func(row int) bool {
	all := rows()
	return func(r int) bool { return all[r].noise.Name == name }
}

// reportFamilies prints a row for each family, over all rows.
func reportFamilies(w io.Writer, curves []*curve, v verdicts) error {
	fmt.Fprintln(w, "Each family left out, over all rows: the alpha that was chosen on the others, harm and waste on it.")
	table := newTable(w)
	fmt.Fprint(table, "family")
	for _, g := range groups() {
		fmt.Fprint(table, "\t"+g.name)
	}
	fmt.Fprintln(table)
	for _, family := range families(curves) {
		fmt.Fprint(table, family)
		for _, g := range groups() {
			chosen := v.choose(g, curves, family)
			t := v.total(chosen, func(_, c int) bool { return curves[c].family == family })
			fmt.Fprintf(table, "\t%g: %s", contestants()[chosen].alpha, t.errors())
		}
		fmt.Fprintln(table)
	}
	fmt.Fprintln(table)
	return table.Flush()
}

// reportRows compares ours with the others at equal harm, row by row.
// The others choose their alphas with hindsight, ours does not.
func reportRows(w io.Writer, curves []*curve, v verdicts) error {
	fmt.Fprintln(w, "Ours on families left out, and the least waste of any other at the same harm, with its best alphas for that row.")
	table := newTable(w)
	fmt.Fprintln(table, "noise\tlength\tinterval\t"+ours+"\ttaken back\tothers waste\tby")
	all, less := rows(), 0
	for i, r := range all {
		t, other, by := v.compare(curves, i)
		if t.waste() < other {
			less++
		}
		fmt.Fprintf(table, "%s\t%v\t%v\t%s\t%.2f\t%.1f\t%s\n", r.noise.Name, r.length, r.interval, t.errors(), t.back/float64(len(curves)), 100*other, by)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "Less waste at equal harm in %d of %d rows.\n\n", less, len(all))
	return err
}

// compare returns ours in one row, and the least waste of the others at the same harm.
// other is 2, more than any waste, until a group has one.
func (v verdicts) compare(curves []*curve, at int) (t tally, other float64, by string) {
	only := func(r int) bool { return r == at }
	other = 2
	for _, g := range groups() {
		if g.name == ours {
			t = v.unseen(g, curves, only)
		}
	}
	for _, g := range groups() {
		if waste := v.wasteAt(g, t.harm(), only); g.name != ours && waste < other {
			other, by = waste, g.name
		}
	}
	return t, other, by
}

// figures draws harm against waste over alpha, for three noises.
// A line joins the alphas of one name, from the most careful to the boldest.
func figures(v verdicts) ([]*chart.Figure, error) {
	var all []*chart.Figure
	for i, name := range []string{"clean", "30 %", "heavy tails"} {
		f := chart.New(fmt.Sprintf("judge-%d", i+1), "Harm and waste over alpha, "+name, "Harm (percent)", "Waste (percent)")
		f.XRange(0, 60)
		f.YRange(0, 100)
		for k, g := range groups() {
			var points plotter.XYs
			for _, m := range g.members {
				wanted := ofNoise(name)
				t := v.total(m, func(r, _ int) bool { return wanted(r) })
				points = append(points, plotter.XY{X: 100 * t.harm(), Y: 100 * t.waste()})
			}
			if err := f.Line(k, g.name, points); err != nil {
				return nil, err
			}
		}
		all = append(all, f)
	}
	return all, nil
}
