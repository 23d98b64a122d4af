// This file finds the server where a container fits best: by a look at all of them, or, where many containers are placed one after
// the other, by a look at each group of servers that have equally much left.

package search

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/internal/remainders"
)

// grouping is about as many looks at a server as it takes to put it into a group, and ungrouped how many fitters group none once most
// servers have been unlike. They change no answer.
const grouping, ungrouped = 10, 30

// fitter finds servers while minima are placed, as long as nothing else changes the state.
type fitter struct {
	a *Annealer
	// groups are nil until looks at all servers have cost as much as grouping them, and once most are unlike.
	groups *remainders.Groups
	scans  int
	looks  int // at servers, so far
	key    []byte
	full   []int32 // types for a container of which no server has room
}

// newFitter returns a fitter for the state as it is.
func (a *Annealer) newFitter() *fitter {
	f := &fitter{a: a}
	if a.unlike > 0 {
		a.unlike--
		f.scans = grouping + 1
	}
	return f
}

// best returns the server on which a container of type t takes the largest part of what is left, ties to the lowest index after a
// random start; -1 where none has room. The random start makes ties fall on different servers: else the first servers of a cluster
// of equal ones would fill first in every state.
func (f *fitter) best(t int32) int {
	start := f.a.rng.Below(f.a.S.p.Servers)
	if f.hopeless(t) {
		return -1
	}
	if f.scans == grouping {
		f.group()
	}
	if f.groups != nil {
		return f.ofGroups(t, start)
	}
	return f.scan(t, start)
}

// fills notes that no server has room for a container of type t, whoever may be there. Containers only come, so that none has from now on.
func (f *fitter) fills(t int32) { f.full = append(f.full, t) }

// hopeless reports whether a container that is no larger than one of type t has found no room.
func (f *fitter) hopeless(t int32) bool {
	demand := f.a.S.p.DemandOf(t)
	return slices.ContainsFunc(f.full, func(less int32) bool { return holdsOne(demand, f.a.S.p.DemandOf(less)) })
}

// home returns the server for the next of need containers of type t, -1 where none has room.
func (f *fitter) home(t int32, need int64) int {
	if f.a.S.spreads(t) {
		return f.whole(t, need)
	}
	return f.best(t)
}

// placed brings the groups up to date about server j.
func (f *fitter) placed(j int) {
	if f.groups == nil {
		return
	}
	f.groups.Remove(j)
	f.groups.Put(j, f.keyOf(j))
	if !f.groups.Few() {
		f.groups, f.a.unlike = nil, ungrouped
	}
}

// group puts all servers into groups, if these are few. O(servers x kinds).
func (f *fitter) group() {
	f.scans++
	f.looks += f.a.S.p.Servers
	groups := remainders.New(f.a.S.p.Servers)
	for j := range f.a.S.p.Servers {
		if groups.Put(j, f.keyOf(j)); !groups.Few() {
			f.a.unlike = ungrouped
			return
		}
	}
	f.groups = groups
}

// keyOf returns what tells server j from those where all containers fit as well, but for limits that say how an application may be
// spread: its shape, its prices, and what it has left.
func (f *fitter) keyOf(j int) []byte {
	s, k0 := f.a.S, j*f.a.S.p.Kinds
	f.key = binary.LittleEndian.AppendUint32(f.key[:0], uint32(s.p.ShapeOf[j]))
	for k := range s.p.Kinds {
		f.key = binary.LittleEndian.AppendUint64(f.key, math.Float64bits(f.a.price[k0+k]))
		f.key = binary.LittleEndian.AppendUint64(f.key, uint64(s.left[k0+k]))
	}
	return f.key
}

// scan is best by a look at all servers from start on.
func (f *fitter) scan(t int32, start int) int {
	s, demand := f.a.S, f.a.S.p.DemandOf(t)
	f.scans++
	f.looks += s.p.Servers
	best, most, room := -1, 0.0, false
	j := start
	for range s.p.Servers {
		at := j
		if j++; j == s.p.Servers {
			j = 0
		}
		if !holdsOne(s.left[at*len(demand):], demand) {
			continue
		}
		if room = true; !s.p.Plain && s.leave(at, t) <= 0 {
			continue
		}
		if part := f.a.partOf(at, t); best < 0 || part > most {
			best, most = at, part
		}
	}
	if !room {
		f.fills(t)
	}
	return best
}

// ofGroups is best by a look at a server of each group, or at those that an application is on and must stay on.
func (f *fitter) ofGroups(t int32, start int) int {
	s := f.a.S
	servers := s.p.Servers
	best, most := -1, 0.0
	consider := func(j int) {
		after := func(j int) int { return (j - start + servers) % servers }
		part := f.a.partOf(j, t)
		if best < 0 || part > most || part == most && after(j) < after(best) {
			best, most = j, part
		}
	}
	own := s.p.Types[t].Own
	if own != nil && own.MaxServers > 0 && int64(len(s.hosts[t])) >= own.MaxServers {
		f.looks += len(s.hosts[t])
		for _, j := range s.hosts[t] {
			if s.fitsOne(int(j), t) {
				consider(int(j))
			}
		}
		return best
	}
	for _, at := range f.groups.Live() {
		first := f.groups.Next(at, start)
		// Servers of a group differ in how many of t they have: those that have as many as they may are passed over.
		for j := first; ; {
			f.looks++
			if s.fitsOne(j, t) {
				consider(j)
				break
			}
			if own == nil || s.countOn(j, t) == 0 {
				break
			}
			if j = f.groups.Next(at, (j+1)%servers); j == first {
				break
			}
		}
	}
	if best < 0 && s.p.Plain {
		f.fills(t)
	}
	return best
}

// partOf returns how much of what is left of server j a container of type t takes, sum_k d_k/left_k, which is largest where least is left
// over; a kind that is nearly used up there weighs most. A thousandth of the price breaks ties between servers of equal room. The
// container must fit, so that no quotient is by 0.
func (a *Annealer) partOf(j int, t int32) float64 {
	left := a.S.left[j*a.S.p.Kinds:]
	var size float64
	for k, q := range a.S.p.DemandOf(t) {
		// A kind that is not demanded may be used up, and 0/0 is not a number.
		if q > 0 {
			size += float64(q) / float64(left[k])
		}
	}
	return size + float64(a.priceOf(j, t)*1e-3)
}
