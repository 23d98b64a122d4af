// This file takes the decision after an event: it repairs, proves, and has the referee look at what has changed.

package event

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

const (
	// goodEnough is the gap above which an event is left to the whole decision: a promise, and what decides how many are. With half of it 92
	// events of 120 on a mixed cluster are, in place of 51.
	goodEnough = 0.01
	// narrow is the gap up to which prices are not renewed, however good they were when they were found: with half of it 7 events of 500 are
	// decided elsewhere in place of 6, with twice as much 5.
	narrow = 0.0025
	// mostRemainders is how many servers with unlike remainders an event looks at for each container that it places: it bounds its time.
	mostRemainders = 2048
)

// Result is what an event has changed, and how good that is.
type Result struct {
	// Changed lists the applications whose containers are others than before, ascending; Before is what each had.
	Changed []int
	Before  [][]apportion.Placement
	// Objective, Bound and Gap are those of the decision, Utilization has one entry for each kind.
	Objective, Bound, Gap float64
	Utilization           []float64
	Loss, LossBudget      float64
	Adjusted, Forced      int
	AdjustCost            int64
	AdjustBudget          int64
	// ExtraServers is on how many more servers than the fewest all applications are.
	ExtraServers int64
	// Refused lists the applications that wait since this event.
	Refused []Refused
}

// Decide decides what has been told since Begin. Where groups do not say what the program is, no way is found, or the gap is too wide, it
// returns a reason, and everything is as it was before Begin; so it is when the context ends, which is the error. Otherwise Commit or
// Rollback ends the event.
func (c *Cluster) Decide(ctx context.Context) (*Result, string, error) {
	m := c.ev
	used := make(apportion.Resources, c.kinds)
	for _, j := range m.drained {
		for k := range used {
			used[k] += c.servers[j].capacity[k] - c.servers[j].left[k]
		}
		c.empty(j, m.leaving)
	}
	reason := c.begin(used)
	if reason == "" {
		reason = m.admit(ctx)
	}
	if reason == "" {
		reason = m.repair(ctx)
	}
	if err := ctx.Err(); err != nil {
		c.Rollback()
		return nil, "", fmt.Errorf("alloc: an event was not decided: %w", context.Cause(ctx))
	}
	var r *Result
	if reason == "" {
		r = m.result()
		reason = m.referee(r)
	}
	if reason == "" {
		reason = m.prove(r)
	}
	if reason == "" && m.tree != nil {
		reason = m.owed()
	}
	if reason != "" {
		c.Rollback()
		return nil, reason, nil
	}
	return r, "", nil
}

// begin states what is known of the event whoever is let in: closed servers count with what used says is used of them.
// O(groups x shapes x kinds + those that wait).
func (c *Cluster) begin(used apportion.Resources) (reason string) {
	m := c.ev
	if len(c.remain.Live()) > mostRemainders {
		return "too many servers are unlike"
	}
	if len(c.groups)+len(c.lines) == 0 || len(c.shapes) == 0 {
		return "nothing runs"
	}
	if c.exceeded() {
		return "a queue has more than its ceiling"
	}
	m.total = used.Clone()
	for _, s := range c.shapes {
		_ = exact.AddTimesTo(m.total, m.total, s.count, s.capacity) // the door has seen that it fits
	}
	if c.tree != nil && !c.tree.promises(m.total) {
		return "queues are guaranteed more than there is"
	}
	for _, g := range c.groups {
		c.number(g, m.total)
	}
	for _, l := range c.lines {
		c.number(l.group, m.total)
	}
	if c.anyDue() {
		return "an application that waits is due"
	}
	costs := int64(0)
	for _, g := range c.groups {
		costs += g.members * g.given.Cost
	}
	for _, i := range m.touched {
		if g := c.apps[i].group; g != nil && (m.newcomer[i] || m.forced[i]) {
			costs -= g.given.Cost
		} else if g != nil {
			m.spent += g.given.Cost
		}
	}
	budget := c.rule.Theta2 * float64(costs)
	if m.adjustBudget = max(0, int64(math.Floor(budget+ceilTolerance))); c.rule.Ceil16 {
		m.adjustBudget = max(0, int64(math.Ceil(budget-ceilTolerance)))
	}
	if m.spent > m.adjustBudget {
		return "more would leave drained servers than may be adjusted"
	}
	m.isScarce = make([]bool, c.kinds)
	for k := range m.isScarce {
		m.isScarce[k] = m.scarce(k)
	}
	m.stated = unstated
	return ""
}

// restate states the program of who is in, if it is not the one that is stated.
func (m *repairing) restate() string {
	if m.stated == m.members {
		return ""
	}
	if len(m.groups) == 0 {
		return "nothing runs"
	}
	p, reason := m.state(m.total)
	p.adjustBudget = m.adjustBudget
	m.program, m.stated = p, m.members
	return reason
}

