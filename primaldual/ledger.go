// This file implements Ledger: what is taken of every server in every slot of a rolling horizon, and
// what it costs; g, v, p and q of [OASiS] §4.1.
// Usage is exact, in integers: sums of floats would drift over thousands of jobs that come and go,
// and a server that is empty again would keep a price.

package primaldual

import (
	"fmt"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/primaldual/internal/schedule"
)

// Ledger keeps the usage of every server, kind and slot, exactly, and the prices that follow from it.
// It covers Cluster.Slots slots: First and those after it. A slot that nobody uses takes no memory.
//
// Every method either does all that it says, or returns an error and changes nothing. A Ledger
// belongs to one goroutine.
// scratch is the demand at hand, kept to spare an allocation for each call: one more reason why two
// goroutines must not share a ledger.
type Ledger struct {
	market
	scratch demand
}

// NewLedger returns an empty ledger over slots 1 to cluster.Slots. It refuses a bad cluster or bad
// bounds with [apportion.Faults], and one that could grow above 2^27 cells (slots x servers x kinds, 16 bytes each) with
// ErrTooLarge, before it allocates. O(servers x kinds + slots).
func NewLedger(cluster *Cluster, bounds *Bounds) (*Ledger, error) {
	return newLedger(cluster, bounds, defaultMaxCells)
}

func newLedger(cluster *Cluster, bounds *Bounds, limit int64) (*Ledger, error) {
	if err := cluster.Validate(); err != nil {
		return nil, err
	}
	if err := bounds.Validate(cluster.Kinds); err != nil {
		return nil, err
	}
	// The check is for all slots in use, although unused ones take no memory: a ledger must not
	// outgrow its limit later, when jobs are admitted.
	servers := int64(len(cluster.WorkerServers) + len(cluster.PSServers))
	if err := schedule.CheckCells(servers*int64(len(cluster.Kinds)), int64(cluster.Slots), limit, apportion.Item{ID: "ledger"}, "Slots"); err != nil {
		return nil, err
	}
	l := &Ledger{}
	l.park = newPark(cluster, bounds)
	l.base = l.basePrices()
	// No price is ever below its L, as (22) rises with what is taken: demand.floor rests on that.
	for _, c := range l.curves {
		l.cheapest = append(l.cheapest, c.lower)
	}
	l.first = 1
	l.slots = make([]slotState, cluster.Slots)
	return l, nil
}

// First returns the first slot of the horizon: the current one.
func (l *Ledger) First() int { return l.first }

// Last returns the last slot of the horizon.
func (l *Ledger) Last() int { return l.last() }

// Used returns what is taken of a server in a slot.
func (l *Ledger) Used(side Side, slot, server int) (apportion.Resources, error) {
	at, err := l.locate(side, slot, server)
	if err != nil {
		return nil, err
	}
	used := make(apportion.Resources, l.kinds)
	if s := l.slot(slot); s.used != nil {
		copy(used, s.used[at:])
	}
	return used, nil
}

// Prices returns the price of one unit of each kind on a server in a slot.
func (l *Ledger) Prices(side Side, slot, server int) ([]float64, error) {
	at, err := l.locate(side, slot, server)
	if err != nil {
		return nil, err
	}
	return append([]float64(nil), l.prices(l.slot(slot))[at:at+l.kinds]...), nil
}

// locate returns the first cell of a server.
func (l *Ledger) locate(side Side, slot, server int) (int, error) {
	if err := l.checkSlot(slot); err != nil {
		return 0, err
	}
	if side != Workers && side != ParameterServers {
		return 0, &apportion.FieldError{Field: "side", Err: apportion.ErrUnknown, Detail: strconv.Itoa(int(side))}
	}
	if server < 0 || server >= len(l.cluster.servers(side)) {
		return 0, &apportion.FieldError{Field: side.String() + " server", Err: apportion.ErrUnknown, Detail: strconv.Itoa(server)}
	}
	return l.machine(side, server) * l.kinds, nil
}

func (l *Ledger) checkSlot(slot int) error {
	if slot >= l.first && slot <= l.last() {
		return nil
	}
	detail := fmt.Sprintf("%d is not in [%d, %d]", slot, l.first, l.last())
	return &apportion.FieldError{Field: "slot", Err: apportion.ErrRange, Detail: detail}
}

// Advance makes slot the first of the horizon: earlier slots are forgotten, as many are appended at
// the end. A server that is down in the last slot is down in those. Going back is an error.
// O(slots + servers).
func (l *Ledger) Advance(slot int) error {
	if slot < l.first || slot > maxSlot {
		detail := fmt.Sprintf("%d is not in [%d, %d]", slot, l.first, maxSlot)
		return &apportion.FieldError{Field: "slot", Err: apportion.ErrRange, Detail: detail}
	}
	// Slots slide to the front, and the storage of those that are past is used for new ones.
	// A leap beyond the horizon leaves no slot as it was.
	past := min(slot-l.first, len(l.slots))
	// setDown marks a slot and all after it, so that the last one knows every server that is down
	// for good.
	down := l.slots[len(l.slots)-1].down
	kept := copy(l.slots, l.slots[past:])
	for i := range past {
		l.slots[kept+i] = slotState{down: down}
	}
	l.first = slot
	return nil
}

// maxSlot bounds slot numbers, so that sums of two do not overflow.
const maxSlot = 1 << 30

// take adds n containers of a demand to a machine in a slot, or gives them back where n is negative,
// and sets the prices. The caller has checked that the result is in [0, capacity].
func (l *Ledger) take(slot int, d *demand, machine int, n int64) {
	s := l.slot(slot)
	l.open(s)
	at := machine * l.kinds
	for i, r := range d.kinds {
		l.set(s, at+r, s.used[at+r]+n*d.amounts[i])
	}
	// A slot that nobody uses any more gives its tables back: memory follows what is reserved, and
	// the best-schedule search shares one table for all such slots.
	if s.busy == 0 {
		s.used, s.price = nil, nil
	}
}

// open gives a slot tables of its own.
func (l *Ledger) open(s *slotState) {
	if s.used == nil {
		s.used = make([]int64, len(l.capacity))
		s.price = append([]float64(nil), l.base...)
	}
}

func (l *Ledger) set(s *slotState, cell int, used int64) {
	switch before := s.used[cell]; {
	case before == 0 && used > 0:
		s.busy++
	case before > 0 && used == 0:
		s.busy--
	}
	s.used[cell] = used
	// Lines 10 and 12 of Algorithm 1: p = P(g), q = Q(v). The price follows from the new sum and
	// not from the old price, so that giving back restores it to the bit.
	s.price[cell] = l.price(cell, used)
}
