// This file holds random instances in which applications lose something by the servers that they are on.

package solvertest

import (
	"math/rand/v2"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// spreads compares random instances of that sort with enumeration.
func spreads(p *probe) error { return p.enumerates("Spread", Spread, p.opts.General) }

// Spread draws an instance in which most applications lose a part of what they are worth for each server beyond the fewest, or what a list
// says: that of Worth with this seed, or one of two or three servers where jobs are torn.
func Spread(seed uint64) *solver.Instance {
	inst := Worth(seed)
	if seed%2 == 0 {
		inst = torn(seed)
	}
	addSpread(seed, inst)
	return inst
}

// torn draws two jobs of up to four containers on servers of one kind, which run anywhere.
func torn(seed uint64) *solver.Instance {
	r := rand.New(rand.NewPCG(seed, 11))
	inst := &solver.Instance{Total: make(apportion.Resources, 1), LossBudget: 6, AdjustBudget: r.Int64N(3)}
	for range 2 + r.IntN(5)/4 {
		capacity := apportion.Resources{3 + r.Int64N(3)}
		inst.Capacity = append(inst.Capacity, capacity)
		inst.Total[0] += capacity[0]
	}
	for range 2 {
		app := solver.App{Demand: apportion.Resources{1 + r.Int64N(2)}, Min: 1 + r.Int64N(2), Cost: 1, Running: r.IntN(4) > 0}
		app.Max = app.Min + r.Int64N(3)
		app.Value = float64(app.Demand[0]) / float64(inst.Total[0])
		app.Delta = app.Value
		for j := range inst.Capacity {
			if n := r.Int64N(3); app.Running && n > 0 {
				app.Previous = append(app.Previous, apportion.Placement{Server: j, Count: n})
			}
		}
		app.Running = len(app.Previous) > 0
		app.Stay = []float64{0, .02, .3}[r.IntN(3)]
		inst.Apps = append(inst.Apps, app)
	}
	return inst
}

// addSpread lets most applications of an instance lose something by the servers that they are on.
func addSpread(seed uint64, inst *solver.Instance) {
	r := rand.New(rand.NewPCG(seed, 10))
	for i := range inst.Apps {
		app := &inst.Apps[i]
		// Growth beyond what it has had is for nothing, for some.
		if app.Running && r.IntN(3) == 0 {
			app.FreeAbove = 1 + r.Int64N(3)
		}
		if r.IntN(4) == 0 {
			continue
		}
		// Quarters make ties; some parts are nothing, and some more than all that it is worth.
		app.Spread = &solver.Spread{Part: []float64{0, .1, .5, 2}[r.IntN(4)], Least: []float64{0, 0, .25, .5}[r.IntN(4)], Rooms: roomsOf(inst, i)}
		if app.Worth == nil || r.IntN(2) == 0 {
			continue
		}
		app.Spread.Lost = make([][]float64, len(app.Worth))
		for e := range app.Spread.Lost {
			for range 1 + r.IntN(3) {
				app.Spread.Lost[e] = append(app.Spread.Lost[e], float64(r.IntN(4))/4)
			}
		}
	}
}

// roomsOf returns what the servers hold of application i that it may be placed on, when they are empty.
func roomsOf(inst *solver.Instance, i int) []solver.Rooms {
	app := &inst.Apps[i]
	var holds []int64
	for j, capacity := range inst.Capacity {
		n := app.Demand.CountIn(capacity)
		if app.PerServer > 0 {
			n = min(n, app.PerServer)
		}
		if n > 0 && inst.Open(i, j) {
			holds = append(holds, n)
		}
	}
	slices.Sort(holds)
	slices.Reverse(holds)
	var rooms []solver.Rooms
	for _, n := range holds {
		if last := len(rooms) - 1; last >= 0 && rooms[last].Containers == n {
			rooms[last].Servers++
		} else {
			rooms = append(rooms, solver.Rooms{Containers: n, Servers: 1})
		}
	}
	return rooms
}
