// This file says for how many more containers a server has room, (6) and (G) of [Program §2].

package search

import "math"

// space returns how many more containers of type t server j has the resources for.
func (s *State) space(j int, t int32) int64 {
	// n stays at MaxInt64 only for a demand of nothing, which instances do not have.
	n := int64(math.MaxInt64)
	k0 := j * s.p.Kinds
	for k, q := range s.p.DemandOf(t) {
		if q > 0 {
			// left < q includes a left below 0, for which the division would round towards 0.
			if s.left[k0+k] < q {
				return 0
			}
			n = min(n, s.left[k0+k]/q)
		}
	}
	return n
}

// room returns how many more containers of type t may be placed on server j.
func (s *State) room(j int, t int32) int64 {
	n := s.space(j, t)
	// In the paper's P2 every server is open to everybody and no count on it is limited.
	if n > 0 && !s.p.Plain {
		n = min(n, s.leave(j, t))
	}
	return n
}

// leave returns how many more containers of type t may be on server j, whatever room there is.
func (s *State) leave(j int, t int32) int64 {
	if s.p.Fit(j, t) == 0 {
		return 0 // it is not open
	}
	if !s.p.Types[t].Limited() {
		return math.MaxInt64
	}
	return min(s.p.Below(t, s.below), s.spreadable(j, t))
}

// spreadable returns how many more containers of type t may be on server j as far as its own limits say.
func (s *State) spreadable(j int, t int32) int64 {
	demanded := &s.p.Types[t]
	if demanded.Own == nil {
		return math.MaxInt64
	}
	here := s.countOn(j, t)
	// A new server counts against MaxServers, one more container on an old one does not.
	if most := demanded.Own.MaxServers; most > 0 && here == 0 && int64(len(s.hosts[t])) >= most {
		return 0
	}
	if most := demanded.Own.PerServer; most > 0 {
		return max(0, most-here)
	}
	return math.MaxInt64
}

// mayHold reports whether one more container of type t may be on server j if others make room.
func (s *State) mayHold(j int, t int32) bool {
	return s.p.Fit(j, t) > 0 && (s.p.Plain || s.spreadable(j, t) > 0)
}

// fitsOne reports whether one more container of type t may be placed on server j.
func (s *State) fitsOne(j int, t int32) bool { return s.takesOne(j, t, s.p.DemandOf(t)) }

// takesOne is fitsOne where the demand of t is at hand.
func (s *State) takesOne(j int, t int32, demand []int64) bool {
	return holdsOne(s.left[j*len(demand):], demand) && (s.p.Plain || s.leave(j, t) > 0)
}

// holdsOne reports whether demand is within what is left of a server, the beginning of left: the innermost test of a fill.
func holdsOne(left, demand []int64) bool {
	left = left[:len(demand)]
	// What is left is at least 0, so that no difference overflows, and the sign of all together tells without a branch for each kind.
	var short int64
	for k, q := range demand {
		short |= left[k] - q
	}
	return short >= 0
}

// countOn returns the free containers of type t on server j; those of kept applications do not count.
func (s *State) countOn(j int, t int32) int64 {
	for _, sl := range s.on[j] {
		if sl.Type == t {
			return sl.Count
		}
	}
	return 0
}
