// This file implements the fence: which effects an agent may carry out, [Dorm] §III-C2 and the promises of
// checkpoint.Effect.

package agent

import (
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/enum"
)

// Marks are what a server remembers of one job. Each mark is the number of an attempt; 0 says that
// there was none. Attempts ascend, so one number stands for all attempts up to it.
//
// Stopped may be above Created: a Stop can name an attempt of which this server has never
// heard.
type Marks struct {
	// Created is the highest attempt that a Create named here.
	Created int64 `json:"created,omitempty"`
	// Resumed is the highest attempt whose processes were started here.
	Resumed int64 `json:"resumed,omitempty"`
	// Stopped is the highest attempt that a Stop named here.
	Stopped int64 `json:"stopped,omitempty"`
	// Lapsed is the highest attempt that the server ended by itself, because its lease ran out. The
	// master may not know of it yet: such an attempt has failed, and no newer one has fenced it off.
	Lapsed int64 `json:"lapsed,omitempty"`
}

// Fence is all that decides whether a server may carry out an effect: the marks of the effect's job, and
// the epoch. It is a value: Admit returns the fence after the effect and leaves the one before as it
// was. Whoever carries effects out makes the new fence durable first, as [Book] does.
type Fence struct {
	// Epoch is the highest epoch of a master that has spoken to the server, over all jobs.
	Epoch int64 `json:"epoch,omitempty"`
	// Witness is the newest that such masters have asked for, over all jobs.
	Witness checkpoint.Witness `json:"witness,omitzero"`
	Marks
}

// Ruling is what a server does about an effect. The zero value refuses.
type Ruling uint8

// The rulings.
const (
	// Refused: a newer attempt or master has taken over. Do nothing and answer Fenced.
	Refused Ruling = iota
	// Impossible: the effect is not late, but it cannot be carried out here. Do nothing and answer Failed.
	Impossible
	// Repeated: the attempt was resumed before. Start nothing and answer Done.
	Repeated
	// Perform: carry the effect out.
	Perform
)

var rulings = []string{"refused", "impossible", "repeated", "perform"}

// String returns the name of the ruling in lower case.
func (r Ruling) String() string { return enum.String(r, rulings) }

// MarshalText returns what String returns; an error for a ruling that is not one of the constants.
func (r Ruling) MarshalText() ([]byte, error) { return enum.Marshal(r, rulings) }

// UnmarshalText reads what MarshalText writes and nothing else.
func (r *Ruling) UnmarshalText(text []byte) error { return enum.Unmarshal(r, text, rulings) }

// The constraints of a Verdict's Reason.
const (
	// EpochPassed: a master with a higher epoch has spoken to the server.
	EpochPassed = "epoch"
	// AttemptPassed: the attempt was stopped, or a later one was created.
	AttemptPassed = "attempt"
	// LeaseOver: the server has ended the attempt itself, because it had not heard of a master; or the master had not heard of the server for
	// as long when it gave the order.
	LeaseOver = "lease"
	// OtherJournal: the effect is on record in another journal than those before.
	OtherJournal = "journal"
	// NotCreated: the server has not done the Create of the attempt, or has forgotten it.
	NotCreated = "created"
)

// Verdict is the answer of a Fence.
type Verdict struct {
	Ruling Ruling `json:"ruling"`
	// Reason says why the ruling is Refused or Impossible; it is zero for the others.
	Reason apportion.Reason `json:"reason,omitzero"`
}

