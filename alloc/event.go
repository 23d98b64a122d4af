// This file decides events one by one: what changes is told to a Decider, which answers with what is otherwise, [Program §15].

package alloc

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/event"
)

// ErrUndecided is what Decider.Apply returns before there is a decision that an event could change.
var ErrUndecided = errors.New("alloc: there is no decision yet that an event could change")

// Event is what a Decider answers to changes: what is otherwise than before them.
type Event struct {
	// Whole says why the whole cluster was decided; empty: the event was decided by itself, in a time that follows what it changes.
	Whole string `json:"whole,omitempty"`
	// Allocation has the applications whose containers are others now, with all that they have; an empty entry says that one has none any
	// more. One that has ended is not in it.
	Allocation Allocation `json:"allocation"`
	// Objective, Bound and Gap are as those of a Decision: the bound holds for every allocation in which all have their fewest containers, and none of
	// them on a drained server.
	Objective float64 `json:"objective"`
	Bound     float64 `json:"bound"`
	Gap       float64 `json:"gap"`
	// Utilization, FairnessLoss, LossBudget, Adjusted, Forced, AdjustCost, AdjustBudget and ExtraServers are as in Metrics.
	Utilization  []float64 `json:"utilization"`
	FairnessLoss float64   `json:"fairness_loss"`
	LossBudget   float64   `json:"loss_budget"`
	Adjusted     int       `json:"adjusted"`
	Forced       int       `json:"forced"`
	AdjustCost   int64     `json:"adjust_cost"`
	AdjustBudget int64     `json:"adjust_budget"`
	ExtraServers int64     `json:"extra_servers"`
	// Waiting lists the applications that wait since these changes, with a reason: those that came and found no room, and those that lost
	// their servers, which have an empty entry in Allocation. What waited before and still does is in none of the lists.
	Waiting []Waiting `json:"waiting,omitzero"`
	// Plan has the steps from what ran before the event to what runs now, as NewPlan orders them; nil where the whole cluster was decided,
	// for which NewPlan has them.
	Plan []Step `json:"plan,omitzero"`
	// Decision is the whole decision, where Whole says why it was taken; its problem is Problem.
	Decision *Decision `json:"decision,omitempty"`
	Problem  *Problem  `json:"problem,omitempty"`
}

// Apply decides the cluster that the last decision has left, and that is otherwise by changes, of which there may be none. What is asked is
// what Reallocate is asked about Problem.After these changes. An event on a cluster near what its prices prove is decided by itself: the
// answer holds (6)-(9), (15), (16), as solver.Instance.Check finds for all that has changed, and its Gap is at most 0.01. Applications that
// wait are asked in admission's order, each by best fit and then by what others can make of room, and a search of the solver is no part
// of that: of 1,233 events of TestPropEvents 8 let in others than Reallocate. Room that is reserved stays where the last
// whole decision has chosen it, until its application is in.
// Everything else is decided as a whole, and Event.Whole says why: options, worths, labels or domains that are asked for, limits by server,
// pinned applications, a price of servers beyond the fewest, derived and compact kinds, shares of whole
// containers, losses in worth and the paper's rule; an application that waits where others may be suspended for it or within what its queue is guaranteed, or that is
// due and has no reservation; a queue that lacks what it is guaranteed, or may reclaim by level; a reservation beside queues; one whose servers change, or that could be nearer by what elastic applications give up or end; what leaves a drained server and finds no room; more than 2,048 servers that have unlike room; a loss that
// cannot be held; a gap that is wider.
//
// Errors: ErrUndecided; those of Problem.After and Validate for a change that does not fit; what the context says where it ends inside an
// event. After an error nothing has changed, and the Decider answers to the next event as if there had been none. Where the context ends
// inside a whole decision, that is marked Interrupted, as by Reallocate.
//
// An event takes O(groups (log groups + shapes x kinds + levels) + queues log queues + those that wait) and, for each application that it
// changes, O(remainders x kinds), and O(placements) for each sort of application that waits and for which room could be made, where groups are applications equal in everything, levels their different numbers of containers, shapes the different
// servers and remainders what is left on them in different ways; O(applications x shapes + placements) where the bound has to count on what
// stays; a whole decision what Reallocate does.
func (d *Decider) Apply(ctx context.Context, changes ...Change) (*Event, error) {
	if d.running() == nil {
		return nil, ErrUndecided
	}
	// What is wrong with one change is known without a look at the whole; of several the later may need the earlier.
	if len(changes) == 1 {
		if fault := d.state.refuse(&changes[0]); fault != nil {
			fault.Field = changePath("changes", 0, fault.Field)
			return nil, apportion.Faults{fault}.Err()
		}
	}
	e, reason, err := d.state.decide(ctx, changes)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return d.whole(ctx, changes, reason)
	}
	d.settled = nil // the question has changed
	d.state.pack()
	return e, nil
}

