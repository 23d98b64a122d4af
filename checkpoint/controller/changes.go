// This file tells what a decision changes: as a table, and in the log.

package controller

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/page"
)

// WriteTable writes which application has how many containers, how many it is to have and where, and what becomes of it, a line each in
// the order of the problem.
func WriteTable(w io.Writer, p *alloc.Problem, d *alloc.Decision) error {
	table, why := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0), page.Reasons(d)
	fmt.Fprintln(table, "JOB\tHAS\tGETS\tWHERE\tWHY")
	for i := range p.Applications {
		id := p.Applications[i].ID
		before, after := page.PlacesText(p.Previous[id]), page.PlacesText(d.Allocation[id])
		text := why[id]
		switch {
		case text != "":
		case before == after:
			text = "stays"
		case before == "":
			text = "starts"
		default:
			text = "changes"
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\n", id, p.Previous.Containers(id), d.Allocation.Containers(id), cmp.Or(after, "-"), text)
	}
	return table.Flush()
}

// logChanges logs a decision, and each application that it changes.
func logChanges(log *slog.Logger, t *Taken) {
	p, d := t.Problem, t.Decision
	why, changes := page.Reasons(d), 0
	for i := range p.Applications {
		id := p.Applications[i].ID
		before, after := page.PlacesText(p.Previous[id]), page.PlacesText(d.Allocation[id])
		if before == after {
			continue
		}
		changes++
		log.Info("job is to change", "job", id, "from", before, "to", after, "why", why[id])
	}
	log.Info("decided", "status", string(d.Status), "changes", changes, "waiting", len(d.Waiting), "suspended", len(d.Suspended), "objective", d.Objective, "gap", d.Gap, "took", t.Took)
}
