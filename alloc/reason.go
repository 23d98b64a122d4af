// This file says in words why P2 has no solution, and why an application can never be served.

package alloc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// noSolution says that an attempt has found no allocation, and whether there is none.
func noSolution(s *solver.Solution) apportion.Reason {
	// Only Infeasible is knowledge about P2; the others are about the search.
	switch {
	case s.Status == solver.Infeasible:
		return apportion.Reason{Text: "P2 has no solution"}
	case s.Interrupted:
		return apportion.Reason{Text: "no solution of P2 was found before the search was interrupted"}
	}
	return apportion.Reason{Text: "no solution of P2 was found within the effort allowed, and none was shown to be impossible"}
}

// listIDs quotes the first few ids and counts the rest; an ID may hold any character, which a sentence must survive.
func listIDs(ids []string) string {
	// A problem of thousands of applications must still give a sentence that a person reads.
	const shown = 4
	// The first ones are those of the problem's order, which a reader knows.
	quoted := make([]string, 0, shown)
	for _, id := range ids[:min(shown, len(ids))] {
		quoted = append(quoted, strconv.Quote(id))
	}
	text := strings.Join(quoted, ", ")
	if rest := len(ids) - shown; rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}

// unservable says why newcomer i can never run on these servers, even if they were empty: a kind that is not there, the
// ceiling of a queue, or too little room for its minimum. It is asked only about whom fits has refused.
func (r *resolved) unservable(i int) apportion.Reason {
	app := &r.problem.Applications[i]
	numbers := app.numbers()
	first := numbers.AtLeast(1)
	reason := apportion.Reason{
		Constraint:   solver.Minimum,
		Applications: []string{app.ID},
		Need:         float64(first),
		Have:         float64(r.room[i]),
	}
	if first < 0 {
		reason.Need, reason.Have = float64(max(1, app.Min)), 0
		reason.Text = fmt.Sprintf("there is no number of containers in [%d, %d] that it may have, by its step and counts", max(1, app.Min), app.Max)
		return reason
	}
	// A missing kind is the better reason: no number of servers of the same shape would help.
	for k, d := range app.Demand {
		if d > 0 && r.total[k] == 0 {
			reason.Constraint, reason.Kind = solver.Capacity, r.problem.Kinds.Name(k)
			reason.Need, reason.Have = float64(d), 0
			reason.Text = "it demands " + reason.Kind + ", of which the cluster has none"
			return reason
		}
	}
	// Room is cut by ceilings already, so that without this the cluster would be blamed for what a queue forbids.
	if ceiling := r.ceilingReason(i, first, r.ceiling); ceiling.Constraint != "" {
		ceiling.Applications = reason.Applications
		return ceiling
	}
	if text := r.domainText(i, first, -1); text != "" {
		reason.Constraint, reason.Text = Domain, text
		return reason
	}
	reason.Text = fmt.Sprintf("it needs %s and %d fit the empty cluster", containers(first), r.room[i]) + onServers(app.MaxServers)
	return reason
}

// withOption puts the option that a reason is about before its text, where there are several; i is the entry of the option.
func (r *resolved) withOption(i int, reason apportion.Reason) apportion.Reason {
	if len(r.options(i)) > 1 {
		reason.Text = fmt.Sprintf("with option %q %s", r.problem.Applications[i].Option, reason.Text)
	}
	return reason
}

// reasonOf joins the reasons of the options of one application: the first is told with its numbers, the text is of all.
func (r *resolved) reasonOf(options []int, why func(e int) apportion.Reason) apportion.Reason {
	// Options are in the order of the caller's preference, so that the first is what it would rather have had.
	var joined apportion.Reason
	for at, e := range options {
		reason := r.withOption(e, why(e))
		if at == 0 {
			joined = reason
		} else {
			joined.Text += "; " + reason.Text
		}
	}
	return joined
}
