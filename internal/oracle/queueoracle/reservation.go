package queueoracle

import (
	"math"
	"slices"
)

// before reports whether application i of a leaf comes before one that is earlier in the list.
func (w *World) before(i, earlier int) bool {
	a, b := &w.Apps[i], &w.Apps[earlier]
	if a.Overdue >= 0 || b.Overdue >= 0 {
		return a.Overdue > b.Overdue || a.Overdue == b.Overdue && a.Priority > b.Priority
	}
	return a.Priority > b.Priority
}

// reserve makes those holders that are to have a reservation, as many as may be.
func (w *World) reserve() {
	chosen := w.Chosen()
	w.Tried = append(w.Tried, chosen[len(w.Holders):]...)
	w.Holders = chosen
}

// Chosen returns for whom room is reserved: of all lists of applications that are due and wait, at most Most and one of each leaf, that which has
// the best in each place. It begins with those that hold it by now.
func (w *World) Chosen() []int {
	best := w.Holders
	var try func(list []int)
	try = func(list []int) {
		if w.better(list, best) {
			best = list
		}
		if len(list) >= max(1, w.Most) {
			return
		}
		for i := range w.Apps {
			free := w.Apps[i].Places == nil && w.Apps[i].Overdue >= 0 && !slices.Contains(w.Tried, i)
			for _, h := range list {
				free = free && w.Apps[h].Queue != w.Apps[i].Queue
			}
			if free {
				try(append(slices.Clone(list), i))
			}
		}
	}
	try(w.Holders)
	return best
}

// better compares two lists place by place: within its guarantee, then the first that had a reservation, then that which has been due longest, then the
// first. Of lists that begin alike the longer one is better.
func (w *World) better(list, than []int) bool {
	rank := func(i int) []float64 {
		r := []float64{0, 0, w.Apps[i].Overdue, -float64(i)}
		if w.Within(i) {
			r[0] = 1
		}
		if had := w.Apps[i].Had; had > 0 {
			r[1] = 1 / float64(had)
		}
		return r
	}
	for at := range min(len(list), len(than)) {
		if order := slices.Compare(rank(list[at]), rank(than[at])); order != 0 {
			return order > 0
		}
	}
	return len(list) > len(than)
}

// Soonest returns the earliest time by which enough can have ended for the fewest containers of application i, and how many have to
// end at least by then; ok is false where it finds no room on the empty servers. It tries every set.
func (w *World) Soonest(i int) (at float64, waits int, ok bool) {
	return w.soonest(i, func(ended []int) bool {
		rest := w.after(ended)
		return rest.hasRoom(i)
	})
}

// SoonestBelow is Soonest for room below the ceilings above application i, whatever the servers have.
func (w *World) SoonestBelow(i int) (at float64, waits int, ok bool) {
	return w.soonest(i, func(ended []int) bool { return w.BelowAfter(i, ended) })
}

// soonest tries every set that may end for application i, until enough has.
func (w *World) soonest(i int, enough func(ended []int) bool) (at float64, waits int, ok bool) {
	at = math.Inf(1)
	for set := range 1 << len(w.Apps) {
		var ended []int
		legal, last := true, 0.0
		for v := range w.Apps {
			if set>>v&1 == 1 {
				legal = legal && v != i && containers(w.Apps[v].Places) > 0
				ended, last = append(ended, v), math.Max(last, w.Apps[v].Ends)
			}
		}
		if legal && enough(ended) && (!ok || last < at || last == at && len(ended) < waits) {
			at, waits, ok = last, len(ended), true
		}
	}
	return at, waits, ok
}

// after is the world once some applications have ended.
func (w *World) after(ended []int) World {
	rest := *w
	rest.Apps = append([]App(nil), w.Apps...)
	for _, v := range ended {
		rest.Apps[v].Places = nil
	}
	return rest
}

// BelowAfter reports whether the ceilings above application i have room for its fewest containers once some have ended.
func (w *World) BelowAfter(i int, ended []int) bool {
	rest := w.after(ended)
	rest.Apps[i].Places = []int64{w.Apps[i].Least}
	return rest.below(i)
}

// hasRoom tries every set of servers for the fewest containers of application i.
func (w *World) hasRoom(i int) bool {
	for set := range 1 << len(w.Servers) {
		if w.holdsOn(i, set) {
			return true
		}
	}
	return false
}

// holdsOn reports whether a set of servers has room for the fewest containers of application i, and is one that it may be on.
func (w *World) holdsOn(i, set int) bool {
	app := &w.Apps[i]
	servers, sum, within := int64(0), int64(0), -1
	room := make(map[int]int64)
	for j := range w.Servers {
		if set>>j&1 == 0 {
			continue
		}
		servers++
		if app.Within != nil {
			if app.Within[j] < 0 || within >= 0 && within != app.Within[j] {
				return false
			}
			within = app.Within[j]
		}
		if app.Slices == nil {
			sum += w.room(j, app.Demand)
		} else if app.Slices[j] >= 0 {
			room[app.Slices[j]] += w.room(j, app.Demand)
		}
	}
	for _, n := range room {
		sum += n / app.Slice * app.Slice
	}
	return sum >= app.Least && (app.MaxServers == 0 || servers <= app.MaxServers)
}

// Empty reports whether application i has room on the empty servers.
func (w *World) Empty(i int) bool {
	empty := World{Servers: w.Servers, Apps: append([]App(nil), w.Apps...)}
	for v := range empty.Apps {
		empty.Apps[v].Places = nil
	}
	return empty.hasRoom(i)
}

// Reserved is what is kept for application I: containers by server, nil where a ceiling is what it waits for, until the applications in For
// have ended, at a time.
type Reserved struct {
	I      int
	Places []int64
	For    []int
	At     float64
}

