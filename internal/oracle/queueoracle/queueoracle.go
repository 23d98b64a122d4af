// Package queueoracle answers who is asked next and who may be taken from by trying everything, [Program §7]. It is the twin of the
// order of admission in package alloc, and shares nothing with it.
package queueoracle

import (
	"math"
	"slices"
)

// Queue is a node of a tree. Parent is the position of the queue above it, -1 where there is none.
type Queue struct {
	Parent    int
	Weight    float64
	Usage     float64
	Guarantee []int64 // nil: none of its own
	Ceiling   []int64 // nil: none
}

// App is an application of a leaf: with nothing in Places it waits, in the order of the list.
type App struct {
	Queue       int
	Demand      []int64
	Least       int64 // its fewest containers
	Priority    int64
	Preemptible bool
	Places      []int64 // containers by server; nil: it waits
	MaxServers  int64   // on how many servers it may be; 0: on any number
	Within      []int   // by server: the domain that all of it must be in, negative for none; nil: it may be anywhere
	Slices      []int   // by server: the domain that each slice must be in; nil: it has none
	Slice       int64   // containers of a slice
	Ends        float64 // from now; +Inf: nobody knows
	Overdue     float64 // how much more than its patience was let in past it; negative: it is not due
	Had         int     // its place among those that had a reservation before, from 1; 0: it had none
}

// World is a cluster with its queues and applications. What queues state is what they have: the sums do not exceed the cluster.
type World struct {
	Servers [][]int64 // capacity by kind
	Queues  []Queue
	Apps    []App
	Preempt bool
	ByLevel bool
	Most    int   // for how many room may be reserved; 0: for one
	Holders []int // those for which room is reserved
	Tried   []int // those for which it was
}

// guarantee is what queue q states, or the sum of those below it.
func (w *World) guarantee(q int) []int64 {
	if w.Queues[q].Guarantee != nil {
		return w.Queues[q].Guarantee
	}
	var sum []int64
	for c := range w.Queues {
		if w.Queues[c].Parent != q {
			continue
		}
		if below := w.guarantee(c); below != nil {
			if sum == nil {
				sum = make([]int64, len(below))
			}
			for k := range below {
				sum[k] += below[k]
			}
		}
	}
	return sum
}

// above lists the queues above an application, the lowest first.
func (w *World) above(i int) []int {
	var list []int
	for q := w.Apps[i].Queue; q >= 0; q = w.Queues[q].Parent {
		list = append(list, q)
	}
	return list
}

// used is what the applications below queue q have, and n containers of application more beside.
func (w *World) used(q, more int, n int64) []int64 {
	used := make([]int64, len(w.Servers[0]))
	for i := range w.Apps {
		below := false
		for _, up := range w.above(i) {
			below = below || up == q
		}
		if !below {
			continue
		}
		has := containers(w.Apps[i].Places)
		if i == more {
			has += n
		}
		for k, d := range w.Apps[i].Demand {
			used[k] += has * d
		}
	}
	return used
}

// holds: queue q has a guarantee, and with n more containers of application i no more than that of any kind they demand.
func (w *World) holds(q, i int, n int64) bool {
	guarantee := w.guarantee(q)
	if guarantee == nil {
		return false
	}
	for k, u := range w.used(q, i, n) {
		if w.Apps[i].Demand[k] > 0 && u > guarantee[k] {
			return false
		}
	}
	return true
}

// Within reports whether the fewest containers of application i stay within all guarantees above it, and there is one.
func (w *World) Within(i int) bool {
	guaranteed := false
	for _, q := range w.above(i) {
		if w.guarantee(q) != nil {
			guaranteed = true
			if !w.holds(q, i, w.Apps[i].Least) {
				return false
			}
		}
	}
	return guaranteed
}

// Restrains reports whether application i, which waits, stays within its guarantee, and so below all ceilings but for what Holders have there,
// while v is beyond its own, and both demand a kind: v may not have grown.
func (w *World) Restrains(i, v int) bool {
	beyond, shared := true, false
	for _, q := range w.above(v) {
		if w.guarantee(q) != nil {
			beyond = false
		}
	}
	for _, q := range w.above(v) {
		beyond = beyond || w.guarantee(q) != nil && !w.holds(q, v, 0)
	}
	for k, d := range w.Apps[i].Demand {
		shared = shared || d > 0 && w.Apps[v].Demand[k] > 0
	}
	return w.Apps[i].Places == nil && beyond && shared && w.Within(i) && !w.heldBelow(i, v)
}

