// This file holds the applications that wait, in the order in which they are asked, [Program §7], point 1.

package event

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion/drf"
)

// line is the applications that wait and are equal but for their priorities, in the order in which they are asked.
type line struct {
	key   string
	group *group // what they would be members of
	apps  []int32
}

func (l *line) name() string { return l.key }

// AddWaiting adds an application that waits, past which so much was let in, and returns its position. Slices are shared and only read.
func (c *Cluster) AddWaiting(given App, priority int64, passed float64) int {
	i := len(c.apps)
	c.apps = append(c.apps, app{priority: priority, passed: passed})
	c.undo = append(c.undo, func() { c.apps = c.apps[:i] })
	c.await(i, &given)
	return i
}

// Waits reports whether application i waits, and how much was let in past it.
func (c *Cluster) Waits(i int) (passed float64, waits bool) {
	return c.apps[i].passed, c.apps[i].line != nil
}

// await puts application i into the line of those that are equal to given, or takes it out of its line where that is nil.
func (c *Cluster) await(i int, given *App) {
	if given == nil {
		was := c.apps[i].line
		c.unqueue(i)
		c.undo = append(c.undo, func() { c.queue(i, was) })
		return
	}
	g := c.newGroup(*given)
	c.queue(i, &line{key: g.key, group: g})
	c.undo = append(c.undo, func() { c.unqueue(i) })
}

// queue is await without a way back: where its line is not there it becomes the one given.
func (c *Cluster) queue(i int, l *line) {
	at, known := find(c.lines, l.key, (*line).name)
	if !known {
		l.apps = nil
		c.lines = slices.Insert(c.lines, at, l)
	}
	l = c.lines[at]
	where, _ := l.place(c, i)
	l.apps = slices.Insert(l.apps, where, int32(i))
	c.apps[i].line = l
}

// unqueue is the contrary of queue.
func (c *Cluster) unqueue(i int) {
	l := c.apps[i].line
	where, _ := l.place(c, i)
	if l.apps = slices.Delete(l.apps, where, where+1); len(l.apps) == 0 {
		at, _ := find(c.lines, l.key, (*line).name)
		c.lines = slices.Delete(c.lines, at, at+1)
	}
	c.apps[i].line = nil
}

// place returns where application i stands in a line, or would.
func (l *line) place(c *Cluster, i int) (at int, there bool) {
	return slices.BinarySearchFunc(l.apps, i, func(w int32, i int) int { return c.compare(int(w), i) })
}

// setPassed notes how much was let in past application i.
func (c *Cluster) setPassed(i int, passed float64) {
	was := c.apps[i].passed
	c.apps[i].passed = passed
	c.undo = append(c.undo, func() { c.apps[i].passed = was })
}

// compare orders two applications: the higher priority, then the earlier submission first.
func (c *Cluster) compare(i, v int) int {
	return cmp.Or(cmp.Compare(c.apps[v].priority, c.apps[i].priority), cmp.Compare(i, v))
}

// anyDue reports whether so much was let in past an application that waits that it is due, [Program §8], point 1. O(those that wait).
func (c *Cluster) anyDue() bool {
	for _, l := range c.lines {
		if !l.group.fits() {
			continue
		}
		patience := c.rule.Patience * min(c.rule.Widest, l.group.app.Delta*float64(l.group.least()))
		for _, i := range l.apps {
			if passed := c.apps[i].passed; passed > 0 && passed >= patience && !c.Holds(int(i)) {
				return true
			}
		}
	}
	return false
}

// Refused is an application that waits since this event, and what it lacks.
type Refused struct {
	App int
	// Asked is its fewest containers, Fits how many of these have room.
	Asked, Fits int64
	// Kind is one of which there is too little, Need and Free of it: below the ceiling of Queue, a position in Rule.Queues, else, -1, on all
	// servers together. A Kind of -1: none is known.
	Kind, Queue int
	Need, Free  int64
}

// refusal says what an application that waits lacks.
func (m *repairing) refusal(i int) Refused {
	g := m.apps[i].line.group
	n := g.app.AtLeast(1)
	r := Refused{App: i, Asked: n, Fits: m.fitting(g, n), Kind: -1, Queue: -1}
	for _, at := range g.above {
		for k, d := range g.given.Demand {
			if left := max(0, m.left(at, k)); d > 0 && m.ceilings[at].limit[k] < drf.NoLimit && left/d < n {
				r.Kind, r.Queue, r.Need, r.Free = k, m.ceilings[at].queue, n*d, left
				return r
			}
		}
	}
	free, worst := m.free(), 0.0
	for k, d := range g.given.Demand {
		if need := n * d; need > free[k] {
			if short := float64(need-free[k]) / float64(need); short > worst {
				r.Kind, r.Need, r.Free, worst = k, need, free[k], short
			}
		}
	}
	return r
}

// free returns by kind what is left on all open servers together. O(remainders x kinds).
func (c *Cluster) free() []int64 {
	sum := make([]int64, c.kinds)
	for _, at := range c.remain.Live() {
		for k, q := range c.servers[c.remain.Next(at, 0)].left {
			sum[k] += int64(c.remain.Count(at)) * q
		}
	}
	return sum
}

// fits reports whether the empty cluster holds a member of g.
func (g *group) fits() bool { return g.app.AtLeast(1) > 0 && g.app.AtLeast(1) <= g.room }

// least returns the fewest containers that a member of g may have.
func (g *group) least() int64 { return max(1, g.app.AtLeast(1)) }
