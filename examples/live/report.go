// This file tells how a play went: what all policies report.

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/apportion/apportion/examples/live/harness"
)

// stretch multiplies all times of a stream.
// It changes the jobs that it is given.
func stretch(jobs []harness.Job, scale float64) []harness.Job {
	for i := range jobs {
		jobs[i].At = time.Duration(float64(jobs[i].At) * scale)
		jobs[i].Cost = time.Duration(float64(jobs[i].Cost) * scale)
	}
	return jobs
}

// report prints what became of the jobs and what adjustments cost. Work that was lost is an error.
// It is the test of every play: the numbers are printed, and what must not be is an error.
func report(ctx context.Context, stdout io.Writer, record *harness.Record) ([]harness.Outcome, error) {
	outcomes, err := record.Outcomes(ctx)
	if err != nil {
		return nil, err
	}
	adjustments, err := record.Adjustments()
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(stdout)
	if err := harness.PrintOutcomes(stdout, outcomes); err != nil {
		return nil, err
	}
	fmt.Fprintln(stdout)
	if err := harness.PrintCosts(stdout, adjustments); err != nil {
		return nil, err
	}
	for i := range adjustments {
		if a := &adjustments[i]; a.Lost != 0 {
			return nil, fmt.Errorf("job %q: the run with %d containers after that with %d is %d steps off the last confirmed checkpoint", a.Job.Name, a.After, a.Before, a.Lost)
		}
	}
	return outcomes, nil
}
