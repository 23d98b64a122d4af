// This file turns the worths that an application states into those of package solver: W and K of [Program §1],
// in place of v_i n_i in (10), [Dorm §IV].

package alloc

import (
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

// numbers returns which numbers of containers the application may have and what these are worth, as package solver
// has them, whatever there is room for.
func (a *Application) numbers() solver.App {
	n := solver.App{Min: a.Min, Max: a.Max, Step: a.step(), Counts: a.Counts}
	if a.Worth == nil {
		return n
	}
	n.Worth, n.Idle = a.Worth, a.IdleWorth
	// Package solver has one entry for each of Counts, also for those that are outside the bounds.
	if a.Counts != nil {
		// Of a list each entry has a worth there, and only those within the bounds have one here.
		n.Worth = make([]float64, len(a.Counts))
		at := 0
		for c, count := range a.Counts {
			if n.Allows(count) {
				n.Worth[c] = a.Worth[at]
				at++
			}
		}
	}
	return n
}

// entries returns how many worths an application must state: one for each number above 0 that it may have, whatever there
// is room for, so that what is right for one cluster is right for another. O(1), and with Counts O(Counts).
func (a *Application) entries() int64 {
	n := solver.App{Min: a.Min, Max: a.Max, Step: a.step(), Counts: a.Counts}
	if a.Counts != nil {
		entries := int64(0)
		for _, count := range a.Counts {
			if n.Allows(count) {
				entries++
			}
		}
		return entries
	}
	// Without a list the numbers are the multiples of Step between these two.
	first, last := n.AtLeast(1), n.AtMost(a.Max)
	if first < 0 || last < first {
		return 0
	}
	return (last-first)/max(1, a.step()) + 1
}

// worthy reports whether the objective is in units of worth: an application states what its containers are worth, or
// what a restart costs. Those that do not are worth their utilization.
func (p *Problem) worthy() bool {
	for i := range p.Applications {
		app := &p.Applications[i]
		if app.StayWorth != nil {
			return true
		}
		for form := range app.forms {
			if form.Worth != nil || form.WorthOn != nil {
				return true
			}
		}
	}
	return false
}

// spread returns by how much the worths of all in inst together can differ, whatever there is room for: with the best number of each,
// of any of its options, and with the worst. O(numbers).
func spread(inst *solver.Instance) float64 {
	// Options of one application count once, where the first of them stands.
	head := make([]int, len(inst.Apps))
	for i := range head {
		head[i] = i
	}
	for _, choice := range inst.Choices {
		for _, i := range choice.Apps {
			head[i] = choice.Apps[0]
		}
	}
	low, high := make([]float64, len(head)), make([]float64, len(head))
	for i, h := range head {
		least, most := worthRange(&inst.Apps[i])
		if i == h {
			low[h], high[h] = least, most
		}
		low[h], high[h] = math.Min(low[h], least), math.Max(high[h], most)
	}
	sum := 0.0
	for i := range head {
		sum += high[i] - low[i] // 0 for all but the first option
	}
	return sum
}

// worthRange returns the least and the most that an application may be worth.
func worthRange(app *solver.App) (low, high float64) {
	first := app.AtLeast(0)
	if first < 0 {
		return 0, 0
	}
	low = float64(app.Value*float64(first)) + app.Extra(first)
	high = low
	if app.Worth == nil {
		high = app.Value * float64(app.AtMost(app.Max))
	}
	for n, extra := range app.Numbers() {
		if app.Worth == nil {
			break // a line, whose ends say it all
		}
		worth := float64(app.Value*float64(n)) + extra
		low, high = math.Min(low, worth), math.Max(high, worth)
	}
	if held := solver.Containers(app.Previous); app.Stay > 0 {
		high = math.Max(high, float64(app.Value*float64(held))+app.Extra(held)+app.Stay)
	}
	return low, high
}

// worths returns the worths of application i for the numbers of its dense form, whose bounds are narrower than its own:
// without Counts one entry for each number that is left, with Counts one for each number in the list. O(numbers).
func (r *resolved) worths(i int, dense *solver.App) []float64 {
	app := &r.problem.Applications[i]
	if app.Worth == nil {
		return nil
	}
	// A list stays as it is in the dense form, whatever its bounds are cut to; entries outside them are never read.
	whole := app.numbers()
	if app.Counts != nil {
		return whole.Worth
	}
	worths := []float64{}
	for n := range dense.Numbers() {
		if n > 0 {
			worths = append(worths, whole.Extra(n))
		}
	}
	return worths
}

// stay returns what staying is worth to application i beyond what its number is worth, by its dense form: what it states, else the
// price of a restart. Where it states less than that it is none: it could be placed anew just where it is.
func (r *resolved) stay(i int, dense *solver.App) float64 {
	app := &r.problem.Applications[i]
	held := solver.Containers(dense.Previous)
	if !dense.Running || !dense.Allows(held) {
		return 0
	}
	if app.StayWorth == nil {
		return r.restartPrice(i, dense)
	}
	// What is stated is the worth of staying as a whole; the solver adds Stay to that of the number.
	return math.Max(0, *app.StayWorth-dense.WorthOf(dense.Previous))
}
