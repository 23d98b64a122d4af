// This file implements Commit and Release: a schedule enters the ledger and leaves it, [OASiS]
// Algorithm 1, lines 8-12.
// Checks and changes are apart: what begins with check only reads, move only writes and cannot
// fail. A schedule of many slots is thus taken as a whole or not at all, and plans that move
// several jobs rest on the same move.

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
	// ErrUnsuited reports a schedule that uses a server whose labels the job does not accept.
	ErrUnsuited = errors.New("uses a server that does not suit the job")
)

// Commit takes what a schedule of job needs from the servers. Slots must lie in the horizon and
// ascend, servers of a slot must ascend, counts be positive; otherwise, or where a server has too
// little left or is down, nothing is taken and the error is an [*apportion.FieldError].
// O(placements x kinds).
//
// Source: [OASiS] Algorithm 1, lines 8-12; constraints (30) and (31).
func (l *Ledger) Commit(job *Job, schedule Schedule) error {
	// Slots ascend, so that the first one is the earliest. Release takes past slots and lets them
	// count for nothing, Commit cannot: there is no room in the past.
	if len(schedule) > 0 && schedule[0].Slot < l.first {
		return job.planFault(&schedule[0], apportion.ErrRange, "it is past")
	}
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
	// Slots before l.first have left the ledger with Advance; locating them would reach outside
	// l.slots.
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
	// Lines 9 and 10 of Algorithm 1 are g += w y* and the new p of workers, lines 11 and 12 are v
	// += s z* and the new q of parameter servers. All containers of a side demand the same, so that
	// one scratch demand serves them all.
	for _, side := range []Side{Workers, ParameterServers} {
		l.scratch.set(&l.market, side, job.demand(side))
		for i := range schedule {
			if schedule[i].Slot < from {
				continue
			}
			for _, p := range schedule[i].on(side) {
				l.take(schedule[i].Slot, &l.scratch, l.machine(side, p.Server), sign*p.Count)
			}
		}
	}
}

// checkForm checks the form of a schedule: slots and servers ascend, servers exist, counts are positive.
func (l *Ledger) checkForm(job *Job, schedule Schedule) error {
	var faults apportion.Faults
	// A ledger is used without a scheduler too, so that job may never have been validated: a demand
	// with more entries than there are kinds would reach into the cells of the next machine.
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
		// Slots before l.first pass here, since Release and restored schedules begin in the past;
		// Commit refuses them itself.
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

func (l *Ledger) checkPlacements(job *Job, plan *SlotPlan, side Side) error {
	// Strictly ascending servers appear once each: refusal compares one count with the room of a
	// machine, and two placements there would each fit where both together do not.
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

// checkTake checks that servers suit the job and have room for the schedule.
func (l *Ledger) checkTake(job *Job, schedule Schedule) error {
	for _, side := range []Side{Workers, ParameterServers} {
		l.scratch.set(&l.market, side, job.demand(side))
		l.scratch.restrict(&l.market, job.requires(side))
		for i := range schedule {
			for _, p := range schedule[i].on(side) {
				if fault := l.refusal(schedule[i].Slot, side, p); fault != nil {
					return job.planFault(&schedule[i], fault, l.cluster.servers(side)[p.Server].ID)
				}
			}
		}
	}
	return nil
}

// refusal returns why a placement cannot be taken; nil where it can. The scratch demand is that of the side.
func (l *Ledger) refusal(slot int, side Side, p apportion.Placement) error {
	s, machine := l.slot(slot), l.machine(side, p.Server)
	switch {
	case s.down != nil && s.down[machine]:
		return ErrDown
	case l.scratch.open != nil && !l.scratch.open[machine]:
		return ErrUnsuited
	// (30) and (31): w_i y_ih(t) <= c_h - g_h(t), by division, as the product could overflow.
	case l.room(s, &l.scratch, machine) < p.Count:
		return ErrOverCapacity
	}
	return nil
}

// checkGive checks that what the schedule takes from slot from on was taken.
func (l *Ledger) checkGive(job *Job, schedule Schedule, from int) error {
	for i := schedule.before(from); i < len(schedule); i++ {
		plan := &schedule[i]
		for _, side := range []Side{Workers, ParameterServers} {
			for _, p := range plan.on(side) {
				if !l.taken(job, plan, side, p) {
					return job.planFault(plan, ErrNotTaken, l.cluster.servers(side)[p.Server].ID)
				}
			}
		}
	}
	return nil
}

// taken reports whether at least the containers of a placement are taken of its machine.
func (l *Ledger) taken(job *Job, plan *SlotPlan, side Side, p apportion.Placement) bool {
	s, machine := l.slot(plan.Slot), l.machine(side, p.Server)
	for r, q := range job.demand(side) {
		// q count <= used, by division, since a forged count could overflow the product.
		if q > 0 && (s.used == nil || s.used[machine*l.kinds+r]/q < p.Count) {
			return false
		}
	}
	return true
}

func (j *Job) planFault(plan *SlotPlan, sort error, detail string) error {
	field := fmt.Sprintf("Schedule[slot %d]", plan.Slot)
	return &apportion.FieldError{Item: j.item(), Field: field, Err: sort, Detail: detail}
}

// setDown marks a machine as down, or up again, in slot from and all after it, also those that Advance will append. What is taken
// there stays taken. O(slots + machines).
func (l *Ledger) setDown(machine, from int, down bool) error {
	if err := l.checkSlot(from); err != nil {
		return err
	}
	// Tables are shared between slots and therefore never written: each is replaced by a changed copy.
	// Slots that shared one share the copy as well, so that a failure takes one table of machines for each
	// that there was, and not one for each slot.
	var before, after []bool
	// All later slots are marked, and Advance carries the mark of the last one on: a server is down
	// until it is said to be up.
	for i := from - l.first; i < len(l.slots); i++ {
		s := &l.slots[i]
		if after == nil || !sameTable(s.down, before) {
			before, after = s.down, make([]bool, l.machines)
			copy(after, s.down)
			after[machine] = down
		}
		s.down = after
	}
	return nil
}

// sameTable reports whether two tables are one, nil included.
func sameTable(a, b []bool) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