// exempt reports whether application i may have what is kept: it is what it is for, is waited for, or has ended by a time that is known.
func (w *World) exempt(v *Reserved, i int) bool {
	known := i == v.I || w.Apps[i].Ends <= v.At && !math.IsInf(v.At, 1)
	for _, f := range v.For {
		known = known || f == i
	}
	return known
}

// kept is by kind what of the reservation is not held by those in For, at places of an application.
func (w *World) kept(v *Reserved, n int64, at func(places []int64, f int) int64) []int64 {
	kept := make([]int64, len(w.Servers[0]))
	for k := range kept {
		kept[k] = n * w.Apps[v.I].Demand[k]
		for _, f := range v.For {
			kept[k] -= at(w.Apps[f].Places, f) * w.Apps[f].Demand[k]
		}
		kept[k] = max(0, kept[k])
	}
	return kept
}

func (w *World) keptOn(v *Reserved, j int) []int64 {
	if v.Places == nil {
		return make([]int64, len(w.Servers[0]))
	}
	return w.kept(v, v.Places[j], func(places []int64, _ int) int64 {
		if places == nil {
			return 0
		}
		return places[j]
	})
}

// keptBelow is what is kept below the ceiling of queue q, where that is above I.
func (w *World) keptBelow(v *Reserved, q int) []int64 {
	if !w.under(v.I, q) {
		return make([]int64, len(w.Servers[0]))
	}
	return w.kept(v, w.Apps[v.I].Least, func(places []int64, f int) int64 {
		if !w.under(f, q) {
			return 0
		}
		return containers(places)
	})
}

// under reports whether application i is below queue q.
func (w *World) under(i, q int) bool {
	for _, up := range w.above(i) {
		if up == q {
			return true
		}
	}
	return false
}

// Kept reports whether what is reserved is free, on servers and below ceilings, of all that may not have it.
func (w *World) Kept(list []Reserved) bool {
	for n := range list {
		v, others := &list[n], *w
		others.Apps = append([]App(nil), w.Apps...)
		for i := range w.Apps {
			if w.exempt(v, i) && i != v.I && !slices.Contains(v.For, i) {
				others.Apps[i].Places = nil
			}
		}
		for j, capacity := range w.Servers {
			for k, kept := range w.keptOn(v, j) {
				for _, app := range others.Apps {
					if app.Places != nil {
						kept += app.Places[j] * app.Demand[k]
					}
				}
				if kept > capacity[k] {
					return false
				}
			}
		}
		for q := range w.Queues {
			for k, kept := range w.keptBelow(v, q) {
				if ceiling := w.Queues[q].Ceiling; ceiling != nil && w.Apps[v.I].Demand[k] > 0 && kept+others.used(q, 0, 0)[k] > ceiling[k] {
					return false
				}
			}
		}
	}
	return true
}

// FitsBeside reports whether the fewest containers of application i fit what is free and not kept from it. It may break what is reserved for
// another one, where its queue stays within its guarantee and the other would not.
func (w *World) FitsBeside(i int, list []Reserved) bool {
	less := *w
	less.Servers, less.Queues = make([][]int64, len(w.Servers)), append([]Queue(nil), w.Queues...)
	for j := range w.Servers {
		less.Servers[j] = append([]int64(nil), w.Servers[j]...)
	}
	for q := range less.Queues {
		if w.Queues[q].Ceiling != nil {
			less.Queues[q].Ceiling = append([]int64(nil), w.Queues[q].Ceiling...)
		}
	}
	for n := range list {
		v := &list[n]
		if w.exempt(v, i) || w.MayBreak(i, v.I) {
			continue
		}
		for j := range less.Servers {
			for k, kept := range w.keptOn(v, j) {
				less.Servers[j][k] -= kept
			}
		}
		for q := range less.Queues {
			for k, kept := range w.keptBelow(v, q) {
				if less.Queues[q].Ceiling != nil {
					less.Queues[q].Ceiling[k] -= kept
				}
			}
		}
	}
	if !less.hasRoom(i) {
		return false
	}
	less.Apps = append([]App(nil), w.Apps...)
	less.Apps[i].Places = append(make([]int64, len(w.Servers)-1), w.Apps[i].Least)
	return less.below(i)
}

// Entitled reports whether the queue of application i, at the fork with o, stays within its guarantee with its fewest containers.
func (w *World) Entitled(i, o int) bool {
	a, _ := w.fork(i, o)
	return a >= 0 && w.holds(a, i, w.Apps[i].Least)
}

// fork returns the queues above two applications that have one parent, -1 where both are of one leaf.
func (w *World) fork(i, o int) (a, b int) {
	for _, a := range w.above(i) {
		for _, b := range w.above(o) {
			if a != b && w.Queues[a].Parent == w.Queues[b].Parent {
				return a, b
			}
		}
	}
	return -1, -1
}

// MayHasten reports whether o, of another leaf, may have been shrunk for application i, which waits: what it has lost is off.
func (w *World) MayHasten(i, o int) bool {
	a, b := w.fork(i, o)
	return w.spared(o, b) && (w.Entitled(i, o) || w.ByLevel && w.level(a, i, w.Apps[i].Least) <= w.level(b, o, 0))
}

// CouldHasten reports whether the fewest containers of application i would have room if all in give had their fewest, wherever.
func (w *World) CouldHasten(i int, give []int) bool {
	if len(give) == 0 {
		return w.hasRoom(i)
	}
	rest := *w
	for _, left := range fewer(w.Apps[give[0]].Places) {
		if containers(left) != w.Apps[give[0]].Least {
			continue
		}
		rest.Apps = append([]App(nil), w.Apps...)
		rest.Apps[give[0]].Places = left
		if rest.CouldHasten(i, give[1:]) {
			return true
		}
	}
	return false
}
