// This file implements recovery: from the records of a master that died to a machine that goes on.

package checkpoint

import (
	"fmt"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// Recover returns the machine whose records these are: the longest valid prefix of a journal, as
// journal.Open reads it. Its first Ready lists again exactly the effects that have no reply on record; it
// writes nothing down. The epoch must be higher than that of any machine before.
//
// The error wraps ErrCorrupt if a record contradicts itself or the Config.
func Recover(config Config, epoch int64, records ...Record) (*Machine, error) {
	m, err := New(config, epoch)
	if err != nil {
		return nil, err
	}
	// The fold of the records is the state; no step is done again.
	for _, r := range records {
		m.fold(r)
	}
	if m.epoch += m.lift; m.lift < 0 || m.epoch > maxEpoch {
		return nil, fmt.Errorf("checkpoint: epochs are raised by %d: %w", m.lift, ErrCorrupt)
	}
	// A Config with other kinds would read every quantity of the journal as something else.
	for id, host := range m.servers {
		if len(host.Capacity) != len(config.Kinds) {
			return nil, fmt.Errorf("checkpoint: server %q: %d quantities for %d kinds: %w", id, len(host.Capacity), len(config.Kinds), ErrCorrupt)
		}
	}
	for _, name := range m.names {
		if err := m.resume(m.jobs[name]); err != nil {
			return nil, err
		}
	}
	// From here on numbers are those of this epoch.
	m.skip()
	// What was recovered is on record already.
	m.ready.next, m.ready.store, m.ready.journal = m.next, m.store, m.journal
	return m, nil
}

// resume takes up a job where the records leave it.
// Times are not on record: each time-out and each pause begins again.
func (m *Machine) resume(j *Job) error {
	if drop := len(j.Checkpoints) - m.config.Keep; drop > 0 {
		j.Checkpoints = j.Checkpoints[drop:] // Config.Keep was higher before
	}
	fault := j.foreign(m)
	if fault == "" {
		fault = j.fault(m.config.Keep)
	}
	if fault != "" {
		return fmt.Errorf("checkpoint: job %q, %s: %s: %w", j.Name, j.Phase, fault, ErrCorrupt)
	}
	// How much of its pause is over nobody knows: it begins again.
	if j.Deaths > 1 && !runs[j.Phase] {
		m.rest[j.Name] = m.now + m.config.pause(j.Deaths-1)
	}
	switch {
	// A job that waits for no effect goes on by the next events.
	case j.Phase.Action() == "":
	// The effect may have been done or not: it is sent again under its old number, by this master.
	case j.Effect != 0:
		m.send(j)
	default:
		m.due[j.Name] = m.now // its pause is over
	}
	return nil
}

// foreign says what in a job no machine of this Config and with these numbers has written; "": nothing.
func (j *Job) foreign(m *Machine) string {
	// No number may be above the last one that was given out: it would be given out again.
	highest := max(j.Attempt, j.Effect, j.Order, j.Saving.Number, j.last().Number)
	var faults apportion.Faults
	check.ID(&faults, map[string]bool{}, j.Name, apportion.Item{})
	check.Resources(&faults, m.config.Kinds, j.Demand, apportion.Item{}, "demand")
	switch {
	case faults != nil:
		return faults.Error()
	case highest > m.next, min(j.Attempt, j.Stopped, j.Effect, j.Order) < 0:
		return "a number that was never given out"
	case j.Min < 1, j.Tries < 0, j.Restarts < 0, j.Deaths < 0:
		return "a count that cannot be"
	}
	for _, list := range [][]string{j.Containers, j.Target, j.Fallback, j.Wanted} {
		if !slices.IsSorted(list) || slices.ContainsFunc(list, func(server string) bool { return m.servers[server] == nil }) {
			return "a list of containers that is out of order, or on unknown servers"
		}
	}
	return ""
}
