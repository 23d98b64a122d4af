// This file compares two decisions, field by field.

package alloc

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Difference is one field in which two decisions differ.
type Difference struct {
	// Item is the application that it concerns; the zero Item: the decision itself.
	Item apportion.Item `json:"item,omitzero"`
	// Field is the path of the field.
	Field string `json:"field"`
	// Recorded is the value in the first decision, Replayed that in the second; "none" where there is
	// none.
	Recorded string `json:"recorded"`
	Replayed string `json:"replayed"`
}

// String returns `application "lr": Allocation[s1]: recorded 3, replayed 4`.
func (d Difference) String() string {
	text := fmt.Sprintf("%s: recorded %s, replayed %s", d.Field, d.Recorded, d.Replayed)
	if !d.Item.IsZero() {
		text = d.Item.String() + ": " + text
	}
	return text
}

// faultsOf turns differences between a claim and its recomputation into faults of the claim, with both values in words.
func faultsOf(found []Difference) apportion.Faults {
	var faults apportion.Faults
	for _, d := range found {
		faults.Add(d.Item, d.Field, apportion.ErrConflict, d.Recorded+", recomputed "+d.Replayed)
	}
	return faults
}

// none is the value of an entry that is not there.
const none = "none"

// comparison collects differences, in the order in which they are found. Its methods each compare one field, or fields of
// one sort.
type comparison struct{ found []Difference }

// differences lists the fields in which two decisions differ, in the order of the fields; numbers
// within solver.ObjectiveTolerance are the same. Replay uses it for two answers, Verify for a claim and what follows from it,
// so that a field that is missing here is checked by neither. Certificates are not compared: many prices prove
// one bound.
func differences(a, b *Decision) []Difference {
	var c comparison
	// The order of the comparisons is the order of the fields of Decision, so that two runs print
	// alike.
	whole := apportion.Item{}
	c.text(whole, "Status", string(a.Status), string(b.Status))
	c.allocations(a.Allocation, b.Allocation)
	c.number(whole, "Objective", a.Objective, b.Objective)
	c.number(whole, "Bound", a.Bound, b.Bound)
	c.number(whole, "OpenBound", a.OpenBound, b.OpenBound)
	c.number(whole, "Gap", a.Gap, b.Gap)
	c.text(whole, "Proven", a.Proven.String(), b.Proven.String())
	c.metrics(&a.Metrics, &b.Metrics)
	c.shares(a.Shares, b.Shares)
	c.queues(a.Queues, b.Queues)
	c.waiting("Waiting", a.Waiting, b.Waiting)
	c.waiting("Suspended", a.Suspended, b.Suspended)
	c.text(whole, "Draining", strings.Join(a.Draining, ", "), strings.Join(b.Draining, ", "))
	c.staying(a.Staying, b.Staying)
	c.text(whole, "Yielding", strings.Join(a.Yielding, ", "), strings.Join(b.Yielding, ", "))
	c.reservations(a.Reservations, b.Reservations)
	c.settled(a.Settled, b.Settled)
	c.text(whole, "Reason", textOf(a.Reason), textOf(b.Reason))
	c.reason(whole, "Reason", a.Reason, b.Reason)
	c.text(whole, "Interrupted", strconv.FormatBool(a.Interrupted), strconv.FormatBool(b.Interrupted))
	return c.found
}

// settled compares what two decisions say for the next one; decisions of before say nothing of it.
func (c *comparison) settled(a, b *Settled) {
	if a == nil {
		return
	}
	if b == nil {
		b = &Settled{}
	}
	// Those of before have the first digest alone.
	if !strings.HasPrefix(b.Digest, a.Digest+" ") {
		c.text(apportion.Item{}, "Settled.Digest", a.Digest, b.Digest)
	}
	c.text(apportion.Item{}, "Settled.Allocation", a.Allocation, b.Allocation)
}

// staying compares which applications stay on cordoned servers, and why; decisions of before say nothing of it.
func (c *comparison) staying(a, b []Staying) {
	if a == nil {
		return
	}
	c.count(apportion.Item{}, "Staying", int64(len(a)), int64(len(b)))
	for s := range min(len(a), len(b)) {
		item, field := apportion.Item{Kind: "application", ID: a[s].ID}, fmt.Sprintf("Staying[%d]", s)
		c.text(item, field+".ID", a[s].ID, b[s].ID)
		c.text(item, field+".Servers", strings.Join(a[s].Servers, ", "), strings.Join(b[s].Servers, ", "))
		c.text(item, field+".Reason", a[s].Reason.Text, b[s].Reason.Text)
		c.reason(item, field+".Reason", &a[s].Reason, &b[s].Reason)
	}
}

// add records a difference.
func (c *comparison) add(item apportion.Item, field, a, b string) {
	c.found = append(c.found, Difference{item, field, a, b})
}

