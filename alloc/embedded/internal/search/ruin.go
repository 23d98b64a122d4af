// This file implements the ruin half of ruin and recreate, [Schrimpf00]: the moves that take
// containers away. Each is random, bounded in work, and undone as a whole if it fails.

package search

// ruin makes one random move. It reports false where the move was not possible; the caller then
// undoes what it did.
func (a *Annealer) ruin() bool {
	a.filled, a.fresh = 0, a.fresh[:0]
	// Who is free decides most with a previous allocation: half of the moves.
	a.exchanged = a.S.p.Budget > 0 && (len(a.S.active) == 0 || a.rng.Below(2) == 0)
	if a.exchanged {
		if a.rng.Below(2) == 0 {
			return a.displace()
		}
		return a.exchange()
	}
	switch a.rng.Below(8) {
	case 0, 1, 2:
		return a.ruinServers()
	case 3:
		return a.ruinType()
	default:
		return a.eject()
	}
}

// ruinServers clears one to three servers of their free containers, wholly or by half.
func (a *Annealer) ruinServers() bool {
	for range 1 + a.rng.Below(3) {
		j := a.rng.Below(a.S.p.Servers)
		a.clear(j, a.rng.Below(2) == 0)
		a.S.touch(j)
	}
	return true
}

// clear removes the free containers of server j; by half: of each type with even odds.
func (a *Annealer) clear(j int, half bool) {
	s := a.S
	for at := len(s.on[j]) - 1; at >= 0; at-- {
		sl := s.on[j][at]
		n := sl.Count
		if half {
			n = min(n, int64(float64(a.rng.Float()*float64(n+1))))
		}
		if n > 0 {
			s.place(j, sl.Type, -n)
		}
	}
}

// ruinType removes a type from about half of the servers it is on.
func (a *Annealer) ruinType() bool {
	s := a.S
	t := s.active[a.rng.Below(len(s.active))]
	if s.pools[t].N == 0 {
		return false
	}
	limit := 1 + a.rng.Below(6) // servers: a type may be on thousands
	start := a.rng.Below(s.p.Servers)
	for at := range s.p.Servers {
		j := (start + at) % s.p.Servers
		if n := s.countOn(j, t); n > 0 && a.rng.Below(2) == 0 {
			s.place(j, t, -n)
			if limit--; limit == 0 {
				break
			}
		}
	}
	return true
}

// eject places a container of a type below its maximum on a random server, evicting what is in
// its way.
func (a *Annealer) eject() bool {
	s := a.S
	t := s.active[a.rng.Below(len(s.active))]
	q := &s.pools[t]
	if q.N >= q.Max {
		return false
	}
	for range a.tune.Homes {
		j := a.rng.Below(s.p.Servers)
		if s.p.Fit(j, t) > 0 && a.makeRoom(j, t, 1) {
			s.place(j, t, 1)
			s.touch(j)
			return true
		}
	}
	return false
}

// makeRoom evicts free containers of other types from server j until n more of type t fit. It
// reports false where the pinned ones and those of type t leave too little. Each round removes at
// least one container.
func (a *Annealer) makeRoom(j int, t int32, n int64) bool {
	s := a.S
	k0 := j * s.p.Kinds
	for k, q := range s.p.DemandOf(t) {
		for short := n*q - s.left[k0+k]; short > 0; short = n*q - s.left[k0+k] {
			victim := a.victim(j, t, k)
			if victim < 0 {
				return false
			}
			sl := s.on[j][victim]
			// As many as the shortage takes, and no more.
			each := s.p.DemandOf(sl.Type)[k]
			s.place(j, sl.Type, -min(sl.Count, (short-1)/each+1))
		}
	}
	return true
}

// victim returns a random slot of server j whose type is not t and uses kind k, or -1.
func (a *Annealer) victim(j int, t int32, k int) int {
	s := a.S
	slots := s.on[j]
	if len(slots) == 0 {
		return -1
	}
	start := a.rng.Below(len(slots))
	for at := range slots {
		v := (start + at) % len(slots)
		if u := slots[v].Type; u != t && s.p.DemandOf(u)[k] > 0 {
			return v
		}
	}
	return -1
}
