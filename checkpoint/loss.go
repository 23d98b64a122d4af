// This file implements the way back after records were lost for good: a journal under a new name, above all that was heard.

package checkpoint

import (
	"fmt"
	"slices"

	"github.com/apportion/apportion"
)

// lossLift is by how much an accepted loss raises the epoch: above those of all masters, and of all compactions, whose records
// may have been lost.
const lossLift = 1 << 20

// Journal returns the name of the journal; empty: there is none.
func (m *Machine) Journal() string { return m.journal }

// AcceptLoss goes on from the records that are left of a journal which has lost some. It is called at most once, before the first
// Step and Ready, and only when nothing runs any more that the journal may not know of: package driver sees to that. The machine's
// journal has a fresh name from then on, its epoch and numbers are above all that the lost records may have had, and servers that
// belong to the journal before go over to it. What was lost stays so: jobs submitted since, and cancels; of checkpoints see [Machine.Found].
//
// A loss that was accepted before changes nothing. Another name than that of the machine's journal is refused with
// apportion.ErrConflict.
func (m *Machine) AcceptLoss(journal, fresh string) error {
	fault := &apportion.FieldError{Item: apportion.Item{Kind: "journal", ID: journal}, Field: "name"}
	switch {
	case slices.Contains(m.former, journal):
		return nil
	case journal == "" || journal != m.journal || fresh == journal:
		fault.Err, fault.Detail = apportion.ErrConflict, fmt.Sprintf("the journal that is there is %s", m.journal)
		return fault
	case m.epoch+lossLift > maxEpoch:
		fault.Err = apportion.ErrRange
		return fault
	}
	m.former, m.journal, m.gaps = append(m.former, journal), fresh, nil
	m.lift, m.epoch = m.lift+lossLift, m.epoch+lossLift
	m.skip()
	m.ready.effects = nil
	for _, name := range m.names {
		m.restart(m.jobs[name])
	}
	m.schedule()
	m.check()
	return nil
}

// Found says, after AcceptLoss and before the first Step, which checkpoints of a job the store has, ascending. Those above the newest on
// record were saved in the time that is lost: they count from then on, with an unknown step, since those on record may have been pruned
// for them. A job that is not on record or has ended changes nothing.
func (m *Machine) Found(job string, numbers []int64) {
	j, known := m.jobs[job]
	if !known || j.Phase == Ended {
		return
	}
	for _, n := range numbers {
		if n > j.last().Number && n <= m.next {
			j.Checkpoints = append(j.Checkpoints, Confirmed{Number: n, Step: -1})
			m.touch(j)
		}
	}
	if drop := len(j.Checkpoints) - m.config.Keep; drop > 0 {
		j.Checkpoints = slices.Delete(j.Checkpoints, 0, drop)
	}
	m.check()
}

// restart stops what a job has on its servers, by an attempt above all that the lost records may have begun there: servers would
// refuse what belongs to the one on record. The job goes on from its newest checkpoint.
func (m *Machine) restart(j *Job) {
	if j.Phase == Idle || j.Phase == Ended {
		return
	}
	j.Attempt = m.number()
	j.blame(Died, "records of the journal were lost, and nobody knows what ran since")
	m.enter(j, Stopping)
}
