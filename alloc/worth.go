// This file turns the worths that an application states into those of package solver: W and K of the general program,
// in place of v_i n_i in (10), [Dorm §IV].

package alloc

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// numbers returns which numbers of containers the application may have and what these are worth, as package solver
// has them, whatever there is room for.
func (a *Application) numbers() solver.App {
	n := solver.App{Min: a.Min, Max: a.Max, Step: a.Step, Counts: a.Counts}
	if a.Worth == nil {
		return n
	}
	n.Worth, n.Idle = a.Worth, a.IdleWorth
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

// entries returns how many worths an application must state: one for each number above 0 that it may have.
func (a *Application) entries() int64 {
	n := solver.App{Min: a.Min, Max: a.Max, Step: a.Step, Counts: a.Counts}
	if a.Counts != nil {
		entries := int64(0)
		for _, count := range a.Counts {
			if n.Allows(count) {
				entries++
			}
		}
		return entries
	}
	first, last := n.AtLeast(1), n.AtMost(a.Max)
	if first < 0 || last < first {
		return 0
	}
	return (last-first)/max(1, a.Step) + 1
}

// checkWorth adds what is wrong with the worths of an application; whether there are as many as numbers is asked only
// where numbers is true: nothing was wrong with those.
func checkWorth(faults *apportion.Faults, app *Application, item apportion.Item, numbers bool) {
	for at, w := range app.Worth {
		checkAmount(faults, item, "Worth["+strconv.Itoa(at)+"]", w)
	}
	if app.Worth == nil || !numbers {
		return
	}
	if want := app.entries(); int64(len(app.Worth)) != want {
		faults.Add(item, "Worth", apportion.ErrLength, fmt.Sprintf("%d worths for %d numbers of containers", len(app.Worth), want))
	}
}

// checkStates adds what is wrong with the worths of having nothing and of staying.
func checkStates(faults *apportion.Faults, app *Application, item apportion.Item) {
	checkAmount(faults, item, "IdleWorth", app.IdleWorth)
	if app.StayWorth != nil {
		checkAmount(faults, item, "StayWorth", *app.StayWorth)
	}
	if app.IdleWorth == 0 {
		return
	}
	entries := app.entriesOf()
	switch {
	case slices.ContainsFunc(entries, func(e Application) bool { return e.Worth == nil }):
		faults.Add(item, "IdleWorth", apportion.ErrConflict, "without Worth")
	case !slices.ContainsFunc(entries, func(e Application) bool { return e.Min == 0 }):
		faults.Add(item, "IdleWorth", apportion.ErrConflict, "Min is above 0, so that it is never without containers")
	}
}

// checkAmount adds a worth that is not finite, or beyond solver.MaxWorth.
func checkAmount(faults *apportion.Faults, item apportion.Item, field string, w float64) {
	switch {
	case math.IsNaN(w) || math.IsInf(w, 0):
		faults.Add(item, field, apportion.ErrNotFinite, formatFloat(w))
	case math.Abs(w) > solver.MaxWorth:
		faults.Add(item, field, apportion.ErrRange, formatFloat(w))
	}
}

// worthy reports whether the objective is in units of worth: an application states what its containers are worth, or
// what a restart costs. Those that do not are worth their utilization.
func (p *Problem) worthy() bool {
	for i := range p.Applications {
		app := &p.Applications[i]
		if app.Worth != nil || app.StayWorth != nil || slices.ContainsFunc(app.Options, func(o Option) bool { return o.Worth != nil }) {
			return true
		}
	}
	return false
}

// worths returns the worths of application i for the numbers of its dense form.
func (r *resolved) worths(i int, dense *solver.App) []float64 {
	app := &r.problem.Applications[i]
	if app.Worth == nil {
		return nil
	}
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

// stay returns what staying is worth to application i beyond what its number is worth, by its dense form. Where it
// states less than that it is none: it could be placed anew just where it is.
func (r *resolved) stay(i int, dense *solver.App) float64 {
	app := &r.problem.Applications[i]
	held := solver.Containers(dense.Previous)
	if app.StayWorth == nil || !dense.Running || !dense.Allows(held) {
		return 0
	}
	return math.Max(0, *app.StayWorth-float64(dense.Value*float64(held))-dense.Extra(held))
}

// attained returns what the applications in list are worth together under counts, one entry for each application of
// the problem.
func (r *resolved) attained(list []int, counts solver.Counts) float64 {
	var sum float64
	last := -1
	for _, i := range list {
		// Of an application with options the one in use counts, or one for all.
		if e := r.inUse(r.of[i], counts); r.of[i] != last {
			app := r.app(e)
			sum, last = sum+app.WorthOf(counts[e]), r.of[i]
		}
	}
	return sum
}

// setWorths fills in what every application brings, where anyone states a worth: those in list, which P2 was about.
func (r *resolved) setWorths(d *Decision, list []int, counts solver.Counts) {
	if !r.problem.worthy() {
		return
	}
	for _, i := range list {
		e := r.inUse(r.of[i], counts)
		app := r.app(e)
		d.Shares[r.of[i]].Worth = app.WorthOf(counts[e])
	}
}

// gain returns what the next number of containers would bring to application a of the instance: beside that it would
// be adjusted, which ends its staying. last is what its last step up to what it has has brought. Both are 0 where
// there is no such number; of one that states no worth a container brings its Value.
func (s *stopper) gain(a int, app *Application) (gain, last float64) {
	dense, placed := &s.instance.Apps[a], s.counts[a]
	stay := 0.0
	if dense.Running && !dense.Adjusted(placed) {
		stay = dense.Stay
	}
	if app.Worth == nil {
		return dense.Value - stay, 0
	}
	whole, n := app.numbers(), solver.Containers(placed)
	if next := whole.AtLeast(n + 1); next > 0 {
		gain = whole.Extra(next) - whole.Extra(n) - stay
	}
	if n > 0 {
		// From a minimum above 0 there is no way down.
		if before := whole.AtMost(n - 1); before >= 0 {
			last = whole.Extra(n) - whole.Extra(before)
		}
	}
	return gain, last
}
