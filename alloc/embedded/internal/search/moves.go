// This file implements the moves of the search by ruin and recreate, [Schrimpf00]: which there are, and their
// ruin half, which takes containers away, on servers or from applications. Each is random and bounded in work.

package search

import (
	"context"
	"slices"
)

// propose makes a random move on the state, and returns it and whether it was possible; what was done of one
// that was not has to be taken back all the same. A move that changes who is free is repaired, with hope: it
// may be that far behind least at first.
func (a *Annealer) propose(least, hope float64) (m *move, possible bool) {
	m = a.move.begin(a.S)
	a.Work++
	// Who is free decides most with a previous allocation: half of the moves.
	// Without active types a move on containers has nothing to move, and every move is about who is free.
	gathers := a.S.torn != nil && a.rng.Below(3) == 0
	exchanged := !gathers && a.S.p.Budget > 0 && (len(a.S.active) == 0 || a.rng.Below(2) == 0)
	first := a.rng.Below(2) == 0
	switch {
	case gathers:
		possible = a.gather(m)
		exchanged = len(m.freed) > 0
	case exchanged && first:
		possible = a.displace(m)
	case exchanged:
		possible = a.exchange(m)
	case first:
		possible = a.clearSome(m)
	default:
		possible = a.eject(m)
	}
	if !possible {
		return m, false
	}
	// The context of the search is not passed on: a move is short, and half a move would be judged by what it
	// has not placed yet.
	a.recreate(context.Background(), m)
	if exchanged {
		a.repair(m, least, hope)
	}
	return m, true
}

// repair packs the containers again on the servers that an exchange has touched, and on others at random, until
// the energy is at least least or there is no hope of that: what it may be behind falls to nothing on the way.
// The first packing after an exchange is nearly always worse than the one before, which many moves have
// polished: judged by it, hardly any set of free applications would ever replace another.
func (a *Annealer) repair(m *move, least, hope float64) {
	if len(m.touched) == 0 || len(a.S.active) == 0 {
		return
	}
	// Where numbers have worths each type has one member, so that a try is dear: there are fewer.
	now, most := a.energy(), a.tune.RepairMoves
	if a.S.p.Worthy {
		most = a.tune.WorthRepair
	}
	for n := range most {
		// The n-th of most tries may still be hope (1 - n/most) behind: hopeless exchanges end at once, and
		// nearly as good ones get all tries.
		if now >= least || now < least-float64(hope*(1-float64(n)/float64(most))) {
			return
		}
		part := a.part.begin(a.S)
		// Half of the tries eject, the others empty a server, and so do those whose ejection was not possible.
		if a.rng.Below(2) == 0 || !a.eject(part) {
			j := int(m.touched[a.rng.Below(len(m.touched))])
			// One in four looks elsewhere: what the exchange has set free may be of use on servers that it did
			// not touch.
			if a.rng.Below(4) == 0 {
				j = a.rng.Below(a.S.p.Servers)
			}
			a.clear(part, j)
		}
		a.recreate(context.Background(), part)
		// Equal is accepted: plateaus are crossed, and the loop ends by its count.
		if e := a.energy(); e >= now {
			now = e
			m.add(part)
		} else {
			part.undo()
		}
	}
}

// clearSome clears one to three servers.
func (a *Annealer) clearSome(m *move) bool {
	// One may be drawn twice: then there is nothing left to clear.
	for range 1 + a.rng.Below(3) {
		a.clear(m, a.rng.Below(a.S.p.Servers))
	}
	return true
}

// clear takes the free containers off server j, or, with even odds, a random part of each type.
func (a *Annealer) clear(m *move, j int) {
	// Half a server: some containers stay as the core of another packing.
	half := a.rng.Below(2) == 0
	m.touch(j)
	// Backward, since place moves the last slot into the place of one that becomes empty.
	for at := len(a.S.on[j]) - 1; at >= 0; at-- {
		slot := a.S.on[j][at]
		n := slot.Count
		if half {
			n = min(n, int64(float64(a.rng.Float()*float64(n+1))))
		}
		if n > 0 {
			m.place(j, slot.Type, -n)
		}
	}
}

// eject places a container of a type below its maximum on a random server, and evicts what is in its way. It reports whether it
// has; where it has not, ceilings may have lost containers all the same.
func (a *Annealer) eject(m *move) bool {
	s := a.S
	t := s.active[a.rng.Below(len(s.active))]
	if s.pools[t].N >= s.pools[t].Max || s.p.Below(t, s.below) == 0 && !a.giveWay(m, t) {
		return false
	}
	// Homes servers are tried, and then the move is given up: a type that fits nowhere must not cost a look at
	// all servers.
	for range a.tune.Homes {
		j := a.rng.Below(s.p.Servers)
		if s.mayHold(j, t) && a.makeRoom(m, j, t, 1) {
			m.place(j, t, 1)
			m.touch(j)
			return true
		}
	}
	return false
}

