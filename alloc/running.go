// This file holds what a Decider knows between two events: where each application is, by position, and the names of both.

package alloc

import (
	"context"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/event"
)

// running is what a Decider knows of the cluster after its last decision. Positions are those of servers and applications as they came;
// what is gone keeps its position, so that nothing moves, until there are as many of these as of the others.
type running struct {
	// problem has all but servers and applications, which are below, and what runs where there is no cluster.
	problem     Problem
	servers     []apportion.Server
	apps        []Application
	lost, ended map[int]bool
	server, app map[string]int
	// cluster is nil where reason says why no event can be decided by itself.
	cluster *event.Cluster
	reason  string
}

// newRunning returns what is known of a problem whose Previous runs; its lists are no longer the caller's.
func newRunning(p *Problem, prices *event.Prices) *running {
	s := &running{problem: *p, servers: p.Servers, apps: p.Applications, lost: make(map[int]bool), ended: make(map[int]bool),
		server: serverIndex(p.Servers), app: appIndex(p.Applications)}
	s.problem.Servers, s.problem.Applications = nil, nil
	if s.reason = p.plain(); s.reason == "" {
		s.build(prices)
	}
	return s
}

// prices returns the prices of a decision of p by capacity: the mean of those of servers that are alike.
func (d *Decision) prices(p *Problem) *event.Prices {
	m := d.Certificate.Multipliers
	if m == nil || len(m.Server) != len(p.Servers) {
		return &event.Prices{}
	}
	shapes, of := shapesOf(len(p.Servers), func(to []byte, j int) []byte { return appendVector(to, p.Servers[j].Capacity) })
	prices := event.Prices{Loss: m.Loss, Shapes: make([]event.ShapePrice, len(shapes))}
	total := make([]float64, len(p.Kinds))
	for j := range p.Servers {
		for k, q := range p.Servers[j].Capacity {
			total[k] += float64(q)
		}
	}
	for s, shape := range shapes {
		prices.Shapes[s] = event.ShapePrice{Capacity: p.Servers[shape.server].Capacity, Price: make([]float64, len(p.Kinds))}
	}
	for j, s := range of {
		for k, price := range m.Server[j][:len(p.Kinds)] {
			prices.Shapes[s].Price[k] += price * total[k] / float64(shapes[s].count)
		}
	}
	for g, q := range p.limitedQueues() {
		price := event.QueuePrice{Queue: p.Queues[q].ID, Price: make([]float64, len(p.Kinds))}
		if m.Group != nil {
			for k, each := range m.Group[g][:len(p.Kinds)] {
				price.Price[k] = each * total[k]
			}
		}
		prices.Queues = append(prices.Queues, price)
	}
	return &prices
}

// like returns what a has in common with those that are equal to it.
func (a *Application) like() event.App {
	cost := int64(1)
	if a.AdjustCost != nil {
		cost = *a.AdjustCost
	}
	return event.App{Demand: a.Demand, Weight: a.Weight, Min: a.Min, Max: a.Max, Step: a.Step, Counts: a.Counts, Cost: cost, Queue: a.Queue}
}

// rule returns what p says beside its servers and applications.
func (p *Problem) rule() event.Rule {
	o := &p.Options
	rule := event.Rule{Theta1: p.Theta1, Theta2: p.Theta2, Printed: o.NoCeil15 || p.Theta1 == 1, Ceil15: !o.NoCeil15, Ceil16: !o.NoCeil16,
		Queues: p.Queues, Restart: restartCost, Gain: o.MinGain, Patience: o.patience(), Widest: widest, Victims: standard.victims, Suspends: o.Preempt}
	if o.Order != Fair {
		rule.Patience, rule.Flat = math.Inf(1), true
	}
	if o.RestartCost != nil {
		rule.Restart = *o.RestartCost
	}
	return rule
}

// build makes the cluster of what runs.
func (s *running) build(prices *event.Prices) {
	c := event.New(len(s.problem.Kinds), len(s.servers), s.problem.rule())
	for j := range s.servers {
		c.AddServer(s.servers[j].Capacity, s.servers[j].Cordoned)
	}
	for i := range s.apps {
		placed, displaced := placements(s.problem.Previous[s.apps[i].ID], s.server)
		if len(placed) == 0 && !displaced {
			c.AddWaiting(s.apps[i].like(), s.apps[i].Priority, s.apps[i].Passed)
			continue
		}
		at := c.AddApp(s.apps[i].like(), s.apps[i].Priority)
		for _, p := range placed {
			c.Put(at, p.Server, p.Count)
			displaced = displaced || s.servers[p.Server].Cordoned
		}
		if displaced {
			s.reason = "something still runs on a server that is gone or drained"
		}
	}
	if s.reason == "" && !c.Fits() {
		s.reason = "a server is too full"
	}
	if s.reason == "" {
		s.reason = s.hold(c)
	}
	if s.reason != "" {
		return
	}
	c.Commit()
	c.UsePrices(*prices)
	s.cluster, s.problem.Previous = c, nil
}