// result adds up what the event has changed.
func (m *repairing) result() *Result {
	r := &Result{LossBudget: m.lossBudget, AdjustBudget: m.adjustBudget, Utilization: make([]float64, m.kinds)}
	used, grown := make(apportion.Resources, m.kinds), 0.0
	for _, g := range m.groups {
		for _, l := range g.levels {
			r.Objective += float64(g.app.Value * float64(l.n*int64(len(l.apps))))
			r.Loss += float64(float64(len(l.apps)) * g.app.Loss(l.n))
			for k, d := range g.given.Demand {
				used[k] += l.n * int64(len(l.apps)) * d
			}
		}
	}
	for k, total := range m.total {
		if total > 0 {
			r.Utilization[k] = float64(used[k]) / float64(total)
		}
	}
	r.ExtraServers = m.extraServers()
	slices.Sort(m.touched)
	for _, i := range m.touched {
		a, before := &m.apps[i], m.before[i]
		if a.group == nil && a.line == nil || solver.SamePlaces(a.placed, before) {
			continue
		}
		r.Changed, r.Before = append(r.Changed, i), append(r.Before, before)
		if a.group != nil && !m.newcomer[i] {
			grown += max(0, a.group.app.Delta*float64(a.n-solver.Containers(before)))
		}
		switch {
		case m.newcomer[i]:
			continue
		case m.forced[i]:
			r.Forced++
		default:
			r.AdjustCost += a.group.given.Cost
			if !m.leaving[i] {
				r.Objective -= m.restart(i, solver.Containers(before))
			}
		}
		r.Adjusted++
	}
	m.pass(grown)
	for _, i := range append(m.fresh, m.suspended...) {
		if m.apps[i].line != nil {
			r.Refused = append(r.Refused, m.refusal(i))
		}
	}
	return r
}

// pass notes what was let in past the first of each queue that was refused, and how much others have grown.
func (m *repairing) pass(grown float64) {
	for _, first := range m.first {
		m.setPassed(first.i, m.apps[first.i].passed+m.entered-first.then+grown)
	}
}

// extraServers returns on how many more servers all applications are, together, than the fewest empty ones that would hold each.
// O(applications + groups x shapes x (kinds + levels)).
func (c *Cluster) extraServers() (sum int64) {
	for _, g := range c.groups {
		var empty solver.Spread
		for _, s := range c.shapes {
			if n := g.given.Demand.CountIn(s.capacity); n > 0 {
				empty.Rooms = append(empty.Rooms, solver.Rooms{Containers: n, Servers: s.count})
			}
		}
		slices.SortFunc(empty.Rooms, func(a, b solver.Rooms) int { return cmp.Compare(b.Containers, a.Containers) })
		for _, l := range g.levels {
			fewest := empty.Fewest(l.n)
			for _, i := range l.apps {
				sum += max(0, int64(len(c.apps[i].placed))-max(1, fewest))
			}
		}
	}
	return sum
}

// prove bounds the objective by the prices there are; where these prove too little it counts on what stays, and then looks for better
// ones. It returns a reason where the gap stays too wide.
func (m *repairing) prove(r *Result) string {
	b := m.newPricing(&m.program)
	r.Bound = b.bound()
	enough := func() bool {
		r.Bound = max(r.Objective, r.Bound)
		r.Gap = solver.Gap(r.Objective, r.Bound)
		return r.Gap <= narrow || r.Gap <= min(goodEnough, 2*m.prices.Gap)
	}
	if enough() {
		return ""
	}
	b.countStays(m)
	r.Bound = min(r.Bound, b.bound())
	if enough() {
		return ""
	}
	was, steps := m.Prices(), fewRounds
	if m.prices.Gap == 0 || r.Gap > goodEnough {
		steps = rounds
	}
	m.undo = append(m.undo, func() { m.UsePrices(was) })
	r.Bound = min(r.Bound, b.reprice(r.Objective, steps))
	enough()
	if m.prices.Gap = r.Gap; r.Gap > goodEnough {
		return fmt.Sprintf("the certified gap is %.2g, and may be %g", r.Gap, goodEnough)
	}
	return ""
}

// referee has package solver check what has changed: the applications that were touched, on the servers where they are, with what all
// others leave there and lose. It returns what is wrong, which would be a fault of this package.
func (m *repairing) referee(r *Result) string {
	var servers []int
	for _, i := range r.Changed {
		for _, p := range m.apps[i].placed {
			servers = append(servers, p.Server)
		}
	}
	slices.Sort(servers)
	servers = slices.Compact(servers)
	inst := &solver.Instance{Total: m.total, LossBudget: m.lossBudget, AdjustBudget: m.adjustBudget}
	for _, j := range servers {
		left := m.servers[j].capacity.Clone()
		for _, i := range m.servers[j].residents {
			if _, touched := slices.BinarySearch(r.Changed, int(i)); touched {
				continue
			}
			for k, d := range m.apps[i].group.given.Demand {
				left[k] -= m.on(int(i), j) * d
			}
		}
		if m.servers[j].closed {
			return fmt.Sprintf("server %d is closed", j)
		}
		inst.Capacity = append(inst.Capacity, left)
	}
	if len(servers) == 0 {
		return ""
	}
	others := r.Loss
	var counts solver.Counts
	var apps []int
	for _, i := range r.Changed {
		a := &m.apps[i]
		if a.group == nil {
			continue
		}
		app := a.group.app
		app.Min = max(1, app.Min)
		app.Running, app.Cost = !m.newcomer[i], a.group.given.Cost
		if app.Displaced = true; m.newcomer[i] || m.forced[i] {
			app.Cost = 0
		}
		others -= app.Loss(a.n)
		var placed []apportion.Placement
		for _, p := range a.placed {
			where, _ := slices.BinarySearch(servers, p.Server)
			placed = append(placed, apportion.Placement{Server: where, Count: p.Count})
		}
		counts = append(counts, placed)
		inst.Apps, apps = append(inst.Apps, app), append(apps, i)
	}
	inst.LossBudget -= others
	inst.Groups = m.limitsOf(apps)
	if err := inst.Check(counts); err != nil {
		return err.Error()
	}
	return ""
}