// Snapshot is all that a Decider knows, but for what its solver has learned. It survives encoding/json unchanged.
type Snapshot struct {
	// Problem is what the next decision begins from: the last one with the changes since, and what runs now.
	Problem *Problem `json:"problem"`
	// Prices are those that bound events.
	Prices event.Prices `json:"prices"`
}

// Snapshot returns what d knows now, the zero value before the first decision. It shares nothing that d changes later.
// O(servers + applications + placements).
func (d *Decider) Snapshot() Snapshot {
	if d.running() == nil {
		return Snapshot{}
	}
	s := Snapshot{Problem: d.state.whole()}
	if d.state.cluster != nil {
		s.Prices = d.state.cluster.Prices()
	}
	return s
}

// Restore makes d know what s says, in place of what it knew: it answers to events from there on as the Decider did that gave s. The error
// is that of Validate, and leaves d as it was. s is read and not retained, but for the vectors in it, which must not be written to.
func (d *Decider) Restore(s Snapshot) error {
	if s.Problem == nil {
		d.left, d.state = nil, nil
		return nil
	}
	if err := s.Problem.Validate(); err != nil {
		return err
	}
	p := *s.Problem
	p.Servers, p.Applications, p.Previous = slices.Clone(p.Servers), slices.Clone(p.Applications), p.Previous.Clone()
	d.left, d.prices, d.state = &p, &s.Prices, nil
	d.warm, d.settled, d.reservations, d.passed = nil, p.Settled, p.Reservations, make(map[string]float64)
	for i := range p.Applications {
		d.passed[p.Applications[i].ID] = p.Applications[i].Passed
	}
	return nil
}

// running returns what is known of the cluster, nil before the first decision.
func (d *Decider) running() *running {
	if d.state == nil && d.left != nil {
		d.state, d.left = newRunning(d.left, d.prices), nil
	}
	return d.state
}

// whole decides the whole cluster after changes.
func (d *Decider) whole(ctx context.Context, changes []Change, reason string) (*Event, error) {
	before := d.state.whole()
	next, err := before.After(changes, "changes")
	if err != nil {
		return nil, err
	}
	decision, err := d.Reallocate(ctx, next)
	if err != nil {
		return nil, err
	}
	m := &decision.Metrics
	e := &Event{Whole: reason, Allocation: Allocation{}, Objective: decision.Objective, Bound: decision.Bound, Gap: decision.Gap, Utilization: slices.Clone(m.Utilization),
		FairnessLoss: m.FairnessLoss, LossBudget: m.LossBudget, Adjusted: m.Adjusted, Forced: m.Forced, AdjustCost: m.AdjustCost, AdjustBudget: m.AdjustBudget, ExtraServers: m.ExtraServers,
		Decision: decision, Problem: next}
	for i := range decision.Shares {
		name := decision.Shares[i].ID
		if now := decision.Allocation[name]; !maps.Equal(now, before.Previous[name]) {
			e.Allocation[name] = maps.Clone(now)
			if now == nil {
				e.Allocation[name] = map[string]int64{}
			}
		}
	}
	return e, nil
}
