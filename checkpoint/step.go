// This file implements the three calls of a machine: New, Step and Ready.

package checkpoint

import (
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion"
)

// New returns a machine that knows no job and no server. Epochs number the masters of a cluster,
// ascending from 1: journal.Open finds the number. The error is that of Config.Validate.
func New(config Config, epoch int64) (*Machine, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if epoch < 1 || epoch > maxEpoch {
		return nil, &apportion.FieldError{Item: apportion.Item{ID: "machine"}, Field: "epoch", Err: apportion.ErrRange}
	}
	config = config.filled()
	config.Kinds = slices.Clone(config.Kinds)
	m := &Machine{
		config: config, epoch: epoch, jobs: make(map[string]*Job),
		servers: make(map[string]*Host), due: make(map[string]time.Duration),
		saving: make(map[string]time.Duration), longest: make(map[string]time.Duration), rest: make(map[string]time.Duration), books: newBooks(),
	}
	m.forgetChanges()
	return m, nil
}

// Step takes one event. It either does all that follows from it, or returns an error and changes
// nothing: ErrFenced for ever once another master has taken over, ErrBehind once a server knows more than the records, or an
// [*apportion.FieldError] or [apportion.Faults] for an event that makes no sense. Replies and reports
// that come too late are no errors: Stale counts them.
//
// O(what it changes, and the jobs that wait for that); O(jobs) for a Tick, and O(servers + containers of all jobs) where
// a server has changed while jobs wait.
func (m *Machine) Step(event Event) error {
	if m.over != nil {
		return m.over
	}
	if err := m.take(event); err != nil {
		return err
	}
	m.schedule()
	m.check()
	return nil
}

// take carries one event out, or returns an error and changes nothing.
func (m *Machine) take(event Event) error {
	switch e := event.(type) {
	case Submit:
		return m.submit(e)
	case Adjust:
		return m.adjust(e)
	case Checkpoint:
		return m.checkpoint(e)
	case Cancel:
		return m.cancel(e)
	case Forget:
		return m.forget(e)
	case Finished:
		return m.finished(e)
	case Exited:
		return m.exited(e)
	case Stalled:
		return m.stalled(e)
	case ServerUp:
		return m.serverUp(e)
	case ServerSilent:
		return m.serverSilent(e)
	case ServerFenced:
		return m.serverFenced(e)
	case Drain:
		return m.drain(e)
	case Cordon:
		return m.cordon(e)
	case StoreNamed:
		return m.storeNamed(e)
	case Orphan:
		return m.orphan(e)
	case Reply:
		return m.reply(e)
	case Tick:
		return m.tick(e)
	}
	return &apportion.FieldError{Field: tag, Err: apportion.ErrUnknown, Detail: fmt.Sprintf("%T", event)}
}

// Ready is what Steps have led to.
type Ready struct {
	// Record is to be made durable before any of Effects is begun. It may be empty.
	Record Record `json:"record"`
	// Effects are to be carried out, in any order.
	Effects []Effect `json:"effects,omitempty"`
}

// Ready hands over what has come together since the last call, and forgets it.
func (m *Machine) Ready() Ready {
	ready := Ready{Record: m.record(m.ready), Effects: m.ready.effects}
	m.forgetChanges()
	return ready
}

func (m *Machine) forgetChanges() {
	m.ready = changes{
		jobs: make(map[string]bool), gone: make(map[string]bool),
		servers: make(map[string]bool), lost: make(map[string]bool), next: m.next, store: m.store, journal: m.journal,
	}
}
