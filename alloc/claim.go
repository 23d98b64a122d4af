// This file says in words what is reserved, for whom and until when, and checks what a caller hands back of it, [Program §8].

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
	"github.com/apportion/apportion/internal/check"
)

// checkPatience adds what is wrong with the options of reservations, and with those that are handed back.
func (p *Problem) checkPatience(faults *apportion.Faults) {
	checkDuration(faults, p.Options.Patience, apportion.Item{}, "Options.Patience")
	checkDuration(faults, p.Options.RestartCost, apportion.Item{}, "Options.RestartCost")
	checkDuration(faults, &p.Options.MinGain, apportion.Item{}, "Options.MinGain")
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

// until says until when something is reserved.
func (v *Reservation) until() string {
	switch {
	case v.At == nil && len(v.For) > 0:
		return "until the end of " + listIDs(v.For) + ", nobody knows when"
	case v.At == nil || *v.At == 0:
		return "for its start"
	}
	return fmt.Sprintf("until %.6g", *v.At)
}

// forText names the applications that these reservations are for, and until when.
func forText(list []Reservation) string {
	parts := make([]string, len(list))
	for at := range list {
		parts[at] = listIDs([]string{list[at].ID}) + " " + list[at].until()
	}
	return strings.Join(parts, ", and for ")
}

// claimText says what is reserved for application o, and whom it waits for there, or that it is due; empty where it is neither.
func (r *resolved) claimText(o int, list []Reservation) string {
	at := slices.IndexFunc(list, func(v Reservation) bool { return v.ID == r.given.Applications[o].ID })
	if at < 0 {
		if _, due := r.overdue(r.entries[o][0]); due {
			return fmt.Sprintf("; it is due, since %.4g of the cluster was let in past it, and nothing is reserved for it", r.handed(o))
		}
		return ""
	}
	v := &list[at]
	text := "; its fewest containers are kept free below the ceilings of its queues"
	if len(v.Servers) > 0 {
		var servers []string
		var n int64
		for _, id := range slices.Sorted(maps.Keys(v.Servers)) {
			servers, n = append(servers, id), n+v.Servers[id]
		}
		text = fmt.Sprintf("; %s reserved for it on %s", areContainers(n), listIDs(servers))
	}
	if len(v.For) > 0 {
		text += " " + v.until()
		if v.At != nil {
			text += ", the end of " + listIDs(v.For)
		}
	}
	return text
}

// brokenText says to whom what was reserved for application o went; empty where it was not so.
func (a *admission) brokenText(o int) string {
	i, broken := a.broken[o]
	if !broken {
		return ""
	}
	return fmt.Sprintf("; what was reserved for it was open to %s, which stays within its guarantee", listIDs([]string{a.r.problem.Applications[i].ID}))
}

// areContainers writes a number of containers as a subject.
func areContainers(n int64) string {
	if n == 1 {
		return "1 container is"
	}
	return containers(n) + " are"
}

// reservedReason says that application i would have room but for what is reserved; the reason has no Constraint if that is not so.
func (a *admission) reservedReason(i int) apportion.Reason {
	n := a.least(i)
	if len(a.reserved) == 0 || n <= 0 {
		return apportion.Reason{}
	}
	var list []Reservation
	for _, v := range a.reserved {
		if a.respects(v, i) {
			list = append(list, a.r.reservation(v))
		}
	}
	before := a.lifted
	a.lifted = a.reserved
	fits := a.place(i, n)
	a.lifted = before
	if !fits {
		return apportion.Reason{}
	}
	a.remove(i)
	return reservedReason(list, n)
}

// reservedReason is that of one that may not be placed where there is room for n containers of it.
func reservedReason(list []Reservation, n int64) apportion.Reason {
	reason := apportion.Reason{Constraint: solver.Capacity, Need: float64(n),
		Text: "it may not be placed: the room is reserved for " + forText(list)}
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
