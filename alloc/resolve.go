// This file looks the names of a Problem up, and finds who cannot stay as it is, [Dorm §III-B] and [Program §3].

package alloc

import (
	"encoding/binary"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

// resolve looks up the names of a valid problem: everything that Validate refuses has been refused before, so that no
// lookup can fail here. The problem is only read. O(unlike servers x applications x kinds), to tell what fits.
//
// The order matters: what is used decides the capacity of cordoned servers, capacities decide the total and the room,
// rooms are cut by the ceilings of queues, and only then can be said who cannot stay.
func resolve(p *Problem) *resolved {
	given := p
	p, of := p.apart()
	// Without servers the paper's P2 does not exist: all is then as without its rule.
	if p.Options.Paper && len(p.Servers) == 0 {
		elastic := *p
		elastic.Options.Paper = false
		p = &elastic
	}
	apps := len(p.Applications)
	r := &resolved{
		problem: p,
		given:   given,
		version: RecordVersion,
		compact: given.compactKinds(),
		of:      of,
		entries: make([][]int, len(given.Applications)),

		capacity:  make([]apportion.Resources, len(p.Servers)),
		room:      make([]int64, apps),
		emptied:   make([][]solver.Rooms, apps),
		previous:  make([][]apportion.Placement, apps),
		displaced: make([]bool, apps),
		forced:    make([]bool, apps),
		pinned:    make([]bool, apps),
		leaving:   make([]bool, apps),
		yielding:  make([]bool, apps),

		overCeiling: make([]bool, apps),
		floor:       make([]int64, apps),
		limits:      standard,
	}
	r.resolveDomains()
	r.findOpen()
	p = r.extended(p)
	r.problem = p
	index := serverIndex(p.Servers)
	for i, o := range of {
		r.entries[o] = append(r.entries[o], i)
	}
	// What an application has now belongs to the one entry that it runs as.
	for o := range given.Applications {
		app := &given.Applications[o]
		placed, displaced := placements(p.Previous[app.ID], index)
		if at := app.present(app.Option); at >= 0 {
			i := r.entries[o][at]
			r.previous[i], r.displaced[i] = placed, displaced
		} else {
			// Nobody knows what it uses; it has to go anyway.
			r.displaced[r.entries[o][0]] = displaced || len(placed) > 0
		}
	}
	used := r.used()
	for j := range p.Servers {
		// Vectors are shared with the problem and only read: a copy per server would double the
		// memory.
		r.capacity[j] = p.Servers[j].Capacity
		// Nothing comes to a cordoned server, so that what is free there is no part of the cluster.
		if p.Servers[j].Cordoned && used[j].FitsIn(r.capacity[j]) {
			r.capacity[j] = used[j]
		}
	}
	r.sumCapacities()
	r.findTypical()
	r.findRooms()
	r.bestWorths()
	r.resolveNodes()
	r.resolveQueues()
	r.findForced(used)
	r.recall()
	return r
}

// findRooms counts how many containers of each application fit the empty servers.
func (r *resolved) findRooms() {
	p := r.problem
	r.shapes, _ = shapesOf(len(p.Servers), func(to []byte, j int) []byte {
		return appendVector(binary.AppendUvarint(to, uint64(r.open.class[j])), p.Servers[j].Capacity)
	})
	list := make([]rooms, len(r.shapes))
	for i := range p.Applications {
		for at, s := range r.shapes {
			list[at] = rooms{r.most(i, s.server, p.Servers[s.server].Capacity), s.count}
		}
		r.room[i] = largest(list, p.Applications[i].MaxServers)
		if r.wishes[i] != nil {
			r.room[i], _ = r.roomInDomains(i)
		}
	}
}

// sumCapacities adds up what there is, and what of it shares are taken of.
func (r *resolved) sumCapacities() {
	r.total = make(apportion.Resources, len(r.problem.Kinds))
	for j := range r.capacity {
		_ = exact.AddTo(r.total, r.total, r.capacity[j]) // Validate has seen that all capacities fit int64
	}
	r.shared = r.total
	if d, _ := r.given.derivation(); d != nil {
		r.shared = d.Shared(r.total)
	}
}

// findForced tells who cannot stay as it is, [Program §3]: a server is gone or too full, or
// the numbers and places that the application may have have changed.
func (r *resolved) findForced(used []apportion.Resources) {
	// 1. Each by itself: labels, numbers, limits by server, and a server that is too small even for it alone.
	for i := range r.previous {
		for _, p := range r.previous[i] {
			r.displaced[i] = r.displaced[i] || !r.open.suits(i, p.Server)
		}
		r.displaced[i] = r.displaced[i] || r.tornText(i, r.previous[i]) != ""
		stays := r.running(i) && r.mayStay(i)
		r.pinned[i] = r.problem.Applications[i].Pinned && stays
		r.forced[i] = r.running(i) && !stays
	}
	// The paper knows no machine that shrinks: with its rule Validate has refused servers that hold too much, or
	// Displace leaves them to (6).
	if r.problem.Options.Paper {
		return
	}
	// 2. A server that holds too much forces all on it, but for the pinned, so long as these fit. The second round looks
	// at what the pinned use alone, and spares nobody.
	for _, spare := range [...]bool{true, false} {
		over := make([]bool, len(used))
		for j := range used {
			over[j] = !used[j].FitsIn(r.capacity[j])
		}
		for i, placed := range r.previous {
			for _, p := range placed {
				if over[p.Server] && !(spare && r.pinned[i]) {
					r.forced[i], r.pinned[i] = true, false
				}
			}
		}
		used = r.usedByPinned()
	}
	r.forceBelowCeilings()
}

// usedByPinned returns what the pinned use on every server: those that may stay and must.
// It copies the struct and not what is in it; used looks at previous alone.
func (r *resolved) usedByPinned() []apportion.Resources {
	only := *r
	only.previous = make([][]apportion.Placement, len(r.previous))
	for i := range r.previous {
		if r.pinned[i] {
			only.previous[i] = r.previous[i]
		}
	}
	return only.used()
}
