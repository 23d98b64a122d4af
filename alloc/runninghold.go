// This file tells an event what the last decision has reserved, [Program §8], points 2 to 4.

package alloc

import (
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/event"
	"github.com/apportion/apportion/alloc/solver"
)

// hold keeps in c what is reserved. It returns a reason where more than that is for a decision to say.
func (s *running) hold(c *event.Cluster) string {
	const elsewhere = "something is reserved that a decision could bring nearer"
	for v := range s.problem.Reservations {
		named := &s.problem.Reservations[v]
		i, known := s.app[named.ID]
		servers, displaced := placements(named.Servers, s.server)
		if !known || displaced || len(servers) == 0 || slices.ContainsFunc(servers, func(p apportion.Placement) bool { return c.Held(p.Server) || s.servers[p.Server].Cordoned }) {
			return elsewhere
		}
		var waits []int
		for _, id := range named.For {
			w, known := s.app[id]
			// What has more than its fewest would be taken from.
			if known && solver.Containers(c.Placed(w)) > max(1, s.apps[w].Min) {
				return elsewhere
			}
			if known {
				waits = append(waits, w)
			}
		}
		if _, waiting := c.Waits(i); !waiting || !c.Hold(i, servers, waits) {
			return elsewhere
		}
	}
	if len(s.problem.Reservations) > 0 && slices.ContainsFunc(s.apps, func(a Application) bool { return a.Ends != nil }) {
		return "something is reserved, and some applications may end before it is needed"
	}
	return ""
}

// reservations returns what is reserved still.
func (s *running) reservations() (list []Reservation) {
	for _, v := range s.problem.Reservations {
		if i, known := s.app[v.ID]; known && s.cluster.Holds(i) {
			v.For = slices.DeleteFunc(slices.Clone(v.For), func(id string) bool { _, known := s.app[id]; return !known })
			list = append(list, v)
		}
	}
	return list
}

// concernsReserved reports whether a change is one of what is reserved, of a server or for an application.
func (s *running) concernsReserved(c *Change) bool {
	for _, id := range [...]*string{c.Lose, c.Cordon} {
		if id != nil && s.cluster.Held(s.server[*id]) {
			return true
		}
	}
	switch {
	case len(s.problem.Reservations) == 0:
	case c.End != nil:
		return s.cluster.Holds(s.app[*c.End])
	case c.Update != nil:
		return true
	case c.Arrive != nil:
		return c.Arrive.Ends != nil
	}
	return false
}
