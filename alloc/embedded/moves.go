// This file implements the ruin half: the moves that take containers away or change who is free.

package embedded

// ruin makes one random move. It reports false where the move was not possible; the caller then
// undoes what it did.
func (a *annealer) ruin() bool {
	a.filled, a.fresh = 0, a.fresh[:0]
	if a.s.p.budget > 0 && (len(a.s.active) == 0 || a.rng.below(2) == 0) {
		if a.rng.below(2) == 0 {
			return a.displace()
		}
		return a.exchange()
	}
	switch a.rng.below(8) {
	case 0, 1, 2:
		return a.ruinServers()
	case 3:
		return a.ruinType()
	default:
		return a.eject()
	}
}

// ruinServers clears one to three servers of their free containers, wholly or by half.
func (a *annealer) ruinServers() bool {
	for range 1 + a.rng.below(3) {
		j := a.rng.below(a.s.p.servers)
		a.clear(j, a.rng.below(2) == 0)
		a.s.touch(j)
	}
	return true
}

// clear removes the free containers of server j; by half: of each type with even odds.
func (a *annealer) clear(j int, half bool) {
	s := a.s
	for at := len(s.on[j]) - 1; at >= 0; at-- {
		sl := s.on[j][at]
		n := sl.count
		if half {
			n = min(n, int64(float64(a.rng.float()*float64(n+1))))
		}
		if n > 0 {
			s.place(j, sl.typ, -n)
		}
	}
}

