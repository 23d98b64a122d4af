// This file plays a trace of the user's own under all contenders.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/apportion/apportion/examples/internal/trace"
	"github.com/apportion/apportion/examples/studies/command"
)

// ownSizes are the sizes of cluster, in GPUs, where -gpus names none.
var ownSizes = []int{16, 32, 64}

// runOwn plays a trace on clusters of the given sizes and prints what everybody earned.
// All faults of the file are told at once, each with its row and job.
func runOwn(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	rows, err := readRows(o.trace)
	if err != nil {
		return err
	}
	if err := checkRows(rows); err != nil {
		return fmt.Errorf("%s:\n%w", filepath.Base(o.trace), err)
	}
	sizes := o.gpus
	if len(sizes) == 0 {
		sizes = ownSizes
	}
	var windows []*window
	for _, gpus := range sizes {
		w, err := cut(rows, func(float64) int { return gpus }, deadlines, false)
		if err != nil {
			return err
		}
		windows = append(windows, w)
	}
	results, err := playAll(ctx, stderr, windows, hardship{}, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "Total utility: %d jobs of %s, worth %g together.\n", len(rows), filepath.Base(o.trace), worthOfAll(windows[0].jobs))
	table := command.NewTable(stdout)
	table.Row("policy", len(results), func(i int) string { return fmt.Sprintf("%d GPUs", results[i].gpus) })
	for c := range contenders {
		table.Row(contenders[c].name, len(results), func(i int) string { return fmt.Sprintf("%.6g", results[i].worth[c]) })
	}
	table.End()
	return nil
}

// checkRows returns what is wrong with rows as jobs, all of it, one line a fault.
// The reader has checked that numbers are numbers; here they are checked as jobs.
func checkRows(rows []trace.Job) error {
	if len(rows) == 0 {
		return errors.New("there is no job")
	}
	var faults []error
	seen := make(map[string]bool)
	for i := range rows {
		row := &rows[i]
		add := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("job %q (row %d): %s", row.ID, i+1, fmt.Sprintf(format, args...)))
		}
		switch {
		case seen[row.ID]:
			add("job_id: another job has it")
		// Jobs are offered in the order of the file.
		case i > 0 && row.Submit < rows[i-1].Submit:
			add("submit_s: %g is before the row above", row.Submit.Seconds())
		case row.Duration.Value <= 0:
			add("duration_s: the job must run for some time")
		case row.GPUs.Value < 1:
			add("gpus: %g, at least 1 is needed", row.GPUs.Value)
		}
		seen[row.ID] = true
		if _, err := cutJob(row, traceSlot, deadlines, false); err != nil {
			add("deadline_s, value: %v", err)
		}
	}
	return errors.Join(faults...)
}
