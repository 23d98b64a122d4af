// This file implements the checks of who an agent is: agents of one name are told apart.

package agenttest

import (
	"context"
	"errors"
	"fmt"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
)

// named does something to the agent, after which the name of its memory must be the same, or another.
// do ends the agent and begins it again, with what it knew or without.
func (s *Subject) named(ctx context.Context, same bool, do func() error) error {
	// A master tells agents of one name apart by this name alone: one that is the same after the memory was lost would be believed
	// to know what it has forgotten.
	before, err := s.Agent.Status(ctx, agent.Question{Epoch: 1})
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	after, err := s.Agent.Status(ctx, agent.Question{Epoch: 1})
	if err != nil {
		return err
	}
	if (before.Incarnation.Book == after.Incarnation.Book) != same {
		return fmt.Errorf("the memory was called %q and is called %q", before.Incarnation.Book, after.Incarnation.Book)
	}
	return nil
}

// witness: the agent tells the highest number that it has heard of its journal, whatever comes late, and remembers what was
// created. What is on record in another journal is not done, and is no refusal, which would end the master.
func witness(ctx context.Context, s *Subject) error {
	tells := func(number int64) func() error {
		return func() error {
			status, err := s.Agent.Status(ctx, agent.Question{Epoch: 1})
			if want := (checkpoint.Witness{Journal: records, Number: number}); err == nil && status.Witness != want {
				err = fmt.Errorf("the newest that the agent has heard of is %+v, want %+v", status.Witness, want)
			}
			return err
		}
	}
	elsewhere := func(e checkpoint.Effect) func() error {
		return func() error {
			before := s.look(e)
			if err := s.expect(ctx, checkpoint.Failed, recorded("elsewhere", e)); err != nil {
				return err
			}
			if after := s.look(e); after != before {
				return fmt.Errorf("%s of attempt %d is on record elsewhere, and was done: %s before, %s after", e.Action, e.Attempt, before, after)
			}
			return nil
		}
	}
	return first(
		func() error { return s.start(ctx, 3) },
		// The checks number their effects by attempt and checkpoint, see do: those of attempt 3, the highest so far,
		// have number 300.
		tells(300),
		// Numbers ascend as effects are recorded, and arrive in any order.
		// What comes late lowers nothing.
		func() error { return s.all(ctx, of(checkpoint.Stop, 2)) },
		tells(300),
		// A Stop, which no fence refuses for its attempt, is not done; and neither is a Create under an epoch
		// above all that were heard, as another cluster's master may have.
		elsewhere(of(checkpoint.Stop, 3)),
		elsewhere(by(9, of(checkpoint.Create, 4))),
		tells(300),
		// Journal and number are part of the memory. If they went with the process, an old journal would pass
		// after every restart of an agent.
		s.Restart,
		tells(300),
		elsewhere(of(checkpoint.Stop, 3)),
		// The epoch of the other journal has not counted.
		func() error { return s.all(ctx, of(checkpoint.Stop, 3)) },
		func() error { return s.alive() },
		func() error { return goesOver(ctx, s) },
	)
}

// goesOver: a journal that says that it has come in the place of the agent's own is the agent's from then on, and the one before is
// another.
func goesOver(ctx context.Context, s *Subject) error {
	e := recorded("restored", by(20, of(checkpoint.Create, 30)))
	e.Former = []string{"older", records}
	if err := s.all(ctx, e); err != nil {
		return err
	}
	status, err := s.Agent.Status(ctx, agent.Question{Epoch: 20})
	if want := (checkpoint.Witness{Journal: "restored", Number: 3000}); err == nil && status.Witness != want {
		err = fmt.Errorf("the newest that the agent has heard of is %+v, want %+v", status.Witness, want)
	}
	if err != nil {
		return err
	}
	return s.expect(ctx, checkpoint.Failed, by(21, of(checkpoint.Stop, 40)))
}

