// This file changes the servers of a ledger under what is taken. [OASiS] has fixed ones.
// Tables are indexed by machine, and a server that is added or turns out to be on both lists shifts
// these indices; schedules refer to positions in the lists, which only grow at their ends, so that
// no schedule changes.

package primaldual

// refit gives the ledger another cluster with the same kinds and slots, whose servers are those of the old one with more
// after them on either side. The caller has checked it, and that what is taken fits. All prices follow.
// O(slots in use x servers x kinds).
func (l *Ledger) refit(cluster *Cluster) {
	// The old servers are needed to tell where each cell was.
	old := l.park
	// equip makes a park and leaves the slots alone, which still are in the old order of cells.
	l.equip(cluster, l.bounds)
	// Worker servers come first in all tables, so that one more of them moves the others. Positions in the lists stay.
	// place is the new machine of each old one; a machine that is now on both lists is found by
	// either position, and both lead to the same.
	place := make([]int, old.machines)
	for side, machines := range old.on {
		for i, machine := range machines {
			place[machine] = l.on[side][i]
		}
	}
	var before, after []bool
	for i := range l.slots {
		s := &l.slots[i]
		if s.down != nil {
			// Slots that shared a table go on sharing one, as SetDown and snapshots expect.
			if after == nil || !sameTable(s.down, before) {
				before, after = s.down, make([]bool, l.machines)
				for server, down := range before {
					after[place[server]] = down
				}
			}
			s.down = after
		}
		if s.used == nil {
			continue
		}
		// A slot is filled in again cell by cell, which also counts its busy cells and sets its prices.
		// Old cells are read while new ones are written: the old table stays untouched until all
		// are moved.
		used := s.used
		s.used, s.busy = nil, 0
		l.open(s)
		for cell, amount := range used {
			// Cells without use keep their base price, which open has set.
			if amount > 0 {
				l.set(s, place[cell/l.kinds]*l.kinds+cell%l.kinds, amount)
			}
		}
	}
}

// exceeds reports whether more is taken of a machine in a slot than a capacity.
// Nothing taken exceeds nothing, whatever the capacity.
func (l *Ledger) exceeds(s *slotState, machine int, capacity []int64) bool {
	if s.used == nil {
		return false
	}
	for r, c := range capacity {
		if s.used[machine*l.kinds+r] > c {
			return true
		}
	}
	return false
}
