// This file compares the ledger of a scheduler with the schedules of its jobs, of which it is the sum.

package primaldual

import (
	"slices"
	"strconv"

	"github.com/apportion/apportion"
)

// recount returns an error where the ledger is not what the schedules of the jobs add up to.
// The past of a schedule is in no ledger and is left out. O(placements of all jobs x kinds + slots
// x cells in use).
func (s *Scheduler) recount() error {
	fresh := &Ledger{market: s.ledger.market}
	fresh.slots = make([]slotState, len(s.ledger.slots))
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

// equal reports whether two ledgers of one cluster hold the same quantities, and where not, the slot.
// Floats are compared exactly: prices are made by the same operations from the same quantities.
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
