// This file prints and draws what became of the windows.

package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/studies/chart"
)

// level is the ratio from which a window counts as level or ahead: a job of a hundred may be missing.
// Ratios are to the best of six, chosen for each window afterwards.
const level = 0.99

// runWindows plays the windows of the traces in a folder, and prints and draws the ratios.
// The windows' own results go into a CSV file beside the figures, for whoever wants other quantiles.
func runWindows(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	read := readWindows
	if o.held {
		read = readHeld
	}
	windows, err := read(o.windows, o.gpus)
	if err != nil {
		return err
	}
	results, err := playWindows(ctx, stderr, windows, o.every)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "Total utility over that of the best rival: %d windows of real traces, %d rivals.\n", len(results), countRivals())
	table := newTable(stdout)
	fmt.Fprintln(table, "policy\tleast\tquartile\tmedian\tquartile\tmost\tgeometric mean\tahead or level")
	for i := range contenders {
		reportWindowRatios(table, contenders[i].name, results, func(r *result) float64 { return ratio(r.worth[i], r.rival()) })
	}
	reportWindowRatios(table, "certified bound", results, func(r *result) float64 { return ratio(r.bound, r.rival()) })
	flush(table)
	fmt.Fprintln(stdout, "Certified bound over what a policy earned: nobody who knew all jobs could have earned more times as much.")
	table = newTable(stdout)
	fmt.Fprintln(table, "policy\tleast\tquartile\tmedian\tquartile\tmost\tgeometric mean")
	for _, i := range shownCertified {
		reportCertified(table, contenders[i].name, results, func(r *result) float64 { return ratio(r.bound, r.worth[i]) })
	}
	reportCertified(table, "best rival", results, func(r *result) float64 { return ratio(r.bound, r.rival()) })
	flush(table)
	fmt.Fprintln(stdout, "Learnt prices by family and size, over the best rival and over earliest deadline with elastic jobs.")
	table = newTable(stdout)
	fmt.Fprintln(table, "family\tleast\tquartile\tmedian\tquartile\tmost\tgeometric mean\tahead or level")
	// A family's rows are the first contender against the best rival, and against the same algorithm
	// without prices.
	for _, family := range families(results) {
		of := slices.DeleteFunc(slices.Clone(results), func(r result) bool { return r.family != family })
		reportWindowRatios(table, family+", rivals", of, func(r *result) float64 { return ratio(r.worth[0], r.rival()) })
		reportWindowRatios(table, family+", elastic", of, func(r *result) float64 { return ratio(r.worth[0], r.worth[1]) })
	}
	for _, pressure := range pressuresOf(results) {
		of := slices.DeleteFunc(slices.Clone(results), func(r result) bool { return r.size != pressure })
		reportWindowRatios(table, pressure+", rivals", of, func(r *result) float64 { return ratio(r.worth[0], r.rival()) })
	}
	reportWindowRatios(table, "all, elastic", results, func(r *result) float64 { return ratio(r.worth[0], r.worth[1]) })
	flush(table)
	figures, err := windowsFigures(results)
	if err != nil {
		return err
	}
	if err := chart.Publish(stdout, o.out, figures); err != nil {
		return err
	}
	return writeResults(filepath.Join(o.out, "windows.csv"), results)
}

// shownCertified are the contenders whose certified ratios are printed: those that are no rivals, but for the last.
// The last, which knows the bounds of all jobs, is no policy that anybody could run.
var shownCertified = []int{0, 1, 2}

// reportCertified prints the distribution of a certified ratio.
// Quartiles are values of the sample, without interpolation.
func reportCertified(table io.Writer, name string, results []result, of func(*result) float64) {
	ratios, logs := make([]float64, len(results)), 0.0
	for i := range results {
		ratios[i] = of(&results[i])
		logs += math.Log(ratios[i])
	}
	slices.Sort(ratios)
	n := len(ratios)
	fmt.Fprintf(table, "%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n", name,
		ratios[0], ratios[n/4], ratios[n/2], ratios[3*n/4], ratios[n-1], math.Exp(logs/float64(n)))
}