// mostGone is how many positions may be those of what is gone before all others move up, beside as many as there are.
const mostGone = 1024

// pack moves all up where most positions are those of what is gone.
func (s *running) pack() {
	if len(s.ended) > len(s.app)+mostGone || len(s.lost) > len(s.server)+mostGone {
		prices := s.cluster.Prices()
		*s = *newRunning(s.whole(), &prices)
	}
}

// refuse returns why one change does not fit what there is by its names; nil where it does, or where more than that has to be asked.
func (s *running) refuse(c *Change) *apportion.FieldError {
	if fault := c.check(); fault != nil {
		return fault
	}
	name := func(kind, id, field string, index map[string]int) *apportion.FieldError {
		if _, known := index[id]; known {
			return nil
		}
		return unknownIn(kind, id, field)
	}
	switch {
	case c.Update != nil:
		return name("application", c.Update.ID, "update", s.app)
	case c.End != nil:
		return name("application", *c.End, "end", s.app)
	case c.Lose != nil:
		return name("server", *c.Lose, "lose", s.server)
	case c.Cordon != nil:
		return name("server", *c.Cordon, "cordon", s.server)
	case c.Uncordon != nil:
		return name("server", *c.Uncordon, "uncordon", s.server)
	}
	return nil
}

// decide decides an event by itself. A nil answer without an error says by its reason why it cannot; nothing has changed then.
func (s *running) decide(ctx context.Context, changes []Change) (e *Event, reason string, err error) {
	if s.cluster == nil {
		return nil, s.reason, nil
	}
	c := s.cluster
	c.Begin()
	// Names become known when the event has been decided.
	named := make(map[string]bool)
	var known []func()
	for n := range changes {
		then, reason := s.tell(&changes[n], named)
		if reason != "" {
			c.Rollback()
			return nil, reason, nil
		}
		known = append(known, then)
	}
	r, reason, err := c.Decide(ctx)
	if r == nil {
		return nil, reason, err
	}
	c.Commit()
	s.problem.Settled = nil // another question
	for _, then := range known {
		then()
	}
	return s.event(r), "", nil
}

// tell tells the cluster of a change, and returns what the names are told when it is decided. A reason says why it has to be decided as a
// whole, for one thing since a change of the same name comes before it.
func (s *running) tell(c *Change, named map[string]bool) (known func(), reason string) {
	if fault := s.refuse(c); fault != nil {
		return nil, "a change has to be looked at with those before it"
	}
	if s.concernsReserved(c) {
		return nil, "a change is one of what is reserved"
	}
	once := func(kind, id string) bool {
		key := kind + id
		again := named[key]
		named[key] = true
		return !again
	}
	const more = "several changes concern one name"
	switch {
	case c.Arrive != nil:
		return s.arrive(c.Arrive, once("a", c.Arrive.ID))
	case c.Join != nil:
		return s.join(c.Join, once("s", c.Join.ID))
	case c.Set != nil:
		return s.set(c.Set, once("set", ""))
	case c.Update != nil:
		if !once("a", c.Update.ID) {
			return nil, more
		}
		return s.update(c.Update)
	case c.End != nil:
		if !once("a", *c.End) {
			return nil, more
		}
		i := s.app[*c.End]
		s.cluster.End(i)
		return func() {
			delete(s.app, s.apps[i].ID)
			s.apps[i], s.ended[i] = Application{}, true
		}, ""
	case c.Lose != nil:
		if !once("s", *c.Lose) {
			return nil, more
		}
		j := s.server[*c.Lose]
		s.cluster.Lose(j)
		return func() {
			delete(s.server, s.servers[j].ID)
			s.servers[j], s.lost[j] = apportion.Server{ID: *c.Lose}, true // the plan of this event names it
		}, ""
	case c.Cordon != nil || c.Uncordon != nil:
		id, cordoned := c.Uncordon, c.Cordon != nil
		if cordoned {
			id = c.Cordon
		}
		if !once("s", *id) {
			return nil, more
		}
		j := s.server[*id]
		if s.servers[j].Cordoned != cordoned {
			if cordoned {
				s.cluster.Drain(j)
			} else {
				s.cluster.Open(j)
			}
		}
		return func() { s.servers[j].Cordoned = cordoned }, ""
	}
	return nil, "a change of no known kind"
}

