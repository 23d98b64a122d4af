// This file keeps what a new master goes on from: the manager's state, as it was when it last decided
// anything.

package specon

import (
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/growth/specon"
)

// recall reads the notes of the master before, if there was one.
func (d *Decider) recall() error {
	var noted specon.State
	if err := harness.ReadNotes(d.config.Notes, &noted); err != nil {
		return err
	}
	if noted.Ticked {
		d.noted = &noted
	}
	return nil
}

// start makes the manager, from the notes where there are any.
func (d *Decider) start(kinds apportion.Kinds) (err error) {
	if d.manager != nil {
		return nil
	}
	config, options := d.config.settings(kinds)
	if d.noted == nil {
		d.manager, err = specon.NewManager(config, options)
		return err
	}
	if d.manager, err = specon.Restore(config, options, *d.noted); err != nil {
		return err
	}
	d.now = d.noted.Now
	for _, w := range d.noted.Workers {
		d.servers = append(d.servers, w.ID)
	}
	for _, j := range d.noted.Jobs {
		d.jobs[j.ID] = &meter{opened: j.Readings.Series().Newest() != 0}
	}
	return nil
}

// sameMarks reports whether two states have decided the same: who has a mark, and what is left of a plan.
func sameMarks(a, b *specon.State) bool {
	marks := func(s *specon.State) (list []specon.Transfer) {
		for i := range s.Jobs {
			if j := &s.Jobs[i]; j.Rebalanced {
				list = append(list, specon.Transfer{Job: j.ID, To: "rebalanced"})
			} else if j.Decided {
				list = append(list, specon.Transfer{Job: j.ID, To: "decided"})
			}
		}
		return append(list, s.Plan...)
	}
	return slices.Equal(marks(a), marks(b))
}

// note writes the state down when a decision has changed it, before anybody acts on it.
func (d *Decider) note() error {
	state := d.manager.State()
	if d.config.Stay || d.noted == nil && sameMarks(&specon.State{}, &state) || d.noted != nil && sameMarks(d.noted, &state) {
		return nil
	}
	d.noted = &state
	return harness.WriteNotes(d.config.Notes, &state)
}
