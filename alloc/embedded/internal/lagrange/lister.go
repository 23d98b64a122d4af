// This file lists the ways that an application may have, and the cells of servers that these use, for Totals.

package lagrange

import (
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// cells are the classes of servers joined where an application may be on both. What an application may use anew so lies in
// one cell, and what it uses there can be told by kind, without a server.
type cells struct {
	inst  *solver.Instance
	of    map[int]int // by class of servers that exist: its cell
	count int         // of cells; once numbered they are 0 to count-1
}

// newCells joins the classes that any application may use together. O(classes x sum of lists of classes).
// Two passes: only when all have joined is it known which cell an application is in.
func newCells(inst *solver.Instance) *cells {
	c := &cells{inst: inst, of: map[int]int{}}
	// Each class is a cell at first, and applications join them, as sets in a union-find: there are few classes, so that a
	// plain map does.
	for j := range inst.Capacity {
		if class := c.classOf(j); class >= 0 {
			if _, known := c.of[class]; !known {
				c.of[class] = c.count
				c.count++
			}
		}
	}
	for i := range inst.Apps {
		open := inst.Apps[i].Classes
		if open == nil {
			c.joinAll() // and nobody can join more
			break
		}
		// Classes may be listed of which there are no servers; the first one that there is is joined with all others.
		first := slices.IndexFunc(open, func(class int) bool { _, known := c.of[class]; return known })
		for at := first + 1; first >= 0 && at < len(open); at++ {
			c.join(open[first], open[at])
		}
	}
	c.number()
	return c
}

// number gives the cells that are left numbers from 0, in the order of their first servers: the order of a map must not show
// in that of the rows. Without any server with a class there is one cell, empty.
func (c *cells) number() {
	number := map[int]int{}
	for j := range c.inst.Capacity {
		if old, known := c.of[c.classOf(j)]; known {
			if _, numbered := number[old]; !numbered {
				number[old] = len(number)
			}
		}
	}
	for class, old := range c.of {
		c.of[class] = number[old]
	}
	c.count = max(1, len(number))
}

// classOf returns the class of server j; all are of one where the instance has no classes.
func (c *cells) classOf(j int) int {
	if c.inst.Class == nil {
		return 0
	}
	return c.inst.Class[j]
}

// ofServer returns the cell of server j, which newCells has given it.
func (c *cells) ofServer(j int) int { return c.of[c.classOf(j)] }

// join makes the cells of two classes one, if there are servers of both. O(classes).
func (c *cells) join(a, b int) {
	to, here := c.of[a]
	from, there := c.of[b]
	if !here || !there || to == from {
		return
	}
	for class, cell := range c.of {
		if cell == from {
			c.of[class] = to
		}
	}
}

// joinAll makes all cells one.
// number gives the one that is left the number 0.
func (c *cells) joinAll() {
	for class := range c.of {
		c.of[class] = 0
	}
}

// ofApp returns the cell in which an application may be placed anew, -1 where there is none.
func (c *cells) ofApp(app *solver.App) int {
	// Whoever is open everywhere has joined all classes, so that there is one cell.
	if app.Classes == nil {
		return 0
	}
	// All classes of its list that exist are in one cell: the first that does says which.
	for _, class := range app.Classes {
		if cell, known := c.of[class]; known {
			return cell
		}
	}
	return -1
}

// lister lists the ways of one application after the other, in full rows, which compress shortens later.
type lister struct {
	t      *Totals
	cells  *cells
	listed int // ways so far, of all applications
}

// add adds a way to a taker, and charges it for its loss. It reports whether it did: a way that uses more of a row than there
// is is none.
// The way keeps use, which leave may raise later: it must be of this way alone.
func (l *lister) add(to *taker, way totalWay) bool {
	for r, q := range way.use {
		if q > l.t.limits[r] {
			return false
		}
	}
	way.value -= float64(l.t.p.Inst.LossPrice * way.loss)
	to.ways = append(to.ways, way)
	l.listed++
	return true
}

// anew returns what a change of application i takes, nothing else, in a fresh row: its Cost of (16) if it runs.
// Newcomers cost nothing: (16) counts those that run.
func (l *lister) anew(i int) []int64 {
	use := make([]int64, len(l.t.limits))
	if app := &l.t.p.Inst.Apps[i]; app.Running {
		use[len(use)-1] = app.Cost
	}
	return use
}

// none adds the way without containers, which whoever runs has to be adjusted for.
// It takes nothing of any cell, so that it fits wherever (16) allows it.
func (l *lister) none(to *taker, i int) {
	// A pinned application has the one way to stay.
	if l.t.p.Apps[i].Fixed {
		return
	}
	app := &l.t.p.Inst.Apps[i]
	l.add(to, totalWay{int32(i), 0, app.Extra(0), app.Loss(0), l.anew(i)})
}

// some adds all ways with containers, those that stay as they are first. O(numbers x rows), at most mostListed numbers.
func (l *lister) some(to *taker, i int) {
	p := l.t.p
	a, app := &p.Apps[i], &p.Inst.Apps[i]
	demand := p.DemandOf(a.Type)
	if a.Pinnable || app.Running && p.Inst.MayStay(i) {
		// What it holds counts in the cells where it is, also where it could not be placed anew, and takes nothing of (16).
		use := make([]int64, len(l.t.limits))
		for _, placed := range app.Previous {
			for k, q := range demand {
				at := l.cells.ofServer(placed.Server)*p.Kinds + k
				use[at] = problem.AddSaturated(use[at], problem.MulSaturated(placed.Count, q))
			}
		}
		held := solver.Containers(app.Previous)
		l.add(to, totalWay{int32(i), Stays, float64(app.Value*float64(held)) + app.Kept(), app.Loss(held), use})
	}
	cell := l.cells.ofApp(app)
	if a.Fixed || cell < 0 {
		return // it stays, or there is no server that it may have
	}
	for n, extra := range app.Numbers() {
		// One way beyond mostListed is enough for list to see that there are too many.
		if n > a.Max || l.listed > mostListed {
			break
		}
		if n == 0 {
			continue // none has added that
		}
		use := l.anew(i)
		use[len(use)-1] = min(use[len(use)-1], app.CostOf(n))
		for k, q := range demand {
			use[cell*p.Kinds+k] = problem.MulSaturated(n, q)
		}
		// What does not fit ends the list, since more containers use more of every row: the numbers beyond may be 2^62.
		if !l.add(to, totalWay{int32(i), n, float64(app.Value*float64(n)) + extra, app.Loss(n), use}) {
			break
		}
	}
}

// leave charges whoever has another option in use for leaving the one that runs, entry i: a change of the option is one
// adjustment of (16), as is one to nothing.
// A way may come to use more of (16) than there is so; it stays in the list, and no state of a ledger
// takes it.
func (l *lister) leave(to *taker, i int) {
	app := &l.t.p.Inst.Apps[i]
	if !app.Running {
		return
	}
	for w := range to.ways {
		if way := &to.ways[w]; int(way.app) != i {
			way.use[len(way.use)-1] = problem.AddSaturated(way.use[len(way.use)-1], app.Cost)
		}
	}
}
