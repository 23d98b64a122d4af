// This file implements the passing of time: pauses and waits that are over, effects that are overdue.

package checkpoint

import (
	"fmt"
	"time"
)

// tick lets time pass, by at most Config.MaxTick and never backward, and ends what is overdue.
func (m *Machine) tick(t Tick) error {
	// Only the differences of a clock count, and no difference counts for more than MaxTick: a clock that
	// jumps ends nothing.
	if !m.last.IsZero() {
		m.now += min(max(t.Now.Sub(m.last), 0), m.config.MaxTick)
	}
	m.last = t.Now
	for name, until := range m.rest {
		if until <= m.now {
			delete(m.rest, name)
			m.books.change(name)
		}
	}
	m.uncordon(t.Now)
	for _, name := range m.names {
		j := m.jobs[name]
		// A deadline is a time of day, unlike all that is due: it is over when the clock says so, also by a jump.
		if !j.Deadline.IsZero() && !t.Now.Before(j.Deadline) {
			m.hurry(j, "it was not saved by "+j.Deadline.Format(time.RFC3339))
		}
		if m.overdue(j) {
			m.hurry(j, fmt.Sprintf("it was not saved within %v", m.patience(j)))
		}
		due, waits := m.due[name]
		if !waits || due > m.now {
			continue
		}
		delete(m.due, name)
		switch {
		// It has stopped and waits for room: back to what it had.
		case j.Phase == Waiting:
			m.retreat(j, NoRoom, "others did not release it in time")
		// It runs and waits for its turn: it runs on.
		case j.Phase == Running:
			m.deny(j, "others did not release it in time")
		// The pause after a failure is over.
		case j.Effect == 0:
			m.again(j)
		default:
			m.failed(j, fmt.Sprintf("no answer within %v", m.config.timeout(j.Phase.Action())))
		}
	}
	return nil
}
