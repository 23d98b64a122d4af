// This file implements the moves that change who is free: which applications, at most as many as the
// adjustment budget (16) allows, give up what they hold.

package embedded

// exchange changes who is free: one to three lodgers are freed in exchange for as many that go
// back to what they held.
func (a *annealer) exchange() bool {
	s, p := a.s, a.s.p
	if s.freed > p.budget {
		return a.unblock()
	}
	// Mostly one for one; several at once where they sit together on one scarce server.
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
	// A server that others hold and that could take the type, if one is soon found.
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
	// Back within the budget, but not by keeping those that have just made way.
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
