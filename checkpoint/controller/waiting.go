// This file implements how elastic jobs make way for work of others that waits: it is decided on as applications that this
// controller never starts, and what elastic jobs leave free on each server for more of it.

package controller

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// Waiting is work of others that waits for room and for nothing else, as its manager says.
type Waiting struct {
	// ID names it among what waits.
	ID string `json:"id"`
	// Demand is what each of its Count parts takes, all of which begin together; 0: there is one part.
	Demand apportion.Resources `json:"demand"`
	Count  int64               `json:"count,omitzero"`
	// PerServer is how many parts may be on one server; 0: any number. Requires is what the labels of their servers must satisfy.
	PerServer int64                   `json:"per_server,omitzero"`
	Requires  []apportion.Requirement `json:"requires,omitzero"`
}

// prepare readies a view for a decision: headroom is taken off what elastic jobs may have of each server, work that waits is left out
// where none counts, and jobs that cannot be decided on are rejected.
func (c *Config) prepare(view *View, now time.Time) {
	if c.Hold < 0 {
		view.Waiting = nil
	}
	reserve := c.headroom(now)
	whole, kept := make(apportion.Resources, len(reserve)), make(apportion.Resources, len(reserve))
	for i := range view.Servers {
		capacity := view.Servers[i].Capacity.Clone()
		for k := range min(len(reserve), len(capacity)) {
			part := int64(math.Ceil(reserve[k].Part * float64(capacity[k])))
			whole[k] = max(whole[k], capacity[k])
			capacity[k] = max(0, capacity[k]-max(reserve[k].Amount, part))
			kept[k] = max(kept[k], capacity[k])
		}
		view.Servers[i].Capacity = capacity
	}
	// What waits may have the headroom as well: what needs some of that asks elastic jobs for all that they may have of a server.
	for i := range view.Waiting {
		demand := view.Waiting[i].Demand.Clone()
		for k := range min(len(reserve), len(demand)) {
			if demand[k] <= whole[k] {
				demand[k] = min(demand[k], kept[k])
			}
		}
		view.Waiting[i].Demand = demand
	}
	sift(view, &c.Problem)
}

// waits remembers what waits from one look to the next. Its methods are told the time.
type waits struct {
	// capacity is what each server had at the look before.
	capacity map[string]apportion.Resources
	known    map[string]*wait
}

// wait is what is known of work that waits.
type wait struct {
	Waiting
	// missed: the newest look did not have it. roomSince is since when decisions have room for it; zero: they have none.
	missed    bool
	roomSince time.Time
}

// count replaces what waits in a view by what of it counts. What the view has for the first time does not: most of what
// comes begins at once, and nobody is to be moved for that. What the look before had and this one has not has begun if a
// server has less by its demand; else it counts once more, for the lists of a manager are not of one moment. What had room
// in all decisions for as long as hold waits for something else: it does not count any more until it was gone. room says
// whether the newest decision has room for it.
func (w *waits) count(view *View, room func(id string) bool, hold time.Duration, now time.Time) {
	listed := map[string]bool{}
	var counted []Waiting
	for _, one := range view.Waiting {
		if listed[one.ID] {
			continue // the first of a name counts
		}
		listed[one.ID] = true
		known := w.known[one.ID]
		if known == nil {
			if w.known == nil {
				w.known = map[string]*wait{}
			}
			w.known[one.ID] = &wait{Waiting: one}
			continue
		}
		known.Waiting, known.missed = one, false
		if known.hasRoom(room(one.ID), hold, now) {
			counted = append(counted, one)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.known)) {
		switch known := w.known[id]; {
		case listed[id]:
		case known.missed || w.begun(view, known.Demand):
			delete(w.known, id)
		default:
			known.missed = true
			if known.hasRoom(room(id), hold, now) {
				counted = append(counted, known.Waiting)
			}
		}
	}
	view.Waiting = counted
	w.capacity = make(map[string]apportion.Resources, len(view.Servers))
	for i := range view.Servers {
		w.capacity[view.Servers[i].ID] = view.Servers[i].Capacity
	}
}

