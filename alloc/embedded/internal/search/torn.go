// This file holds what the search does about servers that applications are on beyond the fewest, [Program §14]: it sees what a server more
// costs, and gathers what is torn by moves of whole applications.

package search

// marginOn is margin for a container on server j, which may be a server more for its application.
func (a *Annealer) marginOn(j int, t int32) margin {
	m, s := a.margin(t), a.S
	if s.torn != nil && s.countOn(j, t) == 0 {
		m.value -= s.p.Torn(t, s.pools[t].N+1, int64(len(s.hosts[t]))+1) - s.torn[t]
	}
	return m
}

// spreads reports whether the servers of type t cost something.
func (s *State) spreads(t int32) bool {
	own := s.p.Types[t].Own
	return s.torn != nil && own != nil && own.Spread != nil
}

// whole returns the server for need containers of type t that makes them the fewest parts: one that it is on, else that with the least room
// of those that hold them all, else that with the most; -1 where none has room. Ties go to the first after a random start.
func (f *fitter) whole(t int32, need int64) int {
	s := f.a.S
	best, most := -1, int64(0)
	consider := func(j int) {
		if room := s.room(j, t); room > most && most < need || room >= need && room < most {
			best, most = j, room
		}
	}
	f.looks += len(s.hosts[t])
	for _, j := range s.hosts[t] {
		consider(int(j))
	}
	if best >= 0 {
		return best
	}
	start := f.a.rng.Below(s.p.Servers)
	if f.hopeless(t) {
		return -1
	}
	f.looks += s.p.Servers
	demand, holds := s.p.DemandOf(t), false
	for at := range s.p.Servers {
		if j := (start + at) % s.p.Servers; holdsOne(s.left[j*len(demand):], demand) {
			holds = true
			consider(j)
		}
	}
	if !holds {
		f.fills(t)
	}
	return best
}

// uproot takes the rest of those away that have lost containers that they need, so that they are placed anew as a whole.
func (a *Annealer) uproot(m *move) {
	for _, t := range m.losers() {
		if a.S.spreads(t) && a.S.pools[t].Short() > 0 {
			a.takeAll(m, t)
		}
	}
}

// takeAll takes all free containers of type t away, and returns how many.
func (a *Annealer) takeAll(m *move, t int32) int64 {
	s, n := a.S, a.S.pools[t].N
	for len(s.hosts[t]) > 0 {
		j := int(s.hosts[t][len(s.hosts[t])-1])
		m.place(j, t, -s.countOn(j, t))
	}
	return n
}

// gather gives an application other servers: a torn one, if one is soon found, is cut down to fewer of them, or goes to the few where most of it
// finds room, and what is in its way there goes. It reports whether there was one.
func (a *Annealer) gather(m *move) bool {
	s := a.S
	t := a.pickTorn(m)
	if t < 0 {
		return false
	}
	if len(s.hosts[t]) > 1 && a.rng.Below(3) == 0 {
		a.cut(m, t)
		return true
	}
	need := a.takeAll(m, t)
	if next := s.p.Types[t].Own.AtLeast(max(1, need)); next > 0 {
		need = min(next, s.pools[t].Max)
	}
	// Freeing some more may be what it takes; half of the moves do without.
	free := a.rng.Below(2) == 0
	for parts := 1 + s.p.TornWith(t, need).Fewest; need > 0 && parts > 0; parts-- {
		j := a.home(t, need)
		if j < 0 {
			break
		}
		n := min(need, a.clearFor(m, j, t, need, free))
		if n > 0 {
			m.place(j, t, n)
		}
		need -= n
		m.touch(j)
	}
	for s.Freed > s.p.Spend {
		if !a.keepOne(m) {
			return false
		}
	}
	return true
}

// pickTorn returns the type of an application that is on too many servers, freed for that where it is kept, if a few draws find one, or that
// of any free one; -1: there is none.
func (a *Annealer) pickTorn(m *move) int32 {
	s := a.S
	if len(a.torn) > 0 && s.Freed < s.p.Spend && a.rng.Below(2) == 0 {
		if i := a.torn[a.rng.Below(len(a.torn))]; !s.free[i] {
			m.free(i)
			return s.p.Apps[i].Type
		}
	}
	t := int32(-1)
	for range a.tune.Homes {
		if len(s.active) == 0 {
			break
		}
		if draw := s.active[a.rng.Below(len(s.active))]; s.spreads(draw) {
			if t = draw; s.torn[t] > 0 {
				break
			}
		}
	}
	return t
}

// cut takes the containers of type t off the server that has the fewest of them.
func (a *Annealer) cut(m *move, t int32) {
	s := a.S
	fewest := int(s.hosts[t][0])
	for _, j := range s.hosts[t][1:] {
		if s.countOn(int(j), t) < s.countOn(fewest, t) {
			fewest = int(j)
		}
	}
	m.place(fewest, t, -s.countOn(fewest, t))
}

// home returns that of a few random servers which holds most of need containers of type t if all free containers there go, and of equals that
// where the fewest are in the way; -1: none holds any.
func (a *Annealer) home(t int32, need int64) int {
	s := a.S
	best, most, least := -1, int64(0), int64(0)
	for range a.tune.Homes {
		j := a.rng.Below(s.p.Servers)
		if !s.mayHold(j, t) || s.countOn(j, t) > 0 {
			continue
		}
		n, now := min(need, s.emptied(j, t)), min(need, s.room(j, t))
		if way := n - now; n > most || n == most && n > 0 && way < least {
			best, most, least = j, n, way
		}
	}
	return best
}

// emptied returns how many containers of type t server j has room for without the free containers there.
func (s *State) emptied(j int, t int32) int64 {
	n := s.p.Fit(j, t)
	for k, q := range s.p.DemandOf(t) {
		if q == 0 {
			continue
		}
		left := s.left[j*s.p.Kinds+k]
		for _, slot := range s.on[j] {
			left += slot.Count * s.p.DemandOf(slot.Type)[k]
		}
		n = min(n, max(0, left)/q)
	}
	return n
}

// clearFor makes room for up to n containers of type t on server j, which has none of them, and returns for how many there is room: free ones
// of others go, and, if free, kept ones as far as the budget allows.
func (a *Annealer) clearFor(m *move, j int, t int32, n int64, free bool) int64 {
	s := a.S
	for free && s.emptied(j, t) < min(n, s.p.Fit(j, t)) && s.Freed < s.p.Spend {
		i := a.keptOn(j)
		if i < 0 {
			break
		}
		m.free(i)
	}
	if n = min(n, s.emptied(j, t), s.leave(j, t)); n > 0 && !a.makeRoom(m, j, t, n) {
		return 0
	}
	return n
}
