// This file declares what a guard and its authority say to each other.

package guard

import (
	"context"
	"fmt"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/check"
)

// ID names a run on a server, or one container of it: each guard has an ID of its own.
// Of two guards with one ID, told apart by Claim.Life, a desk takes the first for the run's.
type ID struct {
	Job     string `json:"job"`
	Attempt int64  `json:"attempt"`
	Server  string `json:"server"`
	// Rank numbers the containers of the run, from 0, where each has a guard; else it is 0.
	Rank int `json:"rank,omitempty"`
}

// validate returns the faults of a name as [apportion.Faults].
func (id ID) validate() error {
	if err := store.CheckJob(id.Job); err != nil {
		return err
	}
	var faults apportion.Faults
	item := check.Item("job", id.Job, 0)
	// Attempts begin at 1; 0 is what an environment leaves that names none.
	if id.Attempt < 1 {
		faults.Add(item, "Attempt", apportion.ErrRange, "")
	}
	if id.Rank < 0 {
		faults.Add(item, "Rank", apportion.ErrNegative, "")
	}
	if id.Server == "" {
		faults.Add(item, "Server", apportion.ErrEmpty, "")
	}
	return faults.Err()
}

// Claim is what a guard says of its run.
type Claim struct {
	ID
	// Epoch is that of the master which has started the run. A desk of a lower epoch is one that was replaced.
	Epoch int64 `json:"epoch"`
	// Life names the guard: two of one run are not both right.
	// A desk fences the second one off.
	Life string `json:"life"`
	// Clock is the guard's clock when it asks.
	Clock agent.Stamp `json:"clock"`
	// State is what it knows of the run.
	State State `json:"state"`
	// Asked is the newest save of which the guard has heard; 0: of none.
	Asked int64 `json:"asked,omitempty"`
	// Wait is how long the answer may wait for something to tell that the guard has not heard; 0: not at all. Whoever
	// answers may ignore it.
	Wait time.Duration `json:"wait,omitempty"`
}

// State is what is known of a run.
// Each claim has all of it, so that it does not matter which claims get lost.
type State struct {
	// Started says that the trainer was started.
	Started bool `json:"started,omitempty"`
	// Progress is what the trainer has reported last. Running, Done and Failed are as in package runner.
	Progress runner.Progress `json:"progress"`
	// Checkpoint is the newest acknowledgement of a save; nil: none.
	Checkpoint *command.Acknowledgement `json:"checkpoint,omitempty"`
	// Ended is how the run ended; nil: it has not.
	Ended *End `json:"ended,omitempty"`
}

// End is how a run ended.
// The zero End is a good one: the trainer has exited with status 0 by itself.
type End struct {
	// Code is the trainer's exit status; -1: a signal ended it.
	Code int `json:"code"`
	// Signal is that signal's name.
	Signal string `json:"signal,omitempty"`
	// Why says for what reason the guard has ended it; empty: it ended by itself.
	Why Why `json:"why,omitempty"`
}

// String returns the end in words.
func (e End) String() string {
	// A signal has no exit status, and the reason of the guard is told beside either.
	text := fmt.Sprintf("exit status %d", e.Code)
	if e.Signal != "" {
		text = "signal: " + e.Signal
	}
	if e.Why != "" {
		text += fmt.Sprintf(" (ended: %s)", e.Why)
	}
	return text
}

// Why is a reason for which a guard ends a run, or does not start it. Empty: the trainer has ended by itself.
type Why string

// The reasons.
const (
	// LeaseOver: nobody has vouched for the run in time.
	LeaseOver Why = "lease"
	// Fenced: a newer attempt has taken over, or the run was stopped.
	Fenced Why = "fenced"
	// GuardGone: the guard has died.
	GuardGone Why = "guard"
	// KeeperGone: the keeper has died.
	KeeperGone Why = "keeper"
	// Asked: the guard was told to end it.
	Asked Why = "asked"
)

// Grant is the answer to a claim.
// The zero Grant is none: a lease has a length.
type Grant struct {
	// Heard is the clock of a claim that has reached the authority: the lease counts from it. It is the guard's own clock that
	// comes back, so that no two clocks are ever compared, and time that an answer spends on its way is taken off the lease.
	Heard agent.Stamp `json:"heard"`
	// Length is how long the lease is.
	Length time.Duration `json:"length"`
	// Save is the number of the newest save that is asked for; 0: none was.
	Save int64 `json:"save,omitempty"`
	// Fenced says why the run must not go on, or begin; empty: it may.
	Fenced string `json:"fenced,omitempty"`
}

// Authority vouches for runs: it answers claims. [HTTP] and a socket by [NewSocket] are some.
type Authority interface {
	// Renew tells the authority of a claim and returns its newest answer to a claim of this run. An error renews nothing. It is
	// called by several goroutines, may take as long as the context lasts, and is left alone after that.
	Renew(ctx context.Context, c Claim) (Grant, error)
}