// hasRoom notes whether there is room, and reports whether it may wait on: not if it had room for too long. What is over is never
// reset but by its end: roomSince stays.
func (w *wait) hasRoom(room bool, hold time.Duration, now time.Time) (counts bool) {
	over := !w.roomSince.IsZero() && now.Sub(w.roomSince) >= hold
	switch {
	case over:
	case !room:
		w.roomSince = time.Time{}
	case w.roomSince.IsZero():
		w.roomSince = now
	}
	return !over
}

// begun reports whether a server has less than at the look before by a demand.
func (w *waits) begun(view *View, demand apportion.Resources) bool {
	return slices.ContainsFunc(view.Servers, func(s Server) bool {
		before := w.capacity[s.ID]
		for k := range demand {
			if k >= len(before) || k >= len(s.Capacity) || before[k]-s.Capacity[k] < demand[k] {
				return false
			}
		}
		return true
	})
}

func waitingID(id string) string { return "waiting: " + id }

// hasRoom reports whether a decision has room for what waits.
func (t *Taken) hasRoom(id string) bool {
	return t.Decision != nil && t.Decision.Allocation.Containers(waitingID(id)) > 0
}

// mostWaiting is on how much of what waits is decided at once: what is behind it waits for it.
const mostWaiting = 100

// outside are the applications of what waits, for a problem that has all others. Their names are none of these, and their priority
// is the highest, or the given one. What no decision could be taken on is left out, and so is what the whole cluster would not hold
// beside what waits before it.
func outside(view *View, like *alloc.Problem, standing *int64) []alloc.Application {
	priority, taken, room := int64(math.MinInt64), map[string]bool{}, make(apportion.Resources, len(like.Kinds))
	for i := range like.Applications {
		priority = max(priority, like.Applications[i].Priority)
		taken[like.Applications[i].ID] = true
	}
	if priority = min(priority, math.MaxInt64-1) + 1; standing != nil {
		priority = *standing
	}
	for i := range view.Servers {
		for k := range min(len(room), len(view.Servers[i].Capacity)) {
			room[k] += view.Servers[i].Capacity[k]
		}
	}
	var apps []alloc.Application
	for _, one := range view.Waiting {
		n := max(one.Count, 1)
		app := alloc.Application{ID: waitingID(one.ID), Weight: 1, Priority: priority, PerServer: one.PerServer,
			Form: alloc.Form{Demand: one.Demand, Requires: one.Requires, Min: n, Max: n}}
		// A user may have given a job this name.
		for taken[app.ID] {
			app.ID += "'"
		}
		alone := alloc.Problem{Kinds: like.Kinds, Applications: []alloc.Application{app}, Servers: []apportion.Server{{ID: "any", Capacity: make(apportion.Resources, len(like.Kinds))}}}
		if alone.Validate() != nil || !fits(&app, room) {
			continue
		}
		taken[app.ID] = true
		for k := range room {
			room[k] -= n * app.Demand[k]
		}
		if apps = append(apps, app); len(apps) == mostWaiting {
			break
		}
	}
	return apps
}

// decideBeside takes a decision on a problem whose last applications are work of others. Where that has no room the decision is taken
// once more with every job free to move that the problem free does not pin, one that was moved a moment ago as well, and those that may
// be suspended free to be; restarts cost what they did. It returns the problem that was decided on as well.
func decideBeside(ctx context.Context, decide Decide, p, free *alloc.Problem, others int) (*alloc.Problem, *alloc.Decision, error) {
	decision, err := decide(ctx, p)
	refused := func(d *alloc.Decision) (n int) {
		for _, app := range p.Applications[len(p.Applications)-others:] {
			if d.Allocation.Containers(app.ID) == 0 {
				n++
			}
		}
		return n
	}
	if err != nil || refused(decision) == 0 {
		return p, decision, err
	}
	wide := *p
	wide.Theta2, wide.Options.Preempt = 1, true
	wide.Applications = slices.Clone(p.Applications)
	for i := range wide.Applications {
		wide.Applications[i].Pinned = free.Applications[i].Pinned
	}
	again, err := decide(ctx, &wide)
	if err != nil || refused(again) >= refused(decision) {
		return p, decision, err
	}
	return &wide, again, nil
}

// fits reports whether all parts of an application fit into one room.
func fits(app *alloc.Application, room apportion.Resources) bool {
	for k, demand := range app.Demand {
		if demand > 0 && app.Min > room[k]/demand {
			return false
		}
	}
	return true
}
