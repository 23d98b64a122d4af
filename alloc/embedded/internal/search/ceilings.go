// This file holds what the moves of the search do about ceilings of groups, (G) of [Program §2].

package search

// relieve takes free containers away, from a random server on, until no ceiling is exceeded by those that could go. What kept
// applications hold stays; if that alone exceeds a ceiling the state does as well. O(servers x types on them).
func (a *Annealer) relieve(m *move) {
	s := a.S
	// From a random server on, so that it is not always the same ones that lose.
	start := a.rng.Below(s.p.Servers)
	for at := 0; at < s.p.Servers && s.exceeded > 0; at++ {
		j := (start + at) % s.p.Servers
		// Backward, since place moves the last slot into the place of one that becomes empty.
		for sl := len(s.on[j]) - 1; sl >= 0 && s.exceeded > 0; sl-- {
			slot := s.on[j][sl]
			if n := min(slot.Count, a.excess(slot.Type)); n > 0 {
				m.place(j, slot.Type, -n)
			}
		}
	}
}

// excess returns how many containers of type t must go for the ceilings above it to hold, if nothing else goes.
func (a *Annealer) excess(t int32) int64 {
	// Of several ceilings the one that asks for most decides: ceil(-left / units) containers of it must go.
	var most int64
	for _, use := range a.S.p.Types[t].Uses {
		if left := a.S.below[use.Ceiling]; left < 0 {
			most = max(most, (-left-1)/use.Units+1)
		}
	}
	return most
}

// giveWay makes room for a container of type t below the ceilings above it: free containers of other types go, from
// a few servers, one after the other from a random one on. It reports whether there is room. What has gone stays away even
// where there is none at the end: the move as a whole is judged, and undone if it is no good.
func (a *Annealer) giveWay(m *move, t int32) bool {
	s := a.S
	start := a.rng.Below(s.p.Servers)
	for at := range min(a.tune.Homes, s.p.Servers) {
		if s.p.Below(t, s.below) > 0 {
			return true
		}
		j := (start + at) % s.p.Servers
		for sl := len(s.on[j]) - 1; sl >= 0; sl-- {
			// Containers of t itself would only make room for one of their own.
			if slot := s.on[j][sl]; slot.Type != t {
				if n := min(slot.Count, a.inTheWay(t, slot.Type)); n > 0 {
					m.place(j, slot.Type, -n)
				}
			}
		}
	}
	return s.p.Below(t, s.below) > 0
}

// inTheWay returns how many containers of type u must go for one of type t, as far as u uses the same ceilings.
func (a *Annealer) inTheWay(t, u int32) int64 {
	var most int64
	for _, use := range a.S.p.Types[t].Uses {
		// short is what the ceiling lacks for one container of t, and 0 or less where it has enough.
		short := use.Units - a.S.below[use.Ceiling]
		for _, other := range a.S.p.Types[u].Uses {
			if short > 0 && other.Ceiling == use.Ceiling {
				most = max(most, (short-1)/other.Units+1)
			}
		}
	}
	return most
}
