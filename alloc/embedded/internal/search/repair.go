// This file packs the containers again around an exchange of who is free. The first packing after an
// exchange is nearly always worse than the one before, which many moves have polished: judged by it,
// hardly any set of free applications would ever replace another.

package search

// repair improves the packing on the servers around an exchange and at random others, until the energy
// is at least least or there is no hope of that.
func (a *Annealer) repair(least float64) {
	s := a.S
	a.around = append(a.around[:0], s.touched...)
	if len(a.around) == 0 || len(s.active) == 0 {
		return
	}
	now := a.energy()
	for n := range a.tune.RepairMoves {
		if now >= least || now < least-float64(a.slack*(1-float64(n)/float64(a.tune.RepairMoves))) {
			return
		}
		a.Moves++
		before := s.here()
		a.repack()
		if e := a.energy(); e >= now {
			now = e
		} else {
			s.undoTo(before)
		}
	}
}

// repack makes room for a container somewhere, or clears a server, mostly one around the exchange, and
// recreates.
func (a *Annealer) repack() {
	a.filled = 0
	if a.rng.Below(2) == 0 || !a.eject() {
		j := int(a.around[a.rng.Below(len(a.around))])
		if a.rng.Below(4) == 0 {
			j = a.rng.Below(a.S.p.Servers)
		}
		a.clear(j, a.rng.Below(2) == 0)
		a.S.touch(j)
	}
	a.recreate()
}
