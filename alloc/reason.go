// This file says in words why P2 has no solution, and why an application can never be served.

package alloc

import (
	"fmt"
	"slices"
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
		reason.Blockers = []apportion.Blocker{{Cause: ByCounts, Setting: "applications.counts"}}
		return reason
	}
	// A missing kind is the better reason: no number of servers of the same shape would help.
	for k, d := range app.Demand {
		if d > 0 && r.total[k] == 0 {
			reason.Constraint, reason.Kind = solver.Capacity, r.problem.Kinds.Name(k)
			reason.Need, reason.Have = float64(d), 0
			reason.Text = "it demands " + reason.Kind + ", of which the cluster has none"
			return r.whenEmpty(i, first, reason)
		}
	}
	// Room is cut by ceilings already, so that without this the cluster would be blamed for what a queue forbids.
	if ceiling := r.ceilingReason(i, first, r.ceiling); ceiling.Constraint != "" {
		ceiling.Applications = reason.Applications
		return r.whenEmpty(i, first, ceiling)
	}
	if text := r.domainText(i, first, -1); text != "" {
		reason.Constraint, reason.Text = Domain, text
		reason.Blockers = []apportion.Blocker{r.domainBlocker(i, first, r.room[i])}
		return r.whenEmpty(i, first, reason)
	}
	reason.Text = fmt.Sprintf("it needs %s, and %d fit the empty cluster", containers(first), r.room[i])
	return r.whenEmpty(i, first, reason)
}

// whenEmpty adds to a reason what keeps n containers of entry i off the empty servers.
func (r *resolved) whenEmpty(i int, n int64, reason apportion.Reason) apportion.Reason {
	if r.empty == nil {
		r.empty = r.emptyView()
	}
	t := r.empty.tallyOf(i, nil, n)
	reason.Asked, reason.Fits = n, r.room[i]
	reason.Blockers = append(reason.Blockers, t.blockers...)
	text := []string{reason.Text}
	if reason.Kind == "" && reason.Constraint != Domain {
		text = append(text, r.serversText(t.blockers, true)...)
	}
	return r.empty.withRemedies(i, n, t, reason, text...)
}

// sentences joins sentences: the first follows a name, and has no capital, the last no full stop, since more may follow.
func sentences(list ...string) string {
	var text strings.Builder
	for _, s := range list {
		if s == "" {
			continue
		}
		if text.Len() > 0 {
			text.WriteString(". ")
			s = strings.ToUpper(s[:1]) + s[1:]
		}
		text.WriteString(s)
	}
	return text.String()
}

// shownBlockers is how many blockers a sentence has; all are in the data.
const shownBlockers = 3

// serversText says what keeps an application off the servers, and with detail of which kind there is too little on one.
func (r *resolved) serversText(list []apportion.Blocker, detail bool) []string {
	all := int64(len(r.problem.Servers))
	var parts []string
	var rest int64
	var short, spread string
	for at := range list {
		b := &list[at]
		switch {
		case b.Cause == ByMaxServers:
			spread = fmt.Sprintf("it may be on at most %d (max_servers), where %d fit", b.Limit, b.Fits)
			continue
		case b.Servers == 0:
			continue
		case b.Servers == all:
			parts = append(parts, blockerText(b, true))
		case len(parts) == shownBlockers:
			rest += b.Servers
			continue
		default:
			parts = append(parts, blockerText(b, false))
		}
		if short == "" && detail {
			short = detailText(b)
		}
	}
	if rest > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", rest))
	}
	text := strings.Join(parts, ", ")
	if text != "" && len(list) > 0 && !slices.ContainsFunc(list, func(b apportion.Blocker) bool { return b.Servers == all }) {
		text = fmt.Sprintf("of %d servers %s", all, text)
	}
	return []string{text, spread, short}
}

// detailText says how much one container takes of a kind, and how much there is on these servers; empty where that is no matter.
func detailText(b *apportion.Blocker) string {
	switch {
	case b.Largest == 0 || b.Cause != ByRoom && b.Cause != BySize:
		return ""
	case b.Cause == BySize && b.Servers == 1:
		return fmt.Sprintf("one container takes %d %s, and it has %d", b.Need, b.Kind, b.Largest)
	case b.Cause == BySize:
		return fmt.Sprintf("one container takes %d %s, and the largest of these has %d", b.Need, b.Kind, b.Largest)
	case b.Servers == 1:
		return fmt.Sprintf("one container takes %d %s, and %s free there", b.Need, b.Kind, are(b.Free))
	}
	return fmt.Sprintf("one container takes %d %s, and %s free on these, at most %d on one", b.Need, b.Kind, are(b.Free), b.Largest)
}

// blockerText says how many servers a blocker keeps it off, as a part of a sentence, or that it is all of them.
func blockerText(b *apportion.Blocker, all bool) string {
	subject, is, lack, have, take, each := strconv.FormatInt(b.Servers, 10), "are", "lack", "have", "take", " each"
	if all {
		subject = fmt.Sprintf("all %d servers", b.Servers)
	}
	if all && b.Servers == 2 {
		subject = "both servers"
	}
	if b.Servers == 1 {
		is, lack, have, take, each = "is", "lacks", "has", "takes", ""
		if all {
			subject = "the server"
		}
	}
	switch b.Cause {
	case ByLabel:
		return fmt.Sprintf("%s %s %s", subject, lack, shortened(b.Label))
	case ByCordon:
		return fmt.Sprintf("%s %s cordoned", subject, is)
	case BySize:
		if b.Largest == 0 {
			return fmt.Sprintf("%s %s no %s", subject, have, b.Kind)
		}
		return fmt.Sprintf("%s %s too small in %s", subject, is, b.Kind)
	case ByReservation:
		return fmt.Sprintf("%s %s reserved", subject, is)
	case ByServersInUse:
		return fmt.Sprintf("%s %s beyond max_servers", subject, is)
	case ByPerServer:
		return fmt.Sprintf("%s %s at most %d%s (per_server)", subject, take, b.Limit, each)
	case ByNumber:
		return fmt.Sprintf("%s %s room for %d", subject, have, b.Fits)
	}
	if b.Largest == 0 {
		return fmt.Sprintf("%s %s no %s free", subject, have, b.Kind)
	}
	return fmt.Sprintf("%s %s too little %s free", subject, have, b.Kind)
}

// are writes a quantity with its verb.
func are(n int64) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

// have writes how many containers have something.
func have(n int64) string {
	switch n {
	case 0:
		return "none has"
	case 1:
		return "1 has"
	}
	return fmt.Sprintf("%d have", n)
}

// shortened cuts a selector that is too long to be read, on a whole character.
func shortened(label string) string {
	const most = 40 // characters
	runes := []rune(label)
	if len(runes) <= most {
		return label
	}
	return string(runes[:most]) + ".."
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
			joined.Text = sentences(joined.Text, reason.Text)
		}
	}
	return joined
}