// forAnother: what is for an agent of the same name with another memory is not done, fences nobody off, and is no
// refusal, which would end the master.
func forAnother(ctx context.Context, s *Subject) error {
	status, err := s.Agent.Status(ctx, agent.Question{Epoch: 1})
	if err != nil {
		return err
	}
	if status.Incarnation.Book == "" || status.Incarnation.Life == "" {
		return errors.New("the agent does not say who it is")
	}
	other := func(e checkpoint.Effect) error {
		before := s.look(e)
		// No name at all would be for any memory. Another one is what a master sends that knew this machine
		// before it was set up anew, or knows another machine of the same name.
		s.book = status.Incarnation.Book + "x"
		defer func() { s.book = "" }()
		if err := s.expect(ctx, checkpoint.Failed, e); err != nil {
			return err
		}
		if after := s.look(e); after != before {
			return fmt.Errorf("%s of attempt %d was for another agent, and was done: %s before, %s after", e.Action, e.Attempt, before, after)
		}
		return nil
	}
	return first(
		func() error { return s.start(ctx, 2) },
		func() error { return other(of(checkpoint.Stop, 2)) },
		func() error { return other(by(9, of(checkpoint.Stop, 2))) },
		func() error { return other(of(checkpoint.Create, 3)) },
		// Else a master that was misled by a copied configuration would fence off the right one.
		// Neither the attempt nor the epoch counts as seen.
		func() error { return s.all(ctx, of(checkpoint.Confirm, 2)) },
		func() error { s.book = status.Incarnation.Book; return s.all(ctx, of(checkpoint.Stop, 2)) },
		func() error { return s.alive() },
	)
}

// namedStore: nothing is written into another store than the one that an effect names, and nothing begins from it; that is
// a failure of the server, and says nothing of the checkpoint.
func namedStore(ctx context.Context, s *Subject) error {
	id, err := s.Store.Identity(ctx)
	if err != nil {
		return err
	}
	in := func(store string, e checkpoint.Effect) checkpoint.Effect {
		e.Store = store
		return numbered(9, e)
	}
	const other = "OTHEROTHEROTHEROTHEROTHER2"
	return first(
		func() error { return s.start(ctx, 2) },
		func() error { return s.expect(ctx, checkpoint.Failed, in(other, of(checkpoint.Save, 2))) },
		// That it says Failed is not enough: it may have written first, and found out afterwards.
		func() error {
			list, err := s.Store.List(ctx, job)
			if err == nil && len(list) > 0 {
				err = fmt.Errorf("it has written %v into another store", list)
			}
			return err
		},
		func() error {
			return s.all(ctx, in(string(id), of(checkpoint.Save, 2)), of(checkpoint.Stop, 2), of(checkpoint.Create, 3))
		},
		func() error { return s.expect(ctx, checkpoint.Failed, in(other, of(checkpoint.Resume, 3))) },
		func() error { return s.alive() },
		// The same attempt from the right store is resumed: what was refused above has left no mark.
		func() error { return s.all(ctx, in(string(id), of(checkpoint.Resume, 3)), of(checkpoint.Confirm, 3)) },
		func() error { return s.alive(3) },
	)
}

// verify: a checkpoint that is there can be read, and one that is not, or is in another store, cannot.
func verify(ctx context.Context, s *Subject) error {
	elsewhere := numbered(9, of(checkpoint.Verify, 2))
	elsewhere.Store = "OTHEROTHEROTHEROTHEROTHER2"
	return first(
		func() error { return s.start(ctx, 2) },
		func() error {
			return s.all(ctx, numbered(9, of(checkpoint.Save, 2)), numbered(9, of(checkpoint.Verify, 2)))
		},
		// Not Damaged, which a Resume alone says: what is not verified does not count yet, and is saved anew.
		func() error { return s.expect(ctx, checkpoint.Failed, numbered(77, of(checkpoint.Verify, 2))) },
		func() error { return s.expect(ctx, checkpoint.Failed, elsewhere) },
		// To verify is to read. The attempt goes on meanwhile, and after a fault as well.
		func() error { return s.alive(2) },
	)
}
