// This file holds the classes of equal servers, and packs a solution by classes back onto the servers.

package program

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/placement"
)

// classes are the servers of each distinct capacity that are open to the same applications, in the order of
// first appearance.
type classes struct {
	inst    *solver.Instance
	servers [][]int
	of      []int // class of each server
}

// classesOf groups the servers of an instance. O(servers log servers).
func classesOf(inst *solver.Instance) *classes {
	c := &classes{inst: inst, of: make([]int, len(inst.Capacity))}
	// Sorting by capacity brings equal servers together without a map, whose order would differ
	// from run to run.
	order := make([]int, len(inst.Capacity))
	for j := range order {
		order[j] = j
	}
	// Servers open to different applications differ, as large as they may be alike. Which classes an
	// application names does not matter here: two that every application names alike stay two.
	compare := func(a, b int) int {
		if inst.Class != nil && inst.Class[a] != inst.Class[b] {
			return cmp.Compare(inst.Class[a], inst.Class[b])
		}
		return slices.Compare(inst.Capacity[a], inst.Capacity[b])
	}
	slices.SortStableFunc(order, compare)
	for s, j := range order {
		if s > 0 && compare(order[s-1], j) == 0 {
			last := len(c.servers) - 1
			c.servers[last] = append(c.servers[last], j)
		} else {
			c.servers = append(c.servers, []int{j})
		}
	}
	// First servers differ, so that the order of the classes is a total one.
	slices.SortFunc(c.servers, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	for g, servers := range c.servers {
		for _, j := range servers {
			c.of[j] = g
		}
	}
	return c
}

// had returns how many containers application a holds now in class g.
func (c *classes) had(a, g int) int64 {
	var n int64
	for _, placed := range c.inst.Apps[a].Previous {
		if c.of[placed.Server] == g {
			n += placed.Count
		}
	}
	return n
}

// unpool places the containers of every class on its servers. Applications that hold in every class
// what they held before stay where they were; the containers of the others go, largest dominant
// demand first, by best fit, first within their class and, if it has no room, within another that is open to
// them. Containers that fit nowhere are dropped: Instance.Check tells.
func (c *classes) unpool(pooled solver.Counts) solver.Counts {
	// 1. Those who stay take their room first, because nothing else in P2 is tied to one server.
	counts := make(solver.Counts, len(c.inst.Apps))
	free := make([]apportion.Resources, len(c.inst.Capacity))
	for j, capacity := range c.inst.Capacity {
		free[j] = capacity.Clone()
	}
	var moving []int
	for a := range c.inst.Apps {
		app := &c.inst.Apps[a]
		if app.Running && c.stays(a, pooled[a]) && take(free, app) {
			counts[a] = slices.Clone(app.Previous)
		} else {
			moving = append(moving, a)
		}
	}
	// 2. The largest containers come first: small ones find room in what these leave, not the other
	// way round.
	slices.SortStableFunc(moving, func(a, b int) int { return cmp.Compare(c.inst.Apps[b].Delta, c.inst.Apps[a].Delta) })
	packers := c.packers(free)
	for _, a := range moving {
		counts[a] = c.pack(packers, a, pooled[a])
	}
	return counts
}

// stays reports whether placed, by class, is what application a held.
func (c *classes) stays(a int, placed []apportion.Placement) bool {
	for g := range c.servers {
		if held(placed, g) != c.had(a, g) {
			return false
		}
	}
	return true
}

// take removes what app holds from free if all of it fits.
func take(free []apportion.Resources, app *solver.App) bool {
	for _, p := range app.Previous {
		if app.Demand.CountIn(free[p.Server]) < p.Count {
			return false
		}
	}
	for _, p := range app.Previous {
		for k, d := range app.Demand {
			free[p.Server][k] -= d * p.Count
		}
	}
	return true
}

// packers returns one packer for each class, over what is free on its servers.
func (c *classes) packers(free []apportion.Resources) []*placement.Packer {
	kinds := make(apportion.Kinds, len(c.inst.Total))
	for k := range kinds {
		kinds[k] = strconv.Itoa(k)
	}
	// A packer sees the bins of one class, so that its best fit never leaves the class that the
	// program chose.
	packers := make([]*placement.Packer, len(c.servers))
	for g, servers := range c.servers {
		bins := make([]placement.Bin, len(servers))
		for b, j := range servers {
			bins[b].Free = free[j]
		}
		var err error
		if packers[g], err = placement.NewPacker(placement.BestFit, kinds, bins); err != nil {
			panic("mip: what is free on servers is no input for a packer: " + err.Error())
		}
	}
	return packers
}

// pack places what application a has in each class, and what its class has no room for in the others.
func (c *classes) pack(packers []*placement.Packer, a int, pooled []apportion.Placement) []apportion.Placement {
	on := make(map[int]int64)
	for _, placed := range pooled {
		// placed.Server is a class here, as the program counts in classes.
		left := c.packInto(packers, placed.Server, a, placed.Count, on)
		for g := 0; g < len(packers) && left > 0; g++ {
			left = c.packInto(packers, g, a, left, on)
		}
	}
	var counts []apportion.Placement
	for j := range c.of {
		if on[j] > 0 {
			counts = append(counts, apportion.Placement{Server: j, Count: on[j]})
		}
	}
	return counts
}

// packInto places as many of count containers as fit the servers of class g, and returns how many are
// left over. on is what the application has on every server so far, none of them 0.
func (c *classes) packInto(packers []*placement.Packer, g, a int, count int64, on map[int]int64) int64 {
	app := &c.inst.Apps[a]
	switch {
	case !c.inst.Open(a, c.servers[g][0]):
		// What it held there it may only keep as a whole, and unpool has seen that it does not.
		return count
	case app.PerServer > 0 || app.MaxServers > 0:
		return c.packLimited(packers[g], g, app, count, on)
	}
	// The sum is cut at count after each server, which keeps it from overflowing.
	fits := int64(0)
	for b := range c.servers[g] {
		fits = min(count, fits+min(count, app.Demand.CountIn(packers[g].Free(b))))
	}
	chosen, _ := packers[g].Place(app.Demand, fits, nil) // so many fit
	for _, placed := range chosen {
		on[c.servers[g][placed.Server]] += placed.Count
	}
	return count - fits
}

// packLimited is packInto for an application that may be on so many servers, or have so many containers on
// each: the smallest room that holds all of them comes first, or else the largest.
func (c *classes) packLimited(packer *placement.Packer, g int, app *solver.App, count int64, on map[int]int64) int64 {
	for count > 0 {
		best, room := -1, int64(0)
		for b, j := range c.servers[g] {
			r := min(count, roomOf(app, packer.Free(b), on, j))
			// Of rooms that hold as many, the one that wastes least, as best fit has it.
			if r > room || r == room && best >= 0 && packer.Room(b, app.Demand) < packer.Room(best, app.Demand) {
				best, room = b, r
			}
		}
		if best < 0 {
			break
		}
		_ = packer.Take(best, app.Demand, room) // which has room for them
		on[c.servers[g][best]] += room
		count -= room
	}
	return count
}

// roomOf returns how many more containers an application may have on server j, of which so much is free,
// beside those that it has on servers already.
func roomOf(app *solver.App, free apportion.Resources, on map[int]int64, j int) int64 {
	// A server that it is on already can take more, however many it is on.
	if app.MaxServers > 0 && on[j] == 0 && int64(len(on)) >= app.MaxServers {
		return 0
	}
	room := app.Demand.CountIn(free)
	if app.PerServer > 0 {
		room = min(room, app.PerServer-on[j])
	}
	return room
}