// heldBelow reports whether one of the Holders leaves application i no room below a ceiling that is not above v.
func (w *World) heldBelow(i, v int) bool {
	for _, h := range w.Holders {
		for _, q := range w.above(i) {
			if h == i || w.Queues[q].Ceiling == nil || !slices.Contains(w.above(h), q) || slices.Contains(w.above(v), q) {
				continue
			}
			for k, u := range w.used(q, h, w.Apps[h].Least) {
				if d := w.Apps[i].Demand[k]; d > 0 && u+d*w.Apps[i].Least > w.Queues[q].Ceiling[k] {
					return true
				}
			}
		}
	}
	return false
}

// level is the largest part of the cluster that queue q has, over its weight.
func (w *World) level(q, more int, n int64) float64 {
	part := 0.0
	for k, u := range w.used(q, more, n) {
		total := int64(0)
		for _, server := range w.Servers {
			total += server[k]
		}
		if total > 0 {
			part = math.Max(part, float64(u)/float64(total))
		}
	}
	return (part + w.Queues[q].Usage) / w.Queues[q].Weight
}

// Next returns who is asked next among those that wait, or -1. Room is reserved for one first, where none is.
func (w *World) Next() int {
	w.reserve()
	for _, within := range []bool{true, false} {
		for _, h := range w.Holders {
			if w.Apps[h].Places == nil && w.Within(h) == within {
				return h
			}
		}
		if i := w.next(-1, within); i >= 0 {
			return i
		}
	}
	return -1
}

// next is Next below queue q, among those within guarantees alone or all.
func (w *World) next(q int, within bool) int {
	best, rank := -1, math.Inf(1)
	for c := range w.Queues {
		if w.Queues[c].Parent != q {
			continue
		}
		i := w.next(c, within)
		if i < 0 {
			continue
		}
		x := w.level(c, i, 0)
		if within {
			x = w.part(c)
		}
		if best < 0 || x < rank || x == rank && i < best {
			best, rank = i, x
		}
	}
	// Below a leaf it is the one that has been due longest, then of the highest priority, and of equals the first.
	for i := range w.Apps {
		app := &w.Apps[i]
		if q >= 0 && app.Queue == q && app.Places == nil && (!within || w.Within(i)) && (best < 0 || w.before(i, best)) {
			best = i
		}
	}
	return best
}

// part is how much of its guarantee a queue uses; queues without one come after all that have one, by level.
func (w *World) part(q int) float64 {
	guarantee := w.guarantee(q)
	if guarantee == nil {
		return 1e6 + w.level(q, 0, 0)
	}
	part := 0.0
	for k, u := range w.used(q, 0, 0) {
		if guarantee[k] > 0 {
			part = math.Max(part, float64(u)/float64(guarantee[k]))
		}
	}
	return part
}

// MayTake reports whether application i may have taken what application v has lost, all that it had or a part: i is in, and all that
// was taken is off.
func (w *World) MayTake(i, v int, all bool) bool {
	a, b := w.fork(i, v)
	if a < 0 {
		return all && w.Preempt && w.Apps[i].Priority > w.Apps[v].Priority
	}
	return w.spared(v, b) && (w.holds(a, i, 0) || all && w.ByLevel && w.Preempt && w.level(a, i, 0) <= w.level(b, v, 0))
}

// spared reports whether every queue above application v, up to b, uses no less than its guarantee of a kind that v demands.
func (w *World) spared(v, b int) bool {
	for _, q := range w.above(v) {
		guarantee := w.guarantee(q)
		beyond := guarantee == nil
		for k, u := range w.used(q, 0, 0) {
			beyond = beyond || w.Apps[v].Demand[k] > 0 && u >= guarantee[k]
		}
		if !beyond {
			return false
		}
		if q == b {
			break
		}
	}
	return true
}

