// This file implements what becomes of records that were lost after they had been durable: masters that are behind what
// servers know stop, and no number is given out twice.

package checkpoint

import (
	"fmt"
	"math"
	"slices"

	"github.com/apportion/apportion"
)

// perEpoch is how many numbers a master gives out before the numbers of the next one begin. Number 300000012 is the
// twelfth of the master with epoch 4, so what a master gives out that has lost the newest records is not what was given
// out before. One that gives out more takes those of the next, which do harm only where records are lost as well.
const perEpoch = 100_000_000

// maxEpoch keeps the numbers of all masters below the largest integer.
const maxEpoch = math.MaxInt64/perEpoch - 1

// maxGaps is how many gaps are kept: those of so many masters.
const maxGaps = 1000

// Gap are the numbers above After, up to To: a master that has read the records found After as the newest, and begins
// above To.
type Gap struct {
	After int64 `json:"after"`
	To    int64 `json:"to"`
}

// Witness is the newest that a server has heard of its masters: the effect with the highest ID, and the journal that it is
// on record in. Since an effect is on record before it is sent, a journal that does not know it has lost its end.
type Witness struct {
	Journal string `json:"journal,omitempty"`
	Number  int64  `json:"number,omitempty"`
}

// Heard returns the witness after an effect: the higher number counts, for effects come late and twice.
func (w Witness) Heard(e Effect) Witness {
	if e.Journal == "" {
		return w
	}
	if e.Journal != w.Journal {
		w.Number = 0
	}
	return Witness{e.Journal, max(w.Number, e.ID)}
}

// Foreign reports whether an effect is on record in another journal than the witness, which has not come in the place of that
// one either. Who names no journal is foreign to nobody.
func (w Witness) Foreign(e Effect) bool {
	return w.Journal != "" && e.Journal != "" && w.Journal != e.Journal && !slices.Contains(e.Former, w.Journal)
}

// skip goes on to the numbers of this epoch. What lies between was given out by no master on record: where somebody has
// heard of it, records are missing.
func (m *Machine) skip() {
	first := (m.epoch - 1) * perEpoch
	if first <= m.next {
		return
	}
	last := len(m.gaps) - 1
	if last >= 0 && m.gaps[last].To == m.next {
		m.gaps[last].To = first // the master before has given out none
	} else {
		m.gaps = append(m.gaps, Gap{m.next, first})
	}
	// A gap of so long ago is forgotten, and a number in it counts as known from then on.
	m.gaps = m.gaps[max(0, len(m.gaps)-maxGaps):]
	m.next = first
}

// hear compares what a server knows with the records.
// item is the server that tells it. A fault that says ErrBehind ends the machine.
func (m *Machine) hear(item apportion.Item, w Witness) error {
	fault := &apportion.FieldError{Item: item, Field: "Witness"}
	switch {
	case w.Journal == "" || m.journal == "":
		return nil
	case w.Journal != m.journal && !slices.Contains(m.former, w.Journal):
		fault.Err, fault.Detail = apportion.ErrConflict, fmt.Sprintf("it belongs to journal %s, and this one is %s", w.Journal, m.journal)
		return fault
	// What a former journal has lost is accepted; that it has given out higher numbers than are given out now is not.
	case w.Journal == m.journal && !m.unknown(w.Number), w.Journal != m.journal && w.Number <= m.next:
		return nil
	}
	// To go on would be to begin from a past in which other things run.
	fault.Err, fault.Detail = ErrBehind, fmt.Sprintf("it has heard of number %d, and journal %s does not know it", w.Number, w.Journal)
	m.over = fault
	return fault
}

// unknown reports whether a number was given out by nobody on record.
// O(gaps), which are at most maxGaps.
func (m *Machine) unknown(number int64) bool {
	if number > m.next {
		return true
	}
	for _, gap := range m.gaps {
		if gap.After < number && number <= gap.To {
			return true
		}
	}
	return false
}

// orphan ignores an attempt that may run on the server, and one that is yet to come.
func (m *Machine) orphan(o Orphan) error {
	j := m.jobs[o.Job]
	current := j != nil && j.Live() && o.Attempt == j.Attempt
	if current || m.servers[o.Server] == nil || o.Attempt > m.next {
		m.stale++
		return nil
	}
	// A Stop ends attempts up to its own and none above. So the one that runs by the records is spared where it is newer;
	// where it is older two would run, and what dies of it there is resumed as an attempt above both. No phase waits for
	// the reply.
	m.ready.effects = append(m.ready.effects, Effect{ID: m.number(), Epoch: m.epoch, Journal: m.journal, Former: slices.Clone(m.former), Action: Stop,
		Job: o.Job, Attempt: o.Attempt, Servers: []string{o.Server}})
	return nil
}
