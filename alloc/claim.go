// This file says in words what is reserved, for whom and until when, and checks what a caller hands back of it, [Program §8].

package alloc

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/check"
)

// checkPatience adds what is wrong with the options of reservations, and with those that are handed back.
func (p *Problem) checkPatience(faults *apportion.Faults) {
	checkDuration(faults, p.Options.Patience, apportion.Item{}, "Options.Patience")
	checkDuration(faults, p.Options.RestartCost, apportion.Item{}, "Options.RestartCost")
	checkDuration(faults, &p.Options.MinGain, apportion.Item{}, "Options.MinGain")
	if p.Options.Moves < 0 {
		faults.Add(apportion.Item{}, "Options.Moves", apportion.ErrNegative, strconv.FormatInt(p.Options.Moves, 10))
	}
	checkDuration(faults, &p.Options.MinRun, apportion.Item{}, "Options.MinRun")
	if n := p.Options.Reservations; n != nil && *n < 0 {
		faults.Add(apportion.Item{}, "Options.Reservations", apportion.ErrNegative, strconv.FormatInt(*n, 10))
	}
	seen := make(map[string]bool, len(p.Reservations))
	for at := range p.Reservations {
		v := &p.Reservations[at]
		item := check.Item("reservation", v.ID, at)
		check.ID(faults, seen, v.ID, item)
		checkDuration(faults, v.At, item, "At")
		for _, server := range slices.Sorted(maps.Keys(v.Servers)) {
			if n := v.Servers[server]; n < 0 {
				faults.Add(item, "Servers["+server+"]", apportion.ErrNegative, strconv.FormatInt(n, 10))
			}
		}
	}
}

// checkDuration adds an amount or a time that is negative or not finite; nil is right.
func checkDuration(faults *apportion.Faults, x *float64, item apportion.Item, field string) {
	switch {
	case x == nil:
	case math.IsNaN(*x) || math.IsInf(*x, 0):
		faults.Add(item, field, apportion.ErrNotFinite, formatFloat(*x))
	case *x < 0:
		faults.Add(item, field, apportion.ErrNegative, formatFloat(*x))
	}
}

// namesUnknown reports whether a reservation names an application or a server that is not here.
func (p *Problem) namesUnknown() bool {
	apps, servers := appIndex(p.Applications), serverIndex(p.Servers)
	return slices.ContainsFunc(p.Reservations, func(v Reservation) bool {
		_, known := apps[v.ID]
		for server := range v.Servers {
			_, here := servers[server]
			known = known && here
		}
		return !known
	})
}

// until says until when something is reserved, with a sentence on what ends then where nobody knows when that is.
func (v *Reservation) until() (when string, more string) {
	switch {
	case v.At == nil && len(v.For) > 0:
		return "", fmt.Sprintf("nobody knows when %s will have ended, which it is kept for", listIDs(v.For))
	case v.At == nil || *v.At == 0:
		return " for its start", ""
	}
	return fmt.Sprintf(" until %.6g", *v.At), ""
}

// forText says what is reserved for whom, and until when, in a sentence for each.
func forText(list []Reservation) (text []string) {
	for at := range list {
		when, more := list[at].until()
		room := "the room is"
		if at > 0 {
			room = "some is"
		} else {
			room = "it may not be placed: " + room
		}
		text = append(text, room+" reserved for "+listIDs([]string{list[at].ID})+when, more)
	}
	return text
}

// claimText says what is reserved for application o, and whom it waits for there, or that it is due; nothing where it is neither.
func (r *resolved) claimText(o int, list []Reservation) []string {
	at := slices.IndexFunc(list, func(v Reservation) bool { return v.ID == r.given.Applications[o].ID })
	if at < 0 {
		if _, due := r.overdue(r.entries[o][0]); due {
			return []string{fmt.Sprintf("it is due, since %.4g of the cluster was let in past it, and nothing is reserved for it", r.handed(o))}
		}
		return nil
	}
	v := &list[at]
	text := "its fewest containers are kept free below the ceilings of its queues"
	if len(v.Servers) > 0 {
		var servers []string
		var n int64
		for _, id := range slices.Sorted(maps.Keys(v.Servers)) {
			servers, n = append(servers, id), n+v.Servers[id]
		}
		text = fmt.Sprintf("%s reserved for it on %s", areContainers(n), listIDs(servers))
	}
	if len(v.For) == 0 {
		return []string{text}
	}
	when, more := v.until()
	if v.At != nil {
		more = "it waits for the end of " + listIDs(v.For)
	}
	return []string{text + when, more}
}

// brokenText says to which application what was reserved for another one went.
func brokenText(id string) string {
	return fmt.Sprintf("what was reserved for it was open to %s, which stays within its guarantee", listIDs([]string{id}))
}

// breaks adds to a reason that what was reserved for it went to an application.
func breaks(reason apportion.Reason, id string) apportion.Reason {
	reason.Blockers = append(slices.Clone(reason.Blockers), apportion.Blocker{Cause: ByBroken, Applications: []string{id}})
	reason.Text = sentences(reason.Text, brokenText(id))
	return reason
}

// areContainers writes a number of containers as a subject.
func areContainers(n int64) string {
	if n == 1 {
		return "1 container is"
	}
	return containers(n) + " are"
}

// reservedReason says that application i would have room but for what is reserved; the reason has no Constraint if that is not so.
func (d *draft) reservedReason(i int) apportion.Reason {
	n := d.least(i)
	if len(d.reserved) == 0 || n <= 0 {
		return apportion.Reason{}
	}
	var list []Reservation
	for _, v := range d.reserved {
		if d.respects(v, i) {
			list = append(list, d.r.reservation(v))
		}
	}
	if len(list) == 0 {
		return apportion.Reason{}
	}
	before := d.lifted
	d.lifted = d.reserved
	fits := d.place(i, n)
	d.lifted = before
	if !fits {
		return apportion.Reason{}
	}
	d.remove(i)
	return reservedReason(list, n)
}

// reservedReason is that of one that may not be placed where there is room for n containers of it.
func reservedReason(list []Reservation, n int64) apportion.Reason {
	reason := apportion.Reason{Constraint: solver.Capacity, Need: float64(n),
		Text: sentences(forText(list)...)}
	for at := range list {
		reason.Applications = append(reason.Applications, list[at].ID)
	}
	return reason
}

// hasHeld reports whether application a would have room for n more containers on what is reserved for others.
func (s *stopper) hasHeld(a int, n int64) bool {
	if s.held == nil {
		return false
	}
	all, inst := *s, *s.instance
	all.held, all.left = nil, slices.Clone(s.left)
	inst.Capacity = slices.Clone(inst.Capacity)
	for j, held := range s.held {
		if held != nil {
			all.left[j], inst.Capacity[j] = all.left[j].Clone(), inst.Capacity[j].Clone()
			for k, q := range held {
				all.left[j][k] += q
				inst.Capacity[j][k] += q
			}
		}
	}
	all.instance = &inst
	all.shapes, all.shapeOf = shapesOf(len(all.left), all.likeness)
	return all.room(a).most >= n
}

// waiting lists the applications that room is reserved for.
func (s *stopper) waiting() []string {
	ids := make([]string, len(s.holders))
	for at := range s.holders {
		ids[at] = s.holders[at].ID
	}
	return ids
}