// set tells the cluster of other settings.
func (s *running) set(to *Settings, first bool) (known func(), reason string) {
	next := s.problem
	to.apply(&next)
	var faults apportion.Faults
	checkTheta(&faults, "Theta1", next.Theta1)
	checkTheta(&faults, "Theta2", next.Theta2)
	if !first || len(faults) > 0 {
		return nil, "settings are not right"
	}
	s.cluster.Set(next.rule())
	return func() {
		s.problem.Theta1, s.problem.Theta2, s.problem.Options.Preempt = next.Theta1, next.Theta2, next.Options.Preempt
	}, ""
}

// update tells the cluster of an application that is otherwise.
func (s *running) update(a *Application) (known func(), reason string) {
	i := s.app[a.ID]
	switch reason := a.plain(); {
	case reason != "":
		return nil, reason
	case s.alone(a) != nil:
		return nil, "an application is not right"
	case !s.apps[i].Demand.Equal(a.Demand):
		return nil, "an application needs something else"
	}
	s.cluster.Update(i, a.like(), a.Priority)
	return func() { s.apps[i] = *a }, ""
}

// alone returns what is wrong with an application by itself.
func (s *running) alone(a *Application) error {
	p := Problem{Kinds: s.problem.Kinds, Queues: s.problem.Queues, Applications: []Application{*a}}
	return p.Validate()
}

// arrive tells the cluster of a new application.
func (s *running) arrive(a *Application, first bool) (known func(), reason string) {
	if reason := a.plain(); reason != "" {
		return nil, reason
	}
	if _, there := s.app[a.ID]; there || !first || s.alone(a) != nil {
		return nil, "a newcomer is not right"
	}
	at := s.cluster.Arrive(a.like(), a.Priority)
	return func() {
		s.app[a.ID] = at
		s.apps = append(s.apps, *a)
	}, ""
}

// join tells the cluster of a new server.
func (s *running) join(n *apportion.Server, first bool) (known func(), reason string) {
	_, there := s.server[n.ID]
	alone := Problem{Kinds: s.problem.Kinds, Servers: []apportion.Server{*n}}
	if there || !first || alone.plain() != "" || alone.Validate() != nil {
		return nil, "a new server is not right"
	}
	at := s.cluster.AddServer(n.Capacity, n.Cordoned)
	return func() {
		s.server[n.ID] = at
		s.servers = append(s.servers, *n)
	}, ""
}

// event returns what a result of the cluster is by names.
func (s *running) event(r *event.Result) *Event {
	e := &Event{Allocation: make(Allocation, len(r.Changed)), Objective: r.Objective, Bound: r.Bound, Gap: r.Gap, Utilization: r.Utilization, FairnessLoss: r.Loss,
		LossBudget: r.LossBudget, Adjusted: r.Adjusted, Forced: r.Forced, AdjustCost: r.AdjustCost, AdjustBudget: r.AdjustBudget, ExtraServers: r.ExtraServers}
	changed := Problem{Previous: make(Allocation, len(r.Changed))}
	for at, i := range r.Changed {
		id := s.apps[i].ID
		changed.Applications = append(changed.Applications, s.apps[i])
		changed.Previous[id], e.Allocation[id] = s.named(r.Before[at]), s.named(s.cluster.Placed(i))
	}
	e.Plan = NewPlan(&changed, e.Allocation).Steps
	for at := range r.Refused {
		f := &r.Refused[at]
		passed, _ := s.cluster.Waits(f.App)
		e.Waiting = append(e.Waiting, Waiting{ID: s.apps[f.App].ID, Reason: s.reasonFor(f), LeftOut: true, Passed: passed})
	}
	return e
}

// named returns placements by the names of servers.
func (s *running) named(placed []apportion.Placement) map[string]int64 {
	places := make(map[string]int64, len(placed))
	for _, p := range placed {
		places[s.servers[p.Server].ID] = p.Count
	}
	return places
}

// whole returns the problem that the next decision begins from.
func (s *running) whole() *Problem {
	p := s.problem
	if p.Servers = nil; len(s.servers) > 0 {
		p.Servers = make([]apportion.Server, 0, len(s.servers))
	}
	p.Applications = make([]Application, 0, len(s.apps))
	for j := range s.servers {
		if !s.lost[j] {
			p.Servers = append(p.Servers, s.servers[j])
		}
	}
	if p.Previous = s.problem.Previous.Clone(); s.cluster != nil {
		p.Previous = make(Allocation, len(s.apps))
	}
	if s.cluster != nil {
		p.Reservations = s.reservations()
	}
	for i := range s.apps {
		if s.ended[i] {
			continue
		}
		p.Applications = append(p.Applications, s.apps[i])
		if s.cluster == nil {
			continue
		}
		passed, waits := s.cluster.Waits(i)
		if p.Applications[len(p.Applications)-1].Passed = passed; !waits {
			p.Previous[s.apps[i].ID] = s.named(s.cluster.Placed(i))
		}
	}
	return &p
}
