// This file puts containers where there is room, by best fit, [Program §3].

package event

import (
	"math"

	"github.com/apportion/apportion"
)

// fitting returns how many more containers of a group there is room for, at most so many.
func (c *Cluster) fitting(g *group, most int64) int64 {
	return min(c.onServers(g, most), c.allowed(g))
}

// onServers is fitting whatever the ceilings allow.
func (c *Cluster) onServers(g *group, most int64) (n int64) {
	for _, at := range c.remain.Live() {
		if n += int64(c.remain.Count(at)) * g.most(c.servers[c.remain.Next(at, 0)].left); n >= most {
			return most
		}
	}
	return n
}

// grow gives application i up to n more containers, on the fewest servers that best fit finds, and returns how many it found room for.
// O(servers used x groups of remainders x kinds).
func (c *Cluster) grow(i int, n int64) (placed int64) {
	n = min(n, c.allowed(c.apps[i].group))
	for placed < n {
		j, count := c.bestServer(c.apps[i].group, n-placed)
		if j < 0 {
			break
		}
		c.Put(i, j, count)
		placed += count
	}
	return placed
}

// bestServer returns the server that takes the most of need containers of a member of g; of equals the one that has least left then, of
// equals the first.
func (c *Cluster) bestServer(g *group, need int64) (server int, count int64) {
	server, least := -1, math.Inf(1)
	for _, at := range c.remain.Live() {
		j := c.remain.Next(at, 0)
		n := min(need, g.most(c.servers[j].left))
		if n == 0 || n < count {
			continue
		}
		if rest := c.rest(g, c.servers[j].left, n); n > count || rest < least || rest == least && j < server {
			server, count, least = j, n, rest
		}
	}
	return server, count
}

// rest returns what a server would have left beside n containers of g, each kind as a part of the whole cluster.
func (c *Cluster) rest(g *group, left apportion.Resources, n int64) (rest float64) {
	for k, d := range g.given.Demand {
		if total := c.ev.total[k]; total > 0 {
			rest += float64(left[k]-n*d) / float64(total)
		}
	}
	return rest
}
