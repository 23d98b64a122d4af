// This file charges applications for the servers that they are on beyond the fewest, and by what they state about that, [Program §14].

package alloc

import (
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// spreadCost is what a nil Application.SpreadCost means where the application uses a compact kind: above restartCost, so that whatever is
// torn comes together where that is a matter of its own restart alone. Before records had version 5 it was firstSpreadCost.
const spreadCost, firstSpreadCost = 0.13, 0.1

// holds returns how many containers of application i the servers hold that it may be placed on, when these are empty, the largest first.
// O(unlike servers x log of them) for the first question about i. The slice is shared.
func (r *resolved) holds(i int) []solver.Rooms {
	if r.emptied[i] == nil {
		// Domains are chosen within a decision, and the fewest servers are those of any.
		list, open := []solver.Rooms{}, r.anywhere()
		for _, s := range r.shapes {
			if n := open.most(i, s.server, r.problem.Servers[s.server].Capacity); n > 0 {
				list = append(list, solver.Rooms{Containers: n, Servers: s.count})
			}
		}
		slices.SortFunc(list, func(a, b solver.Rooms) int { return int(max(-1, min(1, b.Containers-a.Containers))) })
		// Servers of unlike capacity may hold equally many.
		joined := list[:0]
		for _, rooms := range list {
			if last := len(joined) - 1; last >= 0 && joined[last].Containers == rooms.Containers {
				joined[last].Servers += rooms.Servers
			} else {
				joined = append(joined, rooms)
			}
		}
		r.emptied[i] = joined
	}
	return r.emptied[i]
}

// beyond returns on how many more servers application i is than the fewest empty ones that would hold its containers.
func (r *resolved) beyond(i int, placed []apportion.Placement) int64 {
	if len(placed) < 2 {
		return 0
	}
	empty := solver.Spread{Rooms: r.holds(i)}
	return max(0, int64(len(placed))-empty.Fewest(solver.Containers(placed)))
}

// spread returns what application i loses by its servers, by its dense form, whose numbers and worths are set; nil: nothing.
func (r *resolved) spread(i int, dense *solver.App) *solver.Spread {
	app := &r.problem.Applications[i]
	if app.WorthOn != nil {
		return &solver.Spread{Lost: r.lost(i, dense)}
	}
	part := r.spreadPart(i)
	numbers := app.numbers()
	first := numbers.AtLeast(1)
	// One container cannot be torn.
	if part == 0 || first < 1 || min(dense.Max, app.Max) < 2 || app.MaxServers == 1 {
		return nil
	}
	one := dense.Value + (numbers.Extra(first)-numbers.Idle)/float64(first)
	return &solver.Spread{Part: part, Least: math.Max(0, one), Rooms: r.holds(i)}
}

// spreadPart returns which part of its worth application i loses for each server beyond the fewest.
func (r *resolved) spreadPart(i int) float64 {
	app := &r.problem.Applications[i]
	switch {
	case r.problem.Options.Paper:
		return 0
	case app.SpreadCost != nil:
		return *app.SpreadCost
	case r.usesCompact(app.Demand) && r.version < spreadAboveRestarts:
		return firstSpreadCost
	case r.usesCompact(app.Demand):
		return spreadCost
	}
	return 0
}

// bestWorths gives every application that states worths by number and servers those of the best number of servers for each number.
func (r *resolved) bestWorths() {
	if !slices.ContainsFunc(r.problem.Applications, func(app Application) bool { return app.WorthOn != nil }) {
		return
	}
	p := *r.problem
	p.Applications = slices.Clone(p.Applications)
	for i := range p.Applications {
		app := &p.Applications[i]
		if app.WorthOn == nil {
			continue
		}
		empty, numbers := solver.Spread{Rooms: r.holds(i)}, app.numbers()
		app.Worth = make([]float64, 0, len(app.WorthOn))
		for n := numbers.AtLeast(1); n > 0; n = numbers.AtLeast(n + 1) {
			row := app.WorthOn[len(app.Worth)]
			// On no fewer servers than the fewest; the last entry is that of all beyond.
			from := min(max(1, empty.Fewest(n)), int64(len(row)))
			app.Worth = append(app.Worth, slices.Max(row[from-1:]))
		}
	}
	r.problem = &p
}

// lost returns what application i loses by number and servers, with an entry for each of the worths of its dense form. O(entries).
func (r *resolved) lost(i int, dense *solver.App) [][]float64 {
	app := &r.problem.Applications[i]
	whole, at := app.numbers(), 0
	rows := make(map[int64][]float64, len(app.WorthOn))
	for n := whole.AtLeast(1); n > 0; n = whole.AtLeast(n + 1) {
		row := make([]float64, len(app.WorthOn[at]))
		for s, worth := range app.WorthOn[at] {
			// Fewer servers than the fewest hold what stays where servers have shrunk, and cost no more than the best number.
			row[s] = math.Max(0, app.Worth[at]-worth)
		}
		rows[n] = row
		at++
	}
	lost := make([][]float64, 0, len(dense.Worth))
	add := func(n int64) {
		if rows[n] == nil {
			rows[n] = []float64{0} // of a list, outside the bounds, and never read
		}
		lost = append(lost, rows[n])
	}
	for _, n := range app.Counts {
		add(n)
	}
	for n := range dense.Numbers() {
		if n > 0 && app.Counts == nil {
			add(n)
		}
	}
	return lost
}

// checkSpread adds what is wrong with what an application states about its servers; its options have been checked each by itself.
func checkSpread(faults *apportion.Faults, app *Application, item apportion.Item) {
	if app.SpreadCost == nil {
		return
	}
	checkAmount(faults, item, "SpreadCost", *app.SpreadCost)
	if *app.SpreadCost < 0 {
		faults.Add(item, "SpreadCost", apportion.ErrNegative, formatFloat(*app.SpreadCost))
	}
	if slices.ContainsFunc(app.entriesOf(), func(e Application) bool { return e.WorthOn != nil }) {
		faults.Add(item, "SpreadCost", apportion.ErrConflict, "with WorthOn, which says it")
	}
}

// checkWorthOn adds what is wrong with worths by number and servers; whether there are as many lists as numbers is asked only where numbers
// is true: nothing was wrong with those.
func checkWorthOn(faults *apportion.Faults, app *Application, item apportion.Item, numbers bool) {
	for at, row := range app.WorthOn {
		field := "WorthOn[" + strconv.Itoa(at) + "]"
		if len(row) == 0 {
			faults.Add(item, field, apportion.ErrEmpty, "")
		}
		for s, w := range row {
			checkAmount(faults, item, field+"["+strconv.Itoa(s)+"]", w)
		}
	}
	if app.WorthOn == nil {
		return
	}
	if app.Worth != nil {
		faults.Add(item, "WorthOn", apportion.ErrConflict, "with Worth")
	}
	if want := app.entries(); numbers && int64(len(app.WorthOn)) != want {
		faults.Add(item, "WorthOn", apportion.ErrLength, strconv.Itoa(len(app.WorthOn))+" lists for "+strconv.FormatInt(want, 10)+" numbers of containers")
	}
}
