// This file counts what queues have below their ceilings, (G) of [Program §2].

package event

import (
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
)

// ceiling is that of one queue.
type ceiling struct {
	queue int // position in Rule.Queues
	limit apportion.Resources
	used  apportion.Resources // by all below it
	price []float64           // by kind, of all there is of it in the cluster
}

// newCeilings returns those of valid queues that limit anything, and by queue which of them are above its applications, the lowest first.
func newCeilings(queues []drf.Queue, kinds int) (list []ceiling, above map[string][]int) {
	of, parents := make(map[string]int), make(map[string]string)
	for q := range queues {
		parents[queues[q].ID] = queues[q].Parent
		if slices.ContainsFunc(queues[q].Ceiling, func(limit int64) bool { return limit < drf.NoLimit }) {
			of[queues[q].ID] = len(list)
			list = append(list, ceiling{queue: q, limit: apportion.Resources(queues[q].Ceiling), used: make(apportion.Resources, kinds), price: make([]float64, kinds)})
		}
	}
	above = make(map[string][]int)
	for q := range queues {
		for id := queues[q].ID; id != ""; id = parents[id] {
			if at, limited := of[id]; limited {
				above[queues[q].ID] = append(above[queues[q].ID], at)
			}
		}
	}
	return list, above
}

// newGroup returns the group of those that are equal to given, without members.
func (c *Cluster) newGroup(given App) *group {
	return &group{key: given.key(), given: given, above: c.above[given.Queue]}
}

// use counts n containers more of a member of g below the ceilings.
func (c *Cluster) use(g *group, n int64) {
	for _, at := range g.above {
		for k, d := range g.given.Demand {
			c.ceilings[at].used[k] += n * d
		}
	}
}

// below returns how many containers of a member of g there is room for below all ceilings, where left says what is left of each.
func (c *Cluster) below(g *group, left func(at, k int) int64) int64 {
	most := int64(math.MaxInt64)
	for _, at := range g.above {
		for k, d := range g.given.Demand {
			if d > 0 && c.ceilings[at].limit[k] < drf.NoLimit {
				most = min(most, max(0, left(at, k))/d)
			}
		}
	}
	return most
}

// left returns what is left of kind k below a ceiling.
func (c *Cluster) left(at, k int) int64 { return c.ceilings[at].limit[k] - c.ceilings[at].used[k] }

// allowed returns how many containers more of a member of g the ceilings allow.
func (c *Cluster) allowed(g *group) int64 { return c.below(g, c.left) }

// allowedInPlace is allowed for a grower when so many of a victim have left.
func (c *Cluster) allowedInPlace(grower, victim int, fewer int64) int64 {
	v := c.apps[victim].group
	return c.below(c.apps[grower].group, func(at, k int) int64 {
		if slices.Contains(v.above, at) {
			return c.left(at, k) + fewer*v.given.Demand[k]
		}
		return c.left(at, k)
	})
}

// shareFull reports whether members of g and of are below one ceiling that leaves too little for the fewest containers of g.
func (c *Cluster) shareFull(g, of *group) bool {
	return c.below(g, func(at, k int) int64 {
		if slices.Contains(of.above, at) {
			return c.left(at, k)
		}
		return math.MaxInt64
	}) < g.least()
}

// exceeded reports whether a queue has more than its ceiling.
func (c *Cluster) exceeded() bool {
	return slices.ContainsFunc(c.ceilings, func(of ceiling) bool {
		for k, limit := range of.limit {
			if of.used[k] > limit {
				return true
			}
		}
		return false
	})
}

// limitsOf returns (G) for what has changed, beside all others: apps are the positions in the instance of those that it has.
func (m *repairing) limitsOf(apps []int) []solver.Group {
	groups := make([]solver.Group, len(m.ceilings))
	for at := range groups {
		groups[at].Ceiling = m.ceilings[at].limit.Clone()
		for k, limit := range groups[at].Ceiling {
			if limit < drf.NoLimit {
				groups[at].Ceiling[k] -= m.ceilings[at].used[k]
			}
		}
	}
	for a, i := range apps {
		g := m.apps[i].group
		for _, at := range g.above {
			groups[at].Apps = append(groups[at].Apps, a)
			for k, d := range g.given.Demand {
				if m.ceilings[at].limit[k] < drf.NoLimit {
					groups[at].Ceiling[k] += m.apps[i].n * d
				}
			}
		}
	}
	return groups
}
