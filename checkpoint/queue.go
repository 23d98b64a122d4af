// This file implements which job goes on next: releases come before the creations that need them.

package checkpoint

import (
	"cmp"
	"slices"
)

// schedule begins all that can be begun: first jobs that have stopped, by name, then what was asked, in
// that order. It ends because each round begins or drops a request, or moves a job that waits on to
// another phase.
func (m *Machine) schedule() {
	for m.round() {
	}
}

// round looks at each job that wants something once, and reports whether it changed any.
func (m *Machine) round() bool {
	waiting, asked := m.candidates()
	if len(waiting) == 0 && len(asked) == 0 {
		return false
	}
	// now is what may be taken at once. later is what will be free when all jobs have arrived where they are
	// on their way to: what does not fit into that will never fit.
	q := &queue{m: m, now: m.room(charged), later: m.room(remaining), slots: m.slots()}
	for _, j := range waiting {
		q.create(j)
	}
	for _, j := range asked {
		q.start(j)
	}
	return q.changed || q.slots > 0 && !m.moving() && m.breakCircle(q.movers)
}

// breakCircle begins one of the jobs that wait for what others hold, though there is no room for it
// yet, so that what it has to give becomes free. Room that only a job can give whose server does not
// answer is no reason to begin.
func (m *Machine) breakCircle(movers []*Job) bool {
	if len(movers) == 0 {
		return false
	}
	// Of a job whose server does not answer nobody knows when it gives its room back.
	sure := m.room(func(j *Job) []string {
		if j.Phase.Action() != "" && !m.busy(j) {
			return charged(j)
		}
		return remaining(j)
	})
	for _, j := range movers {
		if sure.fits(minus(j.Wanted, j.Containers), j.Demand) {
			m.begin(j, false)
			return true
		}
	}
	return false
}

// candidates returns the jobs that wait for room, and those asked for something, each in order.
func (m *Machine) candidates() (waiting, asked []*Job) {
	for _, name := range m.names {
		j := m.jobs[name]
		switch {
		case j.Order != 0 && (j.Phase == Running || j.Phase == Idle || j.Phase == Waiting):
			asked = append(asked, j)
		case j.Phase == Waiting:
			waiting = append(waiting, j)
		}
	}
	// Numbers of requests are given out ascending, so this is the order in which they came.
	slices.SortStableFunc(asked, func(a, b *Job) int { return cmp.Compare(a.Order, b.Order) })
	return waiting, asked
}

// slots returns how many more jobs may be in the middle of an adjustment. A job whose server has not
// answered in all tries does not count, so that it cannot hold up the others for ever.
func (m *Machine) slots() int {
	if m.config.Limit == 0 {
		return len(m.names)
	}
	// Limit 0 means no limit, for which the number of jobs is as good as any.
	slots := m.config.Limit
	for _, name := range m.names {
		if j := m.jobs[name]; m.busy(j) {
			slots--
		}
	}
	return slots
}

// busy reports whether an effect of a job is under way that may be hoped for.
func (m *Machine) busy(j *Job) bool {
	return j.Phase.Action() != "" && j.Tries <= m.config.Retries
}

// moving reports whether any job is on its way, so that room may yet become free. A job that waits for
// room gives none.
func (m *Machine) moving() bool {
	return slices.ContainsFunc(m.names, func(name string) bool { return m.busy(m.jobs[name]) })
}

// queue is one round: the room that is free now, that which is left if all jobs reach their goals, and
// the slots left.
type queue struct {
	m          *Machine
	now, later room
	slots      int
	movers     []*Job // those that wait for room and have some to give
	changed    bool
}

// create goes on with a job that has stopped and waits for room.
func (q *queue) create(j *Job) {
	// The containers that the job kept are its own already.
	need := minus(j.Target, j.Containers)
	if j.Reserved {
		q.now.give(need, j.Demand)
	}
	// What it has kept on a silent server is as little use as what it lacks there.
	fits := q.now.fits(need, j.Demand) && !q.m.silent(j.Target)
	switch {
	case q.m.rests(j):
	case fits && q.slots <= 0:
		delete(q.m.due, j.Name)
	case fits:
		q.m.create(j)
		q.slots--
		q.changed = true
	case !q.possible(j, need):
		// Nobody will give it the room: it goes back rather than wait for ever.
		q.m.retreat(j, NoRoom, "no other job is to release what is missing")
		q.changed = true
	default:
		q.wait(j)
	}
	// What it takes, or keeps reserved, is not there for those behind it.
	if fits || j.Reserved {
		q.now.take(need, j.Demand)
	}
}

// rests reports whether the next attempt of a job has to wait, because those before have died.
func (m *Machine) rests(j *Job) bool { return m.rest[j.Name] > m.now }

// possible reports whether the room that a job needs would be free if all jobs reached their goals.
func (q *queue) possible(j *Job, need []string) bool {
	if j.Reserved {
		q.later.give(need, j.Demand)
		defer q.later.take(need, j.Demand)
	}
	return q.later.fits(need, j.Demand)
}

// start begins what was asked of a job, or leaves it as it is until there is room.
func (q *queue) start(j *Job) {
	if j.Phase != Running {
		q.m.turn(j)
		q.changed = true
		return
	}
	// A running job begins only when its room is there, so that it does not stand still meanwhile.
	// Containers that the job has already stay where they are and need no room.
	need := minus(j.Wanted, j.Containers)
	gives := len(minus(j.Containers, j.Wanted)) > 0
	// A job that is to leave a silent server could not be stopped there: it runs on until more is known.
	known := !q.m.silent(j.Containers) && !q.m.silent(j.Wanted)
	fits := known && q.now.fits(need, j.Demand)
	switch {
	case slices.Equal(j.Wanted, j.Containers):
		q.m.drop(j)
		q.changed = true
	case fits && q.slots <= 0:
		delete(q.m.due, j.Name)
	case fits:
		q.m.begin(j, len(need) > 0)
		q.now.take(need, j.Demand)
		q.slots--
		q.changed = true
	case !q.later.fits(need, j.Demand):
		q.m.deny(j, "no other job is to release what is missing")
		q.changed = true
	default:
		// A job that gives something up may be what others wait for, see breakCircle.
		if gives && known {
			q.movers = append(q.movers, j)
		}
		// One with a deadline waits until that.
		if j.Deadline.IsZero() {
			q.wait(j)
		}
	}
}

// wait lets a job wait for room, for as long as Config says.
func (q *queue) wait(j *Job) {
	if _, waits := q.m.due[j.Name]; !waits {
		q.m.due[j.Name] = q.m.now + q.m.config.Timeouts.Room
	}
}

// create begins a new attempt of a job that has stopped.
func (m *Machine) create(j *Job) {
	// This is the only place where an attempt gets its number. The invariant that Attempt equals Stopped
	// before it was checked when the job came to Waiting.
	j.Attempt = m.number()
	j.Containers, j.Reserved = j.Target, false
	m.enter(j, Creating)
}

// deny drops what was asked of a running job, which goes on as before.
func (m *Machine) deny(j *Job, detail string) {
	m.drop(j)
	j.blame(NoRoom, detail)
}
