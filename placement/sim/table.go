// This file prints results of one scenario side by side.

package sim

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Table writes a line for each result: how many jobs completed and were refused; the mean wait and
// response of those that completed and the makespan, rounded to milliseconds; utilization and
// fairness loss, means over time up to the end; how often a running job was adjusted; and what all
// jobs are worth. The error is that of w.
func Table(w io.Writer, results ...*Result) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "policy\tcompleted\trefused\twait\tresponse\tmakespan\tutilization\tloss\tadjusted\tworth")
	for _, r := range results {
		fmt.Fprintln(table, r.line())
	}
	return table.Flush()
}

// line returns the cells of a result, tabs between them.
func (r *Result) line() string {
	var completed, refused, adjusted int
	var wait time.Duration
	for i := range r.Jobs {
		o := &r.Jobs[i]
		adjusted += o.Adjusted
		if o.Refused {
			refused++
		}
		if o.Completed {
			completed++
			wait += o.Wait()
		}
	}
	wait /= time.Duration(max(1, completed))
	cut := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	return fmt.Sprintf("%s\t%d of %d\t%d\t%v\t%v\t%v\t%.3f\t%.3f\t%d\t%.1f", r.Policy, completed, len(r.Jobs), refused,
		cut(wait), cut(r.MeanResponse()), cut(r.Makespan()),
		r.Mean(0, r.End, func(s *Sample) float64 { return s.Total }),
		r.Mean(0, r.End, func(s *Sample) float64 { return s.FairnessLoss }), adjusted, r.Worth())
}
