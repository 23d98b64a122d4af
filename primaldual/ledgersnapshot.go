// This file saves and restores a Ledger.
// Only quantities and servers that are down are saved. Prices are functions of quantities, and sums
// are added up again, so that no two parts of a snapshot can contradict each other.

package primaldual

import (
	"slices"
	"strconv"

	"github.com/apportion/apportion"
)

// Snapshot returns the ledger as bytes, from which RestoreLedger makes an equal one. Its size is
// proportional to what is taken, not to the horizon.
func (l *Ledger) Snapshot() []byte {
	w := newWriter(ledgerSnapshot, l.park)
	w.int(int64(l.first))
	w.int(int64(len(l.slots)))
	for i := range l.slots {
		l.slots[i].write(w)
	}
	return w.seal()
}

// write appends the servers that are down and the cells taken, each as the distance from the one
// before, with 0 at the end.
func (s *slotState) write(w *writer) {
	// Distances are smaller than positions, and varints of small numbers are short.
	before := -1
	for server, down := range s.down {
		if down {
			w.int(int64(server - before))
			before = server
		}
	}
	// Distances are 1 or more, so that 0 can stand for the end of a list.
	w.int(0)
	before = -1
	for cell, used := range s.used {
		if used > 0 {
			w.int(int64(cell - before))
			w.int(used)
			before = cell
		}
	}
	w.int(0)
}

// RestoreLedger returns the ledger that Snapshot made data of. cluster and bounds must be those of
// that ledger. Errors: those of NewLedger; an [*apportion.FieldError] with ErrCorrupt for bytes that
// are no undamaged snapshot, ErrUnknown for one of another version, ErrConflict for one of another
// cluster or other bounds.
func RestoreLedger(cluster *Cluster, bounds *Bounds, options *LedgerOptions, data []byte) (*Ledger, error) {
	l, err := NewLedger(cluster, bounds, options)
	if err != nil {
		return nil, err
	}
	// The ledger is made first, as the fingerprint is one of its park.
	r, err := newReader(data, ledgerSnapshot, l.park)
	if err != nil {
		return nil, err
	}
	l.first = int(r.intIn(1, maxSlot))
	// The fingerprint has compared Slots already: another number here is damage.
	if r.count() != len(l.slots) {
		r.fail()
	}
	for i := range l.slots {
		// Slots with the same servers down share one table, as they do in SetDown.
		l.slots[i].down = l.readDown(r)
		if i > 0 && slices.Equal(l.slots[i].down, l.slots[i-1].down) {
			l.slots[i].down = l.slots[i-1].down
		}
		l.readUsed(r, &l.slots[i])
		if r.failed {
			break
		}
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return l, nil
}

// readDown reads which servers are down; nil: none.
func (l *Ledger) readDown(r *reader) []bool {
	var down []bool
	for server := -1; ; {
		// The range keeps server + step inside the table. After a fault intIn returns 0, which ends
		// the loop.
		step := int(r.intIn(0, int64(l.machines-1-server)))
		if step == 0 {
			return down
		}
		if down == nil {
			down = make([]bool, l.machines)
		}
		server += step
		down[server] = true
	}
}

// readUsed reads the cells taken in one slot.
func (l *Ledger) readUsed(r *reader, s *slotState) {
	for cell := -1; ; {
		step := int(r.intIn(0, int64(len(l.capacity)-1-cell)))
		if step == 0 {
			return
		}
		cell += step
		// A capacity of 0 would make the range empty: then 1 passes here, and is refused as more
		// than the capacity.
		used := r.intIn(1, max(1, l.capacity[cell]))
		if used > l.capacity[cell] {
			r.fail()
			return
		}
		// Prices are not in a snapshot: set makes them from used, so that the two cannot disagree.
		l.open(s)
		l.set(s, cell, used)
	}
}

// equal reports whether two ledgers of one cluster hold the same quantities, and where not, the slot.
// Floats are compared exactly: prices are made by the same operations from the same quantities, so
// that any difference is a fault.
func (l *Ledger) equal(other *Ledger) (slot int, ok bool) {
	if l.first != other.first {
		return l.first, false
	}
	for i := range l.slots {
		a, b := &l.slots[i], &other.slots[i]
		if a.busy != b.busy || !slices.Equal(a.used, b.used) || !slices.Equal(a.price, b.price) {
			return l.first + i, false
		}
	}
	return 0, true
}

// blank returns an empty ledger of the same cluster, bounds and horizon, with no server down.
func (l *Ledger) blank() *Ledger {
	out := &Ledger{market: l.market, limit: l.limit}
	out.slots = make([]slotState, len(l.slots))
	return out
}

// recount returns an error where the ledger is not what the schedules of the jobs add up to.
// The past of a schedule is in no ledger and is left out. O(placements of all jobs x kinds + slots
// x cells in use).
func (s *Scheduler) recount() error {
	fresh := s.ledger.blank()
	for _, r := range s.byNumber() {
		future := r.schedule[r.schedule.before(fresh.first):]
		if err := fresh.Commit(&r.job, future); err != nil {
			return err
		}
	}
	if slot, ok := fresh.equal(s.ledger); !ok {
		return &apportion.FieldError{Item: apportion.Item{ID: "ledger"}, Field: "usage", Err: apportion.ErrConflict, Detail: "slot " + strconv.Itoa(slot)}
	}
	return nil
}
