// This file chooses a type of accelerator for every job, one job after the other, [Narayanan20] §2.1.

package schedulers

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion/placement/sim"
)

// moves is how much faster, with the same number of containers, a running job must be on another type to go there.
const moves = 1.2

// chooseTypes returns a type of servers for each job, as a position in book.kinds. Those come first that lose most by
// their second best type, and each takes the type on which it is fastest with its part of it beside all others that have
// chosen it, where most says how many containers each of them would take; one that runs leaves its type only for one that
// is moves times as fast. One type of servers costs nothing. O(jobs log jobs + jobs x types).
func chooseTypes(b *book, state *sim.State, most func(job, kind int) int64) []int {
	types := make([]int, len(state.Jobs))
	if len(b.kinds) < 2 || len(state.Jobs) == 0 {
		return types
	}
	c := &chooser{book: b, state: state, most: most, takers: make([]float64, len(b.kinds))}
	order := make([]int, len(state.Jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.regret(b), c.regret(a)) })
	// Everybody is counted with the type on which it is fastest, and then, in turn, goes where it is best beside the others:
	// two rounds, since the first ones could not know of the last.
	for i := range types {
		types[i] = c.choose(i, -1)
		c.takers[types[i]] += c.wants(i, types[i])
	}
	for range 2 {
		for _, i := range order {
			c.takers[types[i]] -= c.wants(i, types[i])
			types[i] = c.choose(i, b.kind(&state.Jobs[i]))
			c.takers[types[i]] += c.wants(i, types[i])
		}
	}
	return types
}

// chooser is a choice under way: takers is how many containers those want that have chosen a type.
type chooser struct {
	book   *book
	state  *sim.State
	most   func(job, kind int) int64
	takers []float64
}

// wants returns how many containers a job would take of a type if it was free.
func (c *chooser) wants(job, kind int) float64 {
	return float64(max(1, c.most(job, kind)))
}

// part returns the speed of a job on a type beside those that have chosen it: with its part of what there is where all want
// more than that.
// takers must not hold the job's own wish: chooseTypes takes it out before it asks.
func (c *chooser) part(job, kind int) float64 {
	speeds := c.book.jobs[c.state.Jobs[job].ID].speeds[kind]
	if len(speeds) == 0 {
		return 0
	}
	// Where all together want more than there is, everybody is given the same part of what he wants.
	mine := c.wants(job, kind)
	all, _ := c.book.kinds[kind].holds(c.state.Scenario.Servers, c.state.Jobs[job].Demand)
	n := mine * min(1, float64(all)/(c.takers[kind]+mine))
	at := min(max(1, int64(n)), int64(len(speeds)))
	speed := speeds[at-1]
	if n < 1 {
		return speed * n
	}
	if at < int64(len(speeds)) {
		speed += (speeds[at] - speed) * (n - float64(at))
	}
	return speed
}

// choose returns the type on which a job is fastest beside the others; it is loath to leave the one that it is on.
// now is that type, -1 for a job that waits. Of types that are alike the first is taken, as by a job
// that none of them holds.
func (c *chooser) choose(job, now int) int {
	best, most := 0, -1.0
	for k := range c.book.kinds {
		speed := c.part(job, k)
		if k == now {
			speed *= moves
		}
		if speed > most {
			best, most = k, speed
		}
	}
	return best
}

// regret returns how many times as fast a job is with one container on its best type as on its second best.
func (c *chooser) regret(job int) float64 {
	// Speeds of one container are enough here: who is much slower elsewhere is so with any number.
	first, second := 0.0, 0.0
	for _, speeds := range c.book.jobs[c.state.Jobs[job].ID].speeds {
		switch {
		case len(speeds) == 0:
		case speeds[0] > first:
			first, second = speeds[0], first
		case speeds[0] > second:
			second = speeds[0]
		}
	}
	// Only one type holds the job: there is no other to regret, and its speed stands for the ratio.
	if second == 0 {
		return first
	}
	return first / second
}