// countRivals returns the number of rivals.
func countRivals() int {
	n := 0
	for i := range contenders {
		if contenders[i].rival {
			n++
		}
	}
	return n
}

// families returns the families in their order.
// The order is that of reading.
func families(results []result) []string {
	var names []string
	for i := range results {
		if !slices.Contains(names, results[i].family) {
			names = append(names, results[i].family)
		}
	}
	return names
}

// pressuresOf returns the sizes of cluster in their order.
func pressuresOf(results []result) []string {
	var sizes []string
	for i := range results {
		if !slices.Contains(sizes, results[i].size) {
			sizes = append(sizes, results[i].size)
		}
	}
	return sizes
}

// reportWindowRatios prints the distribution of a ratio. Windows in which only the reference earned nothing count as the
// most, and are left out of the mean.
// A contender that earned nothing in some window has a geometric mean of 0.
func reportWindowRatios(table io.Writer, name string, results []result, of func(*result) float64) {
	var ratios []float64
	logs, finite, ahead := 0.0, 0, 0
	for i := range results {
		r := of(&results[i])
		ratios = append(ratios, r)
		if r >= level {
			ahead++
		}
		if r > 0 && !math.IsInf(r, 0) {
			logs += math.Log(r)
			finite++
		}
	}
	slices.Sort(ratios)
	n := len(ratios)
	mean := math.Exp(logs / float64(max(1, finite)))
	if ratios[0] == 0 {
		mean = 0
	}
	fmt.Fprintf(table, "%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%s\n", name,
		ratios[0], ratios[n/4], ratios[n/2], ratios[3*n/4], ratios[n-1], mean, percent(ahead, n))
}

// windowsFigures show the sorted ratios: of the contenders that are no rivals to the best rival, and of learnt prices to
// earliest deadline with elastic jobs.
func windowsFigures(results []result) ([]*chart.Figure, error) {
	rivals := chart.New("windows", "Windows of real traces: utility over the best rival", "Window, by ratio", "Total utility / best rival (at most 4)")
	elastic := chart.New("elastic", "Windows of real traces: utility over elastic earliest deadline", "Window, by ratio", "Total utility / earliest deadline, elastic (at most 4)")
	for _, f := range []*chart.Figure{rivals, elastic} {
		f.Reference(1)
	}
	series := 0
	for i := range contenders {
		if contenders[i].rival {
			continue
		}
		points := sorted(results, func(r *result) float64 { return ratio(r.worth[i], r.rival()) })
		if err := rivals.Points(series, contenders[i].name, points); err != nil {
			return nil, err
		}
		series++
	}
	points := sorted(results, func(r *result) float64 { return ratio(r.worth[0], r.worth[1]) })
	return []*chart.Figure{rivals, elastic}, elastic.Points(0, contenders[0].name, points)
}

// sorted returns a ratio of all windows, ascending.
// The x of a point is a rank, so that two curves cannot be compared window by window.
func sorted(results []result, of func(*result) float64) plotter.XYs {
	var ratios []float64
	for i := range results {
		ratios = append(ratios, min(leadRange, of(&results[i])))
	}
	slices.Sort(ratios)
	var points plotter.XYs
	for i, r := range ratios {
		points = append(points, plotter.XY{X: float64(i + 1), Y: r})
	}
	return points
}

// writeResults writes what everybody earned, window by window.
// Numbers are written in full, as figures are rounded.
func writeResults(path string, results []result) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := csv.NewWriter(file)
	header := []string{"window", "all jobs", "certified bound"}
	for i := range contenders {
		header = append(header, contenders[i].name)
	}
	rows := [][]string{header}
	for i := range results {
		row := []string{results[i].name(), strconv.FormatFloat(results[i].most, 'g', -1, 64), strconv.FormatFloat(results[i].bound, 'g', -1, 64)}
		for _, worth := range results[i].worth {
			row = append(row, strconv.FormatFloat(worth, 'g', -1, 64))
		}
		rows = append(rows, row)
	}
	if err := out.WriteAll(rows); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