// ruinType removes a type from about half of the servers it is on.
func (a *annealer) ruinType() bool {
	s := a.s
	t := s.active[a.rng.below(len(s.active))]
	if s.pools[t].n == 0 {
		return false
	}
	limit := 1 + a.rng.below(6)
	start := a.rng.below(s.p.servers)
	for at := range s.p.servers {
		j := (start + at) % s.p.servers
		if n := s.countOn(j, t); n > 0 && a.rng.below(2) == 0 {
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
func (a *annealer) eject() bool {
	s := a.s
	t := s.active[a.rng.below(len(s.active))]
	q := &s.pools[t]
	if q.n >= q.max {
		return false
	}
	for range homes {
		j := a.rng.below(s.p.servers)
		if s.p.fit(j, t) > 0 && a.makeRoom(j, t, 1) {
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
func (a *annealer) makeRoom(j int, t int32, n int64) bool {
	s := a.s
	k0 := j * s.p.kinds
	for k, q := range s.p.demandOf(t) {
		for short := n*q - s.left[k0+k]; short > 0; short = n*q - s.left[k0+k] {
			victim := a.victim(j, t, k)
			if victim < 0 {
				return false
			}
			sl := s.on[j][victim]
			each := s.p.demandOf(sl.typ)[k]
			s.place(j, sl.typ, -min(sl.count, (short-1)/each+1))
		}
	}
	return true
}

// victim returns a random slot of server j whose type is not t and uses kind k, or -1.
func (a *annealer) victim(j int, t int32, k int) int {
	s := a.s
	slots := s.on[j]
	if len(slots) == 0 {
		return -1
	}
	start := a.rng.below(len(slots))
	for at := range slots {
		v := (start + at) % len(slots)
		if u := slots[v].typ; u != t && s.p.demandOf(u)[k] > 0 {
			return v
		}
	}
	return -1
}

// exchange changes who is free: one to three lodgers are freed in exchange for as many that go
// back to what they held.
func (a *annealer) exchange() bool {
	s, p := a.s, a.s.p
	if s.freed > p.budget {
		return a.unblock()
	}
	n := int64(1)
	if a.rng.below(4) == 0 {
		n += int64(a.rng.below(2)) + 1
	}
	n = min(n, p.budget)
	if n == 0 {
		return false
	}
	for need := s.freed + n - p.budget; need > 0; need-- {
		if !a.keepOne() {
			return false
		}
	}
	if n > 1 || a.rng.below(3) == 0 {
		return a.freeLodgers(n)
	}
	a.freeApp(a.pickKept())
	return true
}

// unblock lowers the number of freed applications where servers shrank below what their lodgers
// hold: one that stays may have to go so that two others can stay.
func (a *annealer) unblock() bool {
	if a.rng.below(2) == 0 {
		return a.keepOne()
	}
	if !a.freeLodgers(1) {
		return false
	}
	if !a.keepOne() {
		return false
	}
	journal := len(a.s.journal)
	return a.keepOne() || len(a.s.journal) == journal
}

// pickKept returns a kept application: the best of three by score, or any.
func (a *annealer) pickKept() int32 {
	best := a.randomKept()
	if a.rng.below(4) == 0 {
		return best
	}
	for range 2 {
		if i := a.randomKept(); a.score[i] > a.score[best] {
			best = i
		}
	}
	return best
}

// randomKept returns a random kept application; there must be one.
func (a *annealer) randomKept() int32 {
	for {
		if i := a.keepables[a.rng.below(len(a.keepables))]; !a.s.free[i] {
			return i
		}
	}
}

// freeLodgers frees up to n kept applications that sit together on one server.
func (a *annealer) freeLodgers(n int64) bool {
	s := a.s
	j := a.rng.below(s.p.servers)
	lodgers := s.p.lodgers[j]
	if len(lodgers) == 0 {
		return false
	}
	start := a.rng.below(len(lodgers))
	for at := range lodgers {
		if i := lodgers[(start+at)%len(lodgers)]; n > 0 && !s.free[i] {
			a.freeApp(i)
			n--
		}
	}
	return true
}

// freeApp frees a kept application and touches the servers it is on.
func (a *annealer) freeApp(i int32) {
	s := a.s
	s.unpin(i)
	s.journal = append(s.journal, op{i, -1, 1})
	t := s.p.apps[i].typ
	for _, placed := range s.p.inst.Apps[i].Previous {
		s.place(placed.Server, t, -placed.Count)
	}
}

// keepOne sends a free application back to what it held: the worse of two by score, or any.
func (a *annealer) keepOne() bool {
	pick := int32(-1)
	for tries := 0; tries < 2; tries++ {
		at := a.rng.below(len(a.keepables))
		for range a.keepables {
			if a.mayKeep(a.keepables[at]) {
				break
			}
			at = (at + 1) % len(a.keepables)
		}
		i := a.keepables[at]
		if !a.mayKeep(i) {
			return false
		}
		if pick < 0 || a.score[i] < a.score[pick] {
			pick = i
		}
		if a.rng.below(2) == 0 {
			break
		}
	}
	return a.keepApp(pick)
}

// mayKeep reports whether application i is free and was not freed by this very move.
func (a *annealer) mayKeep(i int32) bool {
	if !a.s.free[i] {
		return false
	}
	for _, f := range a.fresh {
		if f == i {
			return false
		}
	}
	return true
}

// keepApp pins application i where it was, evicting free containers that are in its way. It
// reports false where kept ones are.
func (a *annealer) keepApp(i int32) bool {
	s := a.s
	t := s.p.apps[i].typ
	for _, placed := range s.p.inst.Apps[i].Previous {
		need := placed.Count - s.countOn(placed.Server, t)
		if need <= 0 {
			continue
		}
		if !a.makeRoom(placed.Server, t, need) {
			return false
		}
		s.place(placed.Server, t, need)
	}
	s.pin(i)
	s.journal = append(s.journal, op{i, -1, -1})
	a.shed(t)
	return true
}

// displace gives a container of a kept application, freed for that, or of a free one a place on a
// server where others sit: it frees as many of them as it takes, and sends others back to what they
// held. Scarce kinds change hands this way.
func (a *annealer) displace() bool {
	s := a.s
	var t int32
	a.fresh = a.fresh[:0]
	if s.freed < s.p.keepable && (len(s.active) == 0 || a.rng.below(2) == 0) {
		i := a.pickKept()
		t = s.p.apps[i].typ
		a.release(i)
	} else {
		t = s.active[a.rng.below(len(s.active))]
	}
	if s.pools[t].n >= s.pools[t].max {
		return false
	}
	j := a.rng.below(s.p.servers)
	for range homes {
		if s.p.fit(j, t) > 0 && len(s.p.lodgers[j]) > 0 {
			break
		}
		j = a.rng.below(s.p.servers)
	}
	for s.p.fit(j, t) > 0 && !a.makeRoom(j, t, 1) {
		if int64(len(a.fresh)) >= s.p.budget || !a.releaseLodger(j) {
			return false
		}
	}
	if !s.fitsOne(j, t) {
		return false
	}
	s.place(j, t, 1)
	for s.freed > s.p.budget {
		if !a.keepOne() {
			return false
		}
	}
	return true
}

// release frees application i and leaves its containers where they are.
func (a *annealer) release(i int32) {
	a.fresh = append(a.fresh, i)
	a.s.unpin(i)
	a.s.journal = append(a.s.journal, op{i, -1, 1})
}

// releaseLodger releases a random kept application on server j.
func (a *annealer) releaseLodger(j int) bool {
	lodgers := a.s.p.lodgers[j]
	if len(lodgers) == 0 {
		return false
	}
	start := a.rng.below(len(lodgers))
	for at := range lodgers {
		if i := lodgers[(start+at)%len(lodgers)]; !a.s.free[i] {
			a.release(i)
			return true
		}
	}
	return false
}

// shed removes the containers of type t that exceed the maxima of those left in the pool, and with
// them about what the kept application had elsewhere.
func (a *annealer) shed(t int32) {
	s := a.s
	q := &s.pools[t]
	for j := a.rng.below(s.p.servers); q.n > q.max; j++ {
		if j == s.p.servers {
			j = 0
		}
		if n := min(s.countOn(j, t), q.n-q.max); n > 0 {
			s.place(j, t, -n)
		}
	}
}