// MayBreak reports whether application i, which waits, may be put on what is reserved for h: at the fork its queue stays within its guarantee
// and that of h would not.
func (w *World) MayBreak(i, h int) bool {
	_, b := w.fork(i, h)
	return b >= 0 && w.Within(i) && w.Entitled(i, h) && !w.holds(b, h, w.Apps[h].Least)
}

// Fewest returns how many applications have to be suspended at least so that application i gets its fewest containers, and the
// lowest priority such that none above it need be; ok is false where there is no way. It tries every set of those that may be
// suspended, of the others every number of containers that may be taken, and every place.
func (w *World) Fewest(i int) (priority int64, suspended int, ok bool) {
	s := &search{World: *w, i: i, priority: math.MaxInt64}
	s.Apps = append([]App(nil), w.Apps...)
	s.take(0, nil, math.MinInt64)
	return s.priority, s.suspended, s.priority < math.MaxInt64
}

// search is what Fewest has found so far.
type search struct {
	World
	i         int
	priority  int64
	suspended int
}

// take tries everything with application v and those after it. Lost are those before it that have lost something, priority is the
// highest of those that have lost all.
func (s *search) take(v int, lost []int, priority int64) {
	if v == len(s.Apps) {
		s.place(lost, priority)
		return
	}
	app := s.Apps[v]
	s.take(v+1, lost, priority)
	if v == s.i || app.Places == nil {
		return
	}
	with := append(append([]int(nil), lost...), v)
	if app.Queue != s.Apps[s.i].Queue {
		for _, left := range fewer(app.Places) {
			if containers(left) >= app.Least && containers(left) < containers(app.Places) {
				s.Apps[v].Places = left
				s.take(v+1, with, priority)
			}
		}
	}
	if s.Preempt && app.Preemptible {
		s.Apps[v].Places = make([]int64, len(app.Places))
		s.take(v+1, with, max(priority, app.Priority))
	}
	s.Apps[v] = app
}

// fewer lists all ways to have at most so many containers on each server.
func fewer(places []int64) [][]int64 {
	if len(places) == 0 {
		return [][]int64{nil}
	}
	var all [][]int64
	for _, rest := range fewer(places[1:]) {
		for n := int64(0); n <= places[0]; n++ {
			all = append(all, append([]int64{n}, rest...))
		}
	}
	return all
}

// containers counts those on all servers.
func containers(places []int64) (sum int64) {
	for _, n := range places {
		sum += n
	}
	return sum
}

// place puts the application wherever there is room, and notes how many were suspended if the rules allow all that was lost.
func (s *search) place(lost []int, priority int64) {
	app := &s.Apps[s.i]
	places, need := make([]int64, len(s.Servers)), app.Least
	for j := range s.Servers {
		places[j] = min(need, s.room(j, app.Demand))
		need -= places[j]
	}
	if need > 0 {
		return
	}
	app.Places = places
	legal, suspended := s.below(s.i), 0
	for _, v := range lost {
		all := containers(s.Apps[v].Places) == 0
		if all {
			suspended++
		}
		legal = legal && s.MayTake(s.i, v, all)
	}
	app.Places = nil
	if legal && (priority < s.priority || priority == s.priority && suspended < s.suspended) {
		s.priority, s.suspended = priority, suspended
	}
}

// below reports whether all ceilings above application i are held in the kinds that it demands.
func (w *World) below(i int) bool {
	for _, q := range w.above(i) {
		for k, u := range w.used(q, i, 0) {
			if w.Queues[q].Ceiling != nil && w.Apps[i].Demand[k] > 0 && u > w.Queues[q].Ceiling[k] {
				return false
			}
		}
	}
	return true
}

// room is how many containers of a demand server j has room for beside all that run.
func (w *World) room(j int, demand []int64) int64 {
	room := int64(math.MaxInt64)
	for k, d := range demand {
		left := w.Servers[j][k]
		for _, app := range w.Apps {
			if app.Places != nil {
				left -= app.Places[j] * app.Demand[k]
			}
		}
		if d > 0 {
			room = min(room, max(0, left)/d)
		}
	}
	return room
}
