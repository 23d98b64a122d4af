// This file implements the moves that change who is free: which applications, at most as many as the
// adjustment budget (16) allows, give up what they hold.

package search

// exchange changes who is free: one to three residents are freed in exchange for as many that go
// back to what they held.
func (a *Annealer) exchange() bool {
	s, p := a.S, a.S.p
	if s.Freed > p.Budget {
		return a.unblock()
	}
	// Mostly one for one; several at once where they sit together on one scarce server.
	n := int64(1)
	if a.rng.Below(4) == 0 {
		n += int64(a.rng.Below(2)) + 1
	}
	n = min(n, p.Budget)
	if n == 0 {
		return false
	}
	for need := s.Freed + n - p.Budget; need > 0; need-- {
		if !a.keepOne() {
			return false
		}
	}
	if n > 1 || a.rng.Below(3) == 0 {
		return a.freeResidents(n)
	}
	a.freeApp(a.pickKept())
	return true
}

// unblock lowers the number of freed applications where servers shrank below what their residents
// hold: one that stays may have to go so that two others can stay.
func (a *Annealer) unblock() bool {
	if a.rng.Below(2) == 0 {
		return a.keepOne()
	}
	if !a.freeResidents(1) {
		return false
	}
	if !a.keepOne() {
		return false
	}
	journal := len(a.S.journal)
	return a.keepOne() || len(a.S.journal) == journal
}

// pickKept returns a kept application: the best of three by score, or any.
func (a *Annealer) pickKept() int32 {
	best := a.randomKept()
	if a.rng.Below(4) == 0 {
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
func (a *Annealer) randomKept() int32 {
	for {
		if i := a.pinnables[a.rng.Below(len(a.pinnables))]; !a.S.free[i] {
			return i
		}
	}
}

// freeResidents frees up to n kept applications that sit together on one server.
func (a *Annealer) freeResidents(n int64) bool {
	s := a.S
	j := a.rng.Below(s.p.Servers)
	residents := s.p.Residents[j]
	if len(residents) == 0 {
		return false
	}
	start := a.rng.Below(len(residents))
	for at := range residents {
		if i := residents[(start+at)%len(residents)]; n > 0 && !s.free[i] {
			a.freeApp(i)
			n--
		}
	}
	return true
}

// freeApp frees a kept application and touches the servers it is on.
func (a *Annealer) freeApp(i int32) {
	s := a.S
	s.unpin(i)
	s.journal = append(s.journal, op{i, -1, 1})
	t := s.p.Apps[i].Type
	for _, placed := range s.p.Inst.Apps[i].Previous {
		s.place(placed.Server, t, -placed.Count)
	}
}

// keepOne sends a free application back to what it held: the worse of two by score, or any.
func (a *Annealer) keepOne() bool {
	pick := int32(-1)
	for tries := 0; tries < 2; tries++ {
		at := a.rng.Below(len(a.pinnables))
		for range a.pinnables {
			if a.mayKeep(a.pinnables[at]) {
				break
			}
			at = (at + 1) % len(a.pinnables)
		}
		i := a.pinnables[at]
		if !a.mayKeep(i) {
			return false
		}
		if pick < 0 || a.score[i] < a.score[pick] {
			pick = i
		}
		if a.rng.Below(2) == 0 {
			break
		}
	}
	return a.keepApp(pick)
}

// mayKeep reports whether application i is free and was not freed by this very move.
func (a *Annealer) mayKeep(i int32) bool {
	if !a.S.free[i] {
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
func (a *Annealer) keepApp(i int32) bool {
	s := a.S
	t := s.p.Apps[i].Type
	for _, placed := range s.p.Inst.Apps[i].Previous {
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
func (a *Annealer) displace() bool {
	s := a.S
	var t int32
	a.fresh = a.fresh[:0]
	if s.Freed < s.p.Pinnable && (len(s.active) == 0 || a.rng.Below(2) == 0) {
		i := a.pickKept()
		t = s.p.Apps[i].Type
		a.release(i)
	} else {
		t = s.active[a.rng.Below(len(s.active))]
	}
	if s.pools[t].N >= s.pools[t].Max {
		return false
	}
	// A server that others hold and that could take the type, if one is soon found.
	j := a.rng.Below(s.p.Servers)
	for range a.tune.Homes {
		if s.p.Fit(j, t) > 0 && len(s.p.Residents[j]) > 0 {
			break
		}
		j = a.rng.Below(s.p.Servers)
	}
	for s.p.Fit(j, t) > 0 && !a.makeRoom(j, t, 1) {
		if int64(len(a.fresh)) >= s.p.Budget || !a.releaseResident(j) {
			return false
		}
	}
	if !s.fitsOne(j, t) {
		return false
	}
	s.place(j, t, 1)
	// Back within the budget, but not by keeping those that have just made way.
	for s.Freed > s.p.Budget {
		if !a.keepOne() {
			return false
		}
	}
	return true
}

// release frees application i and leaves its containers where they are.
func (a *Annealer) release(i int32) {
	a.fresh = append(a.fresh, i)
	a.S.unpin(i)
	a.S.journal = append(a.S.journal, op{i, -1, 1})
}

// releaseResident releases a random kept application on server j.
func (a *Annealer) releaseResident(j int) bool {
	residents := a.S.p.Residents[j]
	if len(residents) == 0 {
		return false
	}
	start := a.rng.Below(len(residents))
	for at := range residents {
		if i := residents[(start+at)%len(residents)]; !a.S.free[i] {
			a.release(i)
			return true
		}
	}
	return false
}

// shed removes the containers of type t that exceed the maxima of those left in the pool, and with
// them about what the kept application had elsewhere.
func (a *Annealer) shed(t int32) {
	s := a.S
	q := &s.pools[t]
	for j := a.rng.Below(s.p.Servers); q.N > q.Max; j++ {
		if j == s.p.Servers {
			j = 0
		}
		if n := min(s.countOn(j, t), q.N-q.Max); n > 0 {
			s.place(j, t, -n)
		}
	}
}
