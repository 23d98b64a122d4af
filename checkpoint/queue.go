// This file implements which job goes on next: releases come before the creations that need them.

package checkpoint

import (
	"math"
	"slices"
)

// schedule begins all that can be begun: first jobs that have stopped, by name, then what was asked, in
// that order. It ends because each job that it looks at begins, drops its request, moves on to another phase, or is not
// looked at again before something has changed.
func (m *Machine) schedule() {
	b := &m.books
	for {
		m.update()
		if len(b.waiting) == 0 && len(b.asked) == 0 {
			return
		}
		if b.stale {
			m.renew()
		}
		switch a := b.next(); {
		case a == nil:
			if m.slots() <= 0 || b.busy > 0 || !m.breakCircle() {
				return
			}
		case a.order == 0:
			m.proceed(a.job)
		default:
			m.start(a.job)
		}
	}
}

// breakCircle begins one of the jobs that wait for what others hold, though there is no room for it
// yet, so that what it has to give becomes free. Room that only a job can give whose server does not
// answer is no reason to begin. It is called when no job is on its way, so that room may yet become free: a job that
// waits for room gives none.
func (m *Machine) breakCircle() bool {
	b := &m.books
	sure := b.later
	// Of a job whose server does not answer nobody knows when it gives its room back.
	if b.stuck > 0 {
		sure = m.room(func(j *Job) []string {
			if j.Phase.Action() != "" && !m.busy(j) {
				return charged(j)
			}
			return remaining(j)
		})
	}
	for _, r := range b.asked {
		j := m.jobs[r.name]
		gives := j.Phase == Running && len(minus(j.Containers, j.Wanted)) > 0
		if gives && m.known(j.Containers, j.Wanted) && sure.fits(minus(j.Wanted, j.Containers), j.Demand) {
			m.begin(j, false)
			return true
		}
	}
	return false
}

// slots returns how many more jobs may be in the middle of an adjustment. A job whose server has not
// answered in all tries does not count, so that it cannot hold up the others for ever.
// It is below 0 where a Config has a lower Limit than the one under which jobs were begun.
func (m *Machine) slots() int {
	if m.config.Limit == 0 {
		return math.MaxInt
	}
	return m.config.Limit - m.books.busy
}

// busy reports whether an effect of a job is under way that may be hoped for.
func (m *Machine) busy(j *Job) bool {
	return j.Phase.Action() != "" && j.Tries <= m.config.Retries
}

// proceed goes on with a job that has stopped and waits for room.
func (m *Machine) proceed(j *Job) {
	b := &m.books
	need := minus(j.Target, j.Containers)
	// Room that is kept for the job is taken in the books, by the job itself, and is given back for the question.
	if j.Reserved {
		b.now.give(need, j.Demand)
		defer b.now.take(need, j.Demand)
	}
	// What it has kept on a silent server is as little use as what it lacks there.
	fits := b.now.fits(need, j.Demand) && m.known(j.Target)
	switch {
	// The Tick that ends the pause has the job looked at again.
	case m.rests(j):
	case fits && m.slots() <= 0:
		delete(m.due, j.Name)
	case fits:
		m.create(j)
	case !m.possible(j, need):
		// Nobody will give it the room: it goes back rather than wait for ever.
		m.retreat(j, NoRoom, "no other job is to release what is missing")
	default:
		m.await(j)
	}
}

// rests reports whether the next attempt of a job has to wait, because those before have died.
func (m *Machine) rests(j *Job) bool { return m.rest[j.Name] > m.now }

// known reports whether every server of some lists answers.
func (m *Machine) known(lists ...[]string) bool { return !slices.ContainsFunc(lists, m.silent) }

// possible reports whether the room that a job needs would be free if all jobs reached their goals.
func (m *Machine) possible(j *Job, need []string) bool {
	later := m.books.later
	if j.Reserved {
		later.give(need, j.Demand)
		defer later.take(need, j.Demand)
	}
	return later.fits(need, j.Demand)
}

// start begins what was asked of a job, or leaves it as it is until there is room.
func (m *Machine) start(j *Job) {
	if j.Phase != Running {
		m.turn(j)
		return
	}
	// A running job begins only when its room is there, so that it does not stand still meanwhile.
	// Containers that the job has already stay where they are and need no room.
	need := minus(j.Wanted, j.Containers)
	// A job that is to leave a silent server could not be stopped there: it runs on until more is known.
	fits := m.known(j.Containers, j.Wanted) && m.books.now.fits(need, j.Demand)
	switch {
	case slices.Equal(j.Wanted, j.Containers):
		m.drop(j)
	// It waits for its turn alone, which has no limit in time.
	case fits && m.slots() <= 0:
		delete(m.due, j.Name)
	case fits:
		m.begin(j, len(need) > 0)
	case !m.books.later.fits(need, j.Demand):
		m.deny(j, "no other job is to release what is missing")
	// One with a deadline waits until that.
	case j.Deadline.IsZero():
		m.await(j)
	}
}

// await lets a job wait for room, for as long as Config says.
// The wait counts from the first look that found no room, and no later look makes it longer.
func (m *Machine) await(j *Job) {
	if _, waits := m.due[j.Name]; !waits {
		m.due[j.Name] = m.now + m.config.Timeouts.Room
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