// Admit decides about an effect and returns the fence that holds from then on.
//
// An effect of a lower epoch is refused. A Stop is always performed, since ending what has ended does no
// harm. A Release is refused if its attempt is below the highest created one, whose containers it would
// take. All other effects belong to an attempt that must be alive: not stopped, not below the highest
// created one. Only a Create may name a higher attempt than the highest created one, because every other
// effect needs the Create of its attempt.
//
// The epoch of an effect counts as seen whatever the ruling is, unless it is the epoch that is refused.
// No mark changes unless the ruling is Perform. O(1).
func (f Fence) Admit(e checkpoint.Effect) (Fence, Verdict) {
	// 0. What is on record elsewhere comes from masters with epochs of their own.
	if f.Witness.Foreign(e) {
		return f, deny(e, Impossible, OtherJournal, 0)
	}
	// 1. The epoch comes before everything else: a master that was replaced may ask for nothing, not
	// even a Stop, because the attempt that it names may be alive for the next master.
	if e.Epoch < f.Epoch {
		return f, deny(e, Refused, EpochPassed, f.Epoch)
	}
	// 2. From here on the master is the newest that has spoken, so its epoch counts whatever follows.
	f.Epoch, f.Witness = e.Epoch, f.Witness.Heard(e)
	switch e.Action {
	case checkpoint.Stop:
		// 3. A Stop that comes late must not lower the mark that a later Stop has set.
		f.Stopped = max(f.Stopped, e.Attempt)
		return f, Verdict{Ruling: Perform}
	case checkpoint.Release:
		// 4. A Release is for what has stopped, so it needs no live attempt; it only must not take
		// containers from a newer one.
		if e.Attempt < f.Created {
			return f, deny(e, Refused, AttemptPassed, f.Created)
		}
		return f, Verdict{Ruling: Perform}
	}
	// 5. Everything else needs its attempt alive.
	if v := f.alive(e); v.Ruling != Perform {
		return f, v
	}
	// 6. Processes of one attempt are started once, even if they have died since.
	if e.Action == checkpoint.Resume && e.Attempt <= f.Resumed {
		return f, Verdict{Ruling: Repeated}
	}
	// 7. For a Create this is the new mark. For the others it is what the mark is already, since alive
	// lets only the created attempt through.
	f.Created = e.Attempt
	return f, Verdict{Ruling: Perform}
}

// alive rules on an effect that only an attempt which has not ended may have.
func (f Fence) alive(e checkpoint.Effect) Verdict {
	switch {
	case e.Attempt <= f.Stopped:
		return deny(e, Refused, AttemptPassed, f.Stopped)
	case e.Attempt < f.Created:
		return deny(e, Refused, AttemptPassed, f.Created)
	// Lapsed is asked after Stopped and Created: an attempt that a newer one has fenced off is refused
	// even if it has lapsed as well, because the master must learn that it was replaced there.
	case e.Attempt <= f.Lapsed:
		return deny(e, Impossible, LeaseOver, f.Lapsed)
	case e.Action != checkpoint.Create && e.Attempt > f.Created:
		return deny(e, Impossible, NotCreated, f.Created)
	}
	return Verdict{Ruling: Perform}
}

// deny returns a verdict that is not Perform. have is the number in the fence that stands against the
// number which the effect needs.
//
// Need and Have are the two numbers that were compared, so that a reader of the reason can do the
// comparison again.
func deny(e checkpoint.Effect, ruling Ruling, constraint string, have int64) Verdict {
	need, text := e.Attempt, ""
	switch constraint {
	case EpochPassed:
		need, text = e.Epoch, fmt.Sprintf("master %d asks for it, and master %d has taken over", e.Epoch, have)
	case AttemptPassed:
		text = fmt.Sprintf("attempt %d is over since attempt %d was created or stopped", need, have)
	case LeaseOver:
		text = fmt.Sprintf("attempt %d was ended here, because no master was heard for the length of the lease", need)
	case OtherJournal:
		need, text = 0, fmt.Sprintf("it is on record in journal %s, and this server belongs to another", e.Journal)
	case NotCreated:
		text = fmt.Sprintf("attempt %d was not created here", need)
	}
	return Verdict{ruling, apportion.Reason{Constraint: constraint, Applications: []string{e.Job},
		Need: float64(need), Have: float64(have), Text: fmt.Sprintf("%s of job %q: %s", e.Action, e.Job, text)}}
}