// makeRoom evicts free containers of other types from server j until n more of type t fit. It reports false
// where the pinned ones and those of type t leave too little. Each round removes at least one container, so
// that it ends.
// O(kinds x slots) an eviction. Kinds are made free one after the other; an eviction for one kind can only
// help the others.
func (a *Annealer) makeRoom(m *move, j int, t int32, n int64) bool {
	s := a.S
	for k, q := range s.p.DemandOf(t) {
		for short := n*q - s.left[j*s.p.Kinds+k]; short > 0; short = n*q - s.left[j*s.p.Kinds+k] {
			victim := a.victim(j, t, k)
			if victim < 0 {
				return false
			}
			slot := s.on[j][victim]
			// As many as the shortage takes, and no more.
			// each > 0, as victim chooses types that use k, and ceil(short/each) = (short-1)/each + 1.
			each := s.p.DemandOf(slot.Type)[k]
			m.place(j, slot.Type, -min(slot.Count, (short-1)/each+1))
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
	// From a random slot on: always the first would evict the same type again and again.
	start := a.rng.Below(len(slots))
	for at := range slots {
		v := (start + at) % len(slots)
		if u := slots[v].Type; u != t && s.p.DemandOf(u)[k] > 0 {
			return v
		}
	}
	return -1
}

// exchange changes who is free: one to three residents are freed in exchange for as many that go
// back to what they held.
func (a *Annealer) exchange(m *move) bool {
	s, p := a.S, a.S.p
	// More are freed than (16) allows, since residents did not fit together: nothing else matters before that
	// is repaired.
	if s.Freed > p.Spend {
		return a.unblock(m)
	}
	// Where staying is worth something whoever was freed in vain goes back.
	if p.Stays && a.rng.Below(3) == 0 {
		return a.keepOne(m)
	}
	// Mostly one for one; several at once where they sit together on one scarce server.
	n := int64(1)
	if a.rng.Below(4) == 0 {
		n += int64(a.rng.Below(2)) + 1
	}
	// No exchange frees more than the budget at once.
	n = min(n, p.Budget)
	// First some are kept to make room in the budget, and then as many freed: the order keeps the state within
	// (16) in between.
	for s.Freed+n > p.Spend {
		if !a.keepOne(m) {
			return false
		}
	}
	// One single exchange in three frees by server, so that scores that mislead do not decide alone.
	if n > 1 || a.rng.Below(3) == 0 {
		return a.freeResidents(m, a.rng.Below(p.Servers), n)
	}
	if !a.anyKept() {
		return false
	}
	a.evict(m, a.pickKept())
	return true
}

// unblock lowers the number of freed applications where servers shrank below what their residents
// hold: one that stays may have to go so that two others can stay.
func (a *Annealer) unblock(m *move) bool {
	if a.rng.Below(2) == 0 {
		return a.keepOne(m)
	}
	// One goes and two stay: the number of freed falls by one.
	return a.freeResidents(m, a.rng.Below(a.S.p.Servers), 1) && a.keepOne(m) && a.keepOne(m)
}

// displace gives a container of a kept application, freed for that, or of a free one a place on a server where
// others sit: it frees as many of them as it takes, and sends others back to what they held. Scarce kinds change
// hands this way.
func (a *Annealer) displace(m *move) bool {
	s := a.S
	var t int32
	// With even odds the place is for a kept application, whose own place becomes free that way.
	if a.anyKept() && (len(s.active) == 0 || a.rng.Below(2) == 0) {
		i := a.pickKept()
		t = s.p.Apps[i].Type
		m.free(i)
	} else if len(s.active) > 0 {
		t = s.active[a.rng.Below(len(s.active))]
	} else {
		return false
	}
	if s.pools[t].N >= s.pools[t].Max || s.p.Below(t, s.below) == 0 && !a.giveWay(m, t) {
		return false
	}
	// A server that others hold and that could take the type, if one is soon found.
	j := a.rng.Below(s.p.Servers)
	for range a.tune.Homes {
		if s.mayHold(j, t) && len(s.p.Residents[j]) > 0 {
			break
		}
		j = a.rng.Below(s.p.Servers)
	}
	// A kept one in the way is freed; makeRoom then finds its containers among the free ones. At most Budget
	// rounds.
	for s.mayHold(j, t) && !a.makeRoom(m, j, t, 1) {
		i := a.keptOn(j)
		if i < 0 || int64(len(m.freed)) >= s.p.Budget {
			return false
		}
		m.free(i)
	}
	if !s.fitsOne(j, t) {
		return false
	}
	m.place(j, t, 1)
	// Back within the budget, but not by keeping those that have just made way.
	for s.Freed > s.p.Spend {
		if !a.keepOne(m) {
			return false
		}
	}
	return true
}

// anyKept reports whether somebody is kept who may be freed.
func (a *Annealer) anyKept() bool {
	// Fixed applications are kept but may not be freed.
	fixed := a.S.p.Pinnable - int64(len(a.pinnables))
	return a.S.loose < a.S.p.Pinnable-fixed
}

// pickKept returns a kept application, of which there must be one: the best of three by score, or any.
func (a *Annealer) pickKept() int32 {
	best, draws := int32(-1), 1
	// One in four picks ignores the score, which is only a guide of the root bound.
	if a.rng.Below(4) > 0 {
		draws = 3
	}
	for draws > 0 {
		i := a.pinnables[a.rng.Below(len(a.pinnables))]
		// Rejection is quick, as most are kept; anyKept says that it ends.
		if a.S.free[i] {
			continue
		}
		draws--
		if best < 0 || a.score[i] > a.score[best] {
			best = i
		}
	}
	return best
}

// keptOn returns a random kept application on server j, or -1.
func (a *Annealer) keptOn(j int) int32 {
	residents := a.S.p.Residents[j]
	if len(residents) == 0 {
		return -1
	}
	// Residents are few: the scan from a random one on is O(residents).
	start := a.rng.Below(len(residents))
	for at := range residents {
		if i := residents[(start+at)%len(residents)]; !a.S.free[i] && !a.S.p.Apps[i].Fixed {
			return i
		}
	}
	return -1
}

// freeResidents frees up to n kept applications that sit together on server j.
func (a *Annealer) freeResidents(m *move, j int, n int64) bool {
	// There may be fewer than n; a server without residents is no place to begin, and the move is given up.
	for range n {
		i := a.keptOn(j)
		if i < 0 {
			break
		}
		a.evict(m, i)
	}
	return len(a.S.p.Residents[j]) > 0
}

// evict frees application i and takes its containers away.
func (a *Annealer) evict(m *move, i int32) {
	// Once free, its containers are like all others of its type: those that are where it was go.
	m.free(i)
	t := a.S.p.Apps[i].Type
	for _, placed := range a.S.p.Inst.Apps[i].Previous {
		// free has already removed those on closed servers.
		if a.S.p.Fit(placed.Server, t) > 0 {
			m.place(placed.Server, t, -placed.Count)
		}
	}
}

// keepOne sends a free application, but none that m has freed, back to what it held: the worse of two by
// score, or any.
func (a *Annealer) keepOne(m *move) bool {
	pick := int32(-1)
	// A low score means that prices have seldom freed it, so that it gains least by being free.
	for range 1 + a.rng.Below(2) {
		start := a.rng.Below(len(a.pinnables))
		for at := range a.pinnables {
			i := a.pinnables[(start+at)%len(a.pinnables)]
			if !a.S.free[i] || slices.Contains(m.freed, i) {
				continue
			}
			if pick < 0 || a.score[i] < a.score[pick] {
				pick = i
			}
			break
		}
	}
	return pick >= 0 && a.keepApp(m, pick)
}

// keepApp pins application i where it was, and evicts free containers that are in its way. It
// reports false where kept ones are.
func (a *Annealer) keepApp(m *move, i int32) bool {
	t := a.S.p.Apps[i].Type
	for _, placed := range a.S.p.Inst.Apps[i].Previous {
		// Containers of its type that stand there, whoever's they are, are as good as its own: need is what is
		// missing.
		need := placed.Count - a.S.countOn(placed.Server, t)
		if need <= 0 {
			continue
		}
		// makeRoom spares type t, so that what was gathered for i on one server is not evicted for another.
		if !a.makeRoom(m, placed.Server, t, need) {
			return false
		}
		m.place(placed.Server, t, need)
	}
	// What it had elsewhere as a free application is too much now.
	m.keep(i)
	a.shed(m, t)
	return true
}

// shed removes the containers of type t that exceed the maxima of those left in the pool, and with
// them about what the kept application had elsewhere.
func (a *Annealer) shed(m *move, t int32) {
	s := a.S
	q := &s.pools[t]
	// The start is random, so that no server is always the one that loses; the loop ends, as the pool's
	// containers are on servers.
	for j := a.rng.Below(s.p.Servers); q.N > q.Max; j = (j + 1) % s.p.Servers {
		if n := min(s.countOn(j, t), q.N-q.Max); n > 0 {
			m.place(j, t, -n)
		}
	}
}