// text compares two texts.
func (c *comparison) text(item apportion.Item, field, a, b string) {
	if a != b {
		c.add(item, field, a, b)
	}
}

// number compares two numbers that are computed: those within solver.ObjectiveTolerance are the same, and
// an infinity is the same as itself.
func (c *comparison) number(item apportion.Item, field string, a, b float64) {
	// a != b comes first because the difference of two equal infinities is NaN.
	if a != b && !(math.Abs(a-b) <= solver.ObjectiveTolerance) {
		c.add(item, field, formatFloat(a), formatFloat(b))
	}
}

// count compares two whole numbers, exactly.
func (c *comparison) count(item apportion.Item, field string, a, b int64) {
	c.text(item, field, strconv.FormatInt(a, 10), strconv.FormatInt(b, 10))
}

// allocations compares server by server, in the order of applications and then of servers; an entry of zero says the same as
// none.
func (c *comparison) allocations(a, b Allocation) {
	for _, id := range unionOfKeys(a, b) {
		// A server that only one of the two names is a difference as well, so that both sets of
		// keys are walked.
		for _, server := range unionOfKeys(a[id], b[id]) {
			item := apportion.Item{Kind: "application", ID: id}
			c.count(item, "Allocation["+server+"]", a[id][server], b[id][server])
		}
	}
}

// unionOfKeys returns the keys of both maps, ascending, each once.
func unionOfKeys[V any](a, b map[string]V) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// metrics compares equations (1)-(4), kind by kind.
func (c *comparison) metrics(a, b *Metrics) {
	whole := apportion.Item{}
	c.count(whole, "Metrics.Utilization", int64(len(a.Utilization)), int64(len(b.Utilization)))
	// The count above has reported a difference of lengths; what both have is still worth
	// comparing.
	for k := range min(len(a.Utilization), len(b.Utilization)) {
		c.number(whole, fmt.Sprintf("Metrics.Utilization[%d]", k), a.Utilization[k], b.Utilization[k])
	}
	c.number(whole, "Metrics.ResourceUtilization", a.ResourceUtilization, b.ResourceUtilization)
	c.number(whole, "Metrics.FairnessLoss", a.FairnessLoss, b.FairnessLoss)
	c.number(whole, "Metrics.WaitingLoss", a.WaitingLoss, b.WaitingLoss)
	c.count(whole, "Metrics.Adjusted", int64(a.Adjusted), int64(b.Adjusted))
	c.count(whole, "Metrics.Forced", int64(a.Forced), int64(b.Forced))
	c.count(whole, "Metrics.ForcedByCeiling", int64(a.ForcedByCeiling), int64(b.ForcedByCeiling))
	c.count(whole, "Metrics.Preempted", int64(a.Preempted), int64(b.Preempted))
	c.count(whole, "Metrics.AdjustCost", a.AdjustCost, b.AdjustCost)
	c.number(whole, "Metrics.LeastLoss", a.LeastLoss, b.LeastLoss)
	c.count(whole, "Metrics.ExtraServers", a.ExtraServers, b.ExtraServers)
	for _, level := range unionOfKeys(a.ExtraDomains, b.ExtraDomains) {
		c.count(whole, "Metrics.ExtraDomains["+level+"]", a.ExtraDomains[level], b.ExtraDomains[level])
	}
	c.number(whole, "Metrics.LossBudget", a.LossBudget, b.LossBudget)
	c.count(whole, "Metrics.AdjustBudget", a.AdjustBudget, b.AdjustBudget)
}

// shares compares how every application fares; of lists of different lengths the common part.
func (c *comparison) shares(a, b []Share) {
	c.count(apportion.Item{}, "Shares", int64(len(a)), int64(len(b)))
	for i := range min(len(a), len(b)) {
		// Shares stand in the order of the problem, so that position i is the same application in
		// both, unless Shares.ID says otherwise.
		item := apportion.Item{Kind: "application", ID: a[i].ID, Index: i}
		c.text(item, "Shares.ID", a[i].ID, b[i].ID)
		c.text(item, "Shares.Option", a[i].Option, b[i].Option)
		c.text(item, "Shares.Domain", a[i].Domain, b[i].Domain)
		c.count(item, "Shares.Containers", a[i].Containers, b[i].Containers)
		c.number(item, "Shares.Actual", a[i].Actual, b[i].Actual)
		c.number(item, "Shares.Theoretical", a[i].Theoretical, b[i].Theoretical)
		c.number(item, "Shares.Loss", a[i].Loss, b[i].Loss)
		c.count(item, "Shares.Guaranteed", a[i].Guaranteed, b[i].Guaranteed)
		c.count(item, "Shares.Most", a[i].Most, b[i].Most)
		c.text(item, "Shares.Adjusted", strconv.FormatBool(a[i].Adjusted), strconv.FormatBool(b[i].Adjusted))
		c.number(item, "Shares.Worth", a[i].Worth, b[i].Worth)
		c.text(item, "Shares.Forced", strconv.FormatBool(a[i].Forced), strconv.FormatBool(b[i].Forced))
	}
}

