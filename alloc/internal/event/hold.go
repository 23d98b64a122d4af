// This file keeps room for an application that is due, as the last whole decision has chosen it, [Program §8], points 2 to 4.

package event

import (
	"slices"

	"github.com/apportion/apportion"
)

// hold is what is kept for an application that waits: containers on servers, as those end that are waited for.
type hold struct {
	app     int
	demand  apportion.Resources
	servers []apportion.Placement
	waits   map[int]bool
}

// Hold keeps room for application i, which waits, on servers where nothing else is kept, for the end of those in waits. It reports
// whether what others have not is enough: else the cluster is no longer of use.
func (c *Cluster) Hold(i int, servers []apportion.Placement, waits []int) bool {
	h := &hold{app: i, demand: c.apps[i].line.group.given.Demand, servers: servers, waits: make(map[int]bool)}
	for _, w := range waits {
		h.waits[w] = true
	}
	c.keep(h, true)
	return c.Fits()
}

// Holds reports whether room is kept for application i.
func (c *Cluster) Holds(i int) bool {
	return slices.ContainsFunc(c.holds, func(h *hold) bool { return h.app == i })
}

// Held reports whether anything is kept on server j.
func (c *Cluster) Held(j int) bool { return c.servers[j].hold != nil }

// waitedFor reports whether anything is kept for the end of application i, which stays as it is.
func (c *Cluster) waitedFor(i int) bool {
	return slices.ContainsFunc(c.holds, func(h *hold) bool { return h.waits[i] })
}

// keep begins to keep what h says, or ends it.
func (c *Cluster) keep(h *hold, begins bool) {
	c.turn(h, begins)
	c.undo = append(c.undo, func() { c.turn(h, !begins) })
}

// turn is keep without a way back.
func (c *Cluster) turn(h *hold, begins bool) {
	if begins {
		c.holds = append(c.holds, h)
	} else {
		c.holds = slices.DeleteFunc(c.holds, func(o *hold) bool { return o == h })
	}
	for _, p := range h.servers {
		if c.servers[p.Server].hold = nil; begins {
			c.servers[p.Server].hold = h
		}
		c.setKept(p.Server)
		c.regroup(p.Server)
	}
}

// setKept takes off what is left on server j what is kept there now: what is held, less what those have there that are waited for.
func (c *Cluster) setKept(j int) {
	s := &c.servers[j]
	for k, q := range s.kept {
		s.left[k] += q
	}
	if s.kept = nil; s.hold == nil {
		return
	}
	s.kept = make(apportion.Resources, c.kinds)
	at := slices.IndexFunc(s.hold.servers, func(p apportion.Placement) bool { return p.Server == j })
	for k, d := range s.hold.demand {
		s.kept[k] = d * s.hold.servers[at].Count
	}
	for _, i := range s.residents {
		if s.hold.waits[int(i)] {
			n := c.on(int(i), j)
			for k, d := range c.apps[i].group.given.Demand {
				s.kept[k] = max(0, s.kept[k]-n*d)
			}
		}
	}
	for k, q := range s.kept {
		s.left[k] -= q
	}
}

// letInHeld lets in an application for which room is kept, there or elsewhere, if it can be had.
func (m *repairing) letInHeld(h *hold) bool {
	return m.try(func() bool {
		m.keep(h, false)
		return m.letIn(h.app)
	})
}
