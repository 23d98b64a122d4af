// This file says in words why an application waits or an allocation was kept.

package alloc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion/alloc/solver"
)

// reason translates the conflict of an attempt without a solution.
func (r *resolved) reason(a *attempt) *Reason {
	switch {
	case a.solution.Status != solver.Infeasible && a.solution.Interrupted:
		return &Reason{Text: "no solution of P2 was found before the search was interrupted"}
	case a.solution.Status != solver.Infeasible:
		return &Reason{Text: "no solution of P2 was found within the effort allowed, and none was shown to be impossible"}
	case a.solution.Conflict == nil:
		return &Reason{Text: "P2 has no solution"}
	}
	conflict := a.solution.Conflict
	reason := &Reason{Constraint: conflict.Constraints[0], Need: conflict.Need, Have: conflict.Have}
	for _, app := range conflict.Apps {
		reason.Applications = append(reason.Applications, r.problem.Applications[a.apps[app]].ID)
	}
	if conflict.Kind >= 0 {
		reason.Kind = r.problem.Kinds.Name(conflict.Kind)
	}
	reason.Text = reasonText(reason, conflict.Constraints[1:])
	return reason
}

// reasonText says for instance "adjustment (16) needs at least 2 and has 1, with capacity (6) held".
func reasonText(reason *Reason, held []solver.Constraint) string {
	var text strings.Builder
	text.WriteString("P2 has no solution: " + string(reason.Constraint))
	if len(reason.Applications) > 0 {
		text.WriteString(" for " + listIDs(reason.Applications))
	}
	if reason.Need != reason.Have {
		fmt.Fprintf(&text, " needs at least %.6g%s and has %.6g", reason.Need, unit(reason), reason.Have)
	} else {
		text.WriteString(" cannot be met")
	}
	for h, constraint := range held {
		text.WriteString([...]string{", with ", " and "}[min(h, 1)] + string(constraint))
	}
	if len(held) > 0 {
		text.WriteString(" held")
	}
	return text.String()
}

// unit names what Need and Have of a reason count.
func unit(reason *Reason) string {
	switch {
	case reason.Kind != "":
		return " " + reason.Kind
	case reason.Constraint == solver.Capacity:
		return " of all there is"
	case reason.Constraint == solver.Minimum:
		return " containers"
	}
	return "" // shares, or applications
}

// listIDs quotes the first few ids and counts the rest.
func listIDs(ids []string) string {
	const shown = 4
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

// waiting lists the applications without containers in allocation. apps are those that P2 was
// about; shut is why a newcomer that could be served is not among them or was not given any.
func (r *resolved) waiting(allocation Allocation, apps []int, shut *Reason) []Waiting {
	servable := r.servable()
	var waiting []Waiting
	for i := range r.problem.Applications {
		app := &r.problem.Applications[i]
		if allocation.Containers(app.ID) > 0 {
			continue
		}
		w := Waiting{ID: app.ID}
		_, fits := slices.BinarySearch(servable, i)
		_, asked := slices.BinarySearch(apps, i)
		switch {
		case !fits:
			w.Reason = r.unservable(i)
		case shut != nil && (!asked || app.Min > 0):
			w.Reason = *shut
		default:
			w.Reason = Reason{Text: "its minimum is 0 and its containers would displace others that use more of the cluster"}
		}
		waiting = append(waiting, w)
	}
	return waiting
}

// unservable says why newcomer i can never run on these servers.
func (r *resolved) unservable(i int) Reason {
	app := &r.problem.Applications[i]
	reason := Reason{
		Constraint:   solver.Minimum,
		Applications: []string{app.ID},
		Need:         float64(max(1, app.Min)),
		Have:         float64(r.room[i]),
	}
	for k, d := range app.Demand {
		if d > 0 && r.total[k] == 0 {
			reason.Constraint, reason.Kind = solver.Capacity, r.problem.Kinds.Name(k)
			reason.Need, reason.Have = float64(d), 0
			reason.Text = "it demands " + reason.Kind + ", of which the cluster has none"
			return reason
		}
	}
	reason.Text = fmt.Sprintf("it needs %d containers and %d fit the empty cluster", max(1, app.Min), r.room[i])
	return reason
}
