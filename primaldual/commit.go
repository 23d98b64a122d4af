// This file implements Commit and Release: a schedule enters the ledger and leaves it, [OASiS]
// Algorithm 1, lines 8-12.

package primaldual

import (
	"errors"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// The sorts of schedule that a ledger refuses.
var (
	// ErrOverCapacity reports a schedule that takes more of a server than is left.
	ErrOverCapacity = errors.New("takes more than is left")
	// ErrNotTaken reports a release of more than was taken.
	ErrNotTaken = errors.New("gives back more than was taken")
	// ErrDown reports a schedule that uses a server that is down.
	ErrDown = errors.New("uses a server that is down")
)

// Commit takes what a schedule of job needs from the servers. Slots must lie in the horizon and
// ascend, servers of a slot must ascend, counts be positive; otherwise, or where a server has too
// little left or is down, nothing is taken and the error is an [*apportion.FieldError].
// O(placements x kinds).
//
// Source: [OASiS] Algorithm 1, lines 8-12; constraints (30) and (31).
func (l *Ledger) Commit(job *Job, schedule Schedule) error {
	if len(schedule) > 0 && schedule[0].Slot < l.first {
		return job.planFault(&schedule[0], apportion.ErrRange, "it is past")
	}
	// All of the schedule is checked before any of it is taken, so that an error leaves nothing behind.
	if err := l.checkForm(job, schedule); err != nil {
		return err
	}
	if err := l.checkTake(job, schedule); err != nil {
		return err
	}
	l.move(job, schedule, l.first, 1)
	return nil
}

// Release gives back what a committed schedule of job takes in slots from on; slots before the
// horizon are past and count for nothing. Giving back more than was taken is an error and changes
// nothing. Prices follow. O(placements x kinds).
func (l *Ledger) Release(job *Job, schedule Schedule, from int) error {
	from = max(from, l.first)
	if err := l.checkForm(job, schedule); err != nil {
		return err
	}
	if err := l.checkGive(job, schedule, from); err != nil {
		return err
	}
	l.move(job, schedule, from, -1)
	return nil
}

// move takes sign times what the schedule needs from slot from on.
func (l *Ledger) move(job *Job, schedule Schedule, from int, sign int64) {
	for _, side := range []Side{Workers, ParameterServers} {
		l.scratch.set(&l.market, side, job.demand(side))
		offset, _ := l.span(side)
		for i := range schedule {
			if schedule[i].Slot < from {
				continue
			}
			for _, p := range schedule[i].on(side) {
				l.take(schedule[i].Slot, &l.scratch, offset+p.Server, sign*p.Count)
			}
		}
	}
}

// checkForm checks the form of a schedule: slots and servers ascend, servers exist, counts are positive.
func (l *Ledger) checkForm(job *Job, schedule Schedule) error {
	var faults apportion.Faults
	check.Resources(&faults, l.cluster.Kinds, job.Worker, apportion.Item{}, "Worker")
	check.Resources(&faults, l.cluster.Kinds, job.PS, apportion.Item{}, "PS")
	if len(faults) > 0 {
		faults[0].Item = job.item()
		return faults[0]
	}
	for i := range schedule {
		plan := &schedule[i]
		if i > 0 && plan.Slot <= schedule[i-1].Slot {
			return job.planFault(plan, apportion.ErrDuplicate, "slots do not ascend")
		}
		if plan.Slot > l.last() {
			return job.planFault(plan, apportion.ErrRange, "it is outside the horizon")
		}
		for _, side := range []Side{Workers, ParameterServers} {
			if err := l.checkPlacements(job, plan, side); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkPlacements checks the form of one side of one slot.
func (l *Ledger) checkPlacements(job *Job, plan *SlotPlan, side Side) error {
	before := -1
	for _, p := range plan.on(side) {
		switch {
		case p.Server < 0 || p.Server >= len(l.cluster.servers(side)):
			return job.planFault(plan, apportion.ErrUnknown, fmt.Sprintf("%v server %d", side, p.Server))
		case p.Server <= before:
			return job.planFault(plan, apportion.ErrDuplicate, fmt.Sprintf("%v servers do not ascend", side))
		case p.Count < 1:
			return job.planFault(plan, apportion.ErrRange, fmt.Sprintf("a count of %d", p.Count))
		}
		before = p.Server
	}
	return nil
}

// checkTake checks that servers have room for the schedule.
func (l *Ledger) checkTake(job *Job, schedule Schedule) error {
	for _, side := range []Side{Workers, ParameterServers} {
		l.scratch.set(&l.market, side, job.demand(side))
		offset, _ := l.span(side)
		for i := range schedule {
			s := l.slot(schedule[i].Slot)
			for _, p := range schedule[i].on(side) {
				if s.down != nil && s.down[offset+p.Server] {
					return job.planFault(&schedule[i], ErrDown, l.cluster.servers(side)[p.Server].ID)
				}
				if l.room(s, &l.scratch, offset+p.Server) < p.Count {
					return job.planFault(&schedule[i], ErrOverCapacity, l.cluster.servers(side)[p.Server].ID)
				}
			}
		}
	}
	return nil
}

// checkGive checks that what the schedule takes from slot from on was taken.
func (l *Ledger) checkGive(job *Job, schedule Schedule, from int) error {
	for _, side := range []Side{Workers, ParameterServers} {
		offset, _ := l.span(side)
		for i := range schedule {
			if schedule[i].Slot < from {
				continue
			}
			for _, p := range schedule[i].on(side) {
				if !l.taken(l.slot(schedule[i].Slot), offset+p.Server, job.demand(side), p.Count) {
					return job.planFault(&schedule[i], ErrNotTaken, l.cluster.servers(side)[p.Server].ID)
				}
			}
		}
	}
	return nil
}

// taken reports whether at least count containers of demand are taken of a server.
func (l *Ledger) taken(s *slotState, server int, demand apportion.Resources, count int64) bool {
	if demand.IsZero() {
		return true
	}
	return s.used != nil && demand.CountIn(s.used[server*l.kinds:(server+1)*l.kinds]) >= count
}

// planFault returns a fault of one slot of a schedule.
func (j *Job) planFault(plan *SlotPlan, sort error, detail string) error {
	field := fmt.Sprintf("Schedule[slot %d]", plan.Slot)
	return &apportion.FieldError{Item: j.item(), Field: field, Err: sort, Detail: detail}
}

// SetDown marks a server as down, or up again, in slot from and all after it, also those that
// Advance will append. What is taken there stays taken: release it, or use [Scheduler.Fail].
// O(slots + servers).
func (l *Ledger) SetDown(side Side, server, from int, down bool) error {
	at, err := l.locate(side, from, server)
	if err != nil {
		return err
	}
	// locate returns a cell; a table of servers that are down has one entry a server.
	index := at / l.kinds
	// Tables are shared between slots and therefore never written: each is replaced by a changed copy.
	var before, after []bool
	for i := from - l.first; i < len(l.slots); i++ {
		s := &l.slots[i]
		if after == nil || !sameTable(s.down, before) {
			before, after = s.down, make([]bool, l.servers)
			copy(after, s.down)
			after[index] = down
		}
		s.down = after
	}
	return nil
}

// sameTable reports whether two tables are one, nil included.
func sameTable(a, b []bool) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