// queues compares how every queue fares; of lists of different lengths the common part.
func (c *comparison) queues(a, b []QueueUse) {
	c.count(apportion.Item{}, "Queues", int64(len(a)), int64(len(b)))
	for q := range min(len(a), len(b)) {
		item := apportion.Item{Kind: "queue", ID: a[q].ID, Index: q}
		c.text(item, "Queues.ID", a[q].ID, b[q].ID)
		c.text(item, "Queues.Used", fmt.Sprint(a[q].Used), fmt.Sprint(b[q].Used))
		c.text(item, "Queues.Guarantee", fmt.Sprint(a[q].Guarantee), fmt.Sprint(b[q].Guarantee))
		c.number(item, "Queues.Level", a[q].Level, b[q].Level)
		c.count(item, "Queues.Waiting", int64(a[q].Waiting), int64(b[q].Waiting))
	}
}

// reservations compares what is reserved; of lists of different lengths the common part.
func (c *comparison) reservations(a, b []Reservation) {
	c.count(apportion.Item{}, "Reservations", int64(len(a)), int64(len(b)))
	for v := range min(len(a), len(b)) {
		item := apportion.Item{Kind: "application", ID: a[v].ID}
		c.text(item, "Reservations.ID", a[v].ID, b[v].ID)
		for _, server := range unionOfKeys(a[v].Servers, b[v].Servers) {
			c.count(item, "Reservations.Servers["+server+"]", a[v].Servers[server], b[v].Servers[server])
		}
		c.text(item, "Reservations.At", textOfTime(a[v].At), textOfTime(b[v].At))
		c.text(item, "Reservations.For", strings.Join(a[v].For, ", "), strings.Join(b[v].For, ", "))
	}
}

// waiting compares who waits or is suspended, and why in words, position by position: both lists are in the order of the
// problem, so that one that is missing shows in all that follow it.
func (c *comparison) waiting(field string, a, b []Waiting) {
	for w := range max(len(a), len(b)) {
		item, textA, textB := apportion.Item{}, none, none
		if w < len(a) {
			item, textA = apportion.Item{Kind: "application", ID: a[w].ID}, a[w].text()
		}
		if w < len(b) {
			// Where both lists have an entry the second names the item; both names stand in the
			// texts anyway.
			item, textB = apportion.Item{Kind: "application", ID: b[w].ID}, b[w].text()
		}
		c.text(item, fmt.Sprintf("%s[%d]", field, w), textA, textB)
		if w < min(len(a), len(b)) {
			c.number(item, fmt.Sprintf("%s[%d].Passed", field, w), a[w].Passed, b[w].Passed)
			c.reason(item, fmt.Sprintf("%s[%d].Reason", field, w), &a[w].Reason, &b[w].Reason)
		}
	}
}

// reason compares what two reasons say beside their text; one that is missing is told by its text.
func (c *comparison) reason(item apportion.Item, field string, a, b *apportion.Reason) {
	if a == nil || b == nil {
		return
	}
	c.text(item, field+".Constraint", a.Constraint, b.Constraint)
	c.text(item, field+".Kind", a.Kind, b.Kind)
	c.text(item, field+".Applications", strings.Join(a.Applications, ", "), strings.Join(b.Applications, ", "))
	c.number(item, field+".Need", a.Need, b.Need)
	c.number(item, field+".Have", a.Have, b.Have)
	c.count(item, field+".Asked", a.Asked, b.Asked)
	c.count(item, field+".Fits", a.Fits, b.Fits)
	for at := range max(len(a.Blockers), len(b.Blockers)) {
		c.text(item, fmt.Sprintf("%s.Blockers[%d]", field, at), entryOf(a.Blockers, at), entryOf(b.Blockers, at))
	}
	for at := range max(len(a.Remedies), len(b.Remedies)) {
		c.text(item, fmt.Sprintf("%s.Remedies[%d]", field, at), entryOf(a.Remedies, at), entryOf(b.Remedies, at))
	}
}

// entryOf returns an entry of a list in words, or none.
func entryOf[T any](list []T, at int) string {
	if at >= len(list) {
		return none
	}
	return fmt.Sprintf("%+v", list[at])
}

// text is all that is said about an application that waits.
func (w *Waiting) text() string {
	return fmt.Sprintf("%s, left out %v: %s", w.ID, w.LeftOut, w.Reason.Text)
}

// textOf returns the sentence of a reason, or none.
func textOf(reason *apportion.Reason) string {
	if reason == nil {
		return none
	}
	return reason.Text
}

// textOfTime returns a time, or none.
func textOfTime(at *float64) string {
	if at == nil {
		return none
	}
	return formatFloat(*at)
}
