// This file declares what a guard and its keeper say to each other, through pipes, one JSON value each.

package guard

import (
	"time"

	"github.com/apportion/apportion/checkpoint/command"
)

// order is the first word of a guard to its keeper: what to start. It goes through a pipe and not by arguments, which every user
// of the machine can read.
type order struct {
	// Argv is the trainer's command, Env all of its environment, and Dir where it begins; empty: where the keeper is.
	Argv   []string `json:"argv"`
	Env    []string `json:"env"`
	Dir    string   `json:"dir"`
	Cgroup string   `json:"cgroup,omitempty"`
	// Held says that descriptor 5 is to be held by the trainer as well.
	Held bool `json:"held,omitempty"`
	// Containment is the least that is enough.
	Containment Containment `json:"containment,omitempty"`
	// User is whom the trainer runs as; nil: as the keeper does.
	User *command.User `json:"user,omitempty"`
	word
}

// word is every further one.
type word struct {
	// Boot and Until say how long the lease goes, on the clock of agent.Uptime; empty: as before.
	Boot  string        `json:"boot,omitempty"`
	Until time.Duration `json:"until,omitempty"`
	// A word holds one of the three: a lease, a signal or a reason to kill. The first one, in the order, holds a lease.
	// Signal is to be passed on to the trainer.
	Signal int `json:"signal,omitempty"`
	// Kill says why all must end.
	Kill Why `json:"kill,omitempty"`
}

// report is a word of the keeper. There are two at most, Started and then Ended, or Fault alone; the end of the pipe without Ended
// means that the keeper has died.
type report struct {
	// Started says that the trainer lives, in the control group Cgroup if it has one; Fault that it could not be started.
	Started bool   `json:"started,omitempty"`
	Cgroup  string `json:"cgroup,omitempty"`
	Fault   string `json:"fault,omitempty"`
	// Ended is how it ended. Nothing of it lives any more.
	Ended *End `json:"ended,omitempty"`
}

const keepWord = "keep"
