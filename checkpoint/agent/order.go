// This file declares what a master tells an agent and what it hears from it.

package agent

import (
	"encoding/json"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
)

// Order is an effect for one server, with what the server needs to carry it out.
type Order struct {
	Effect checkpoint.Effect `json:"effect"`
	// Spec says what the job runs, for a Resume: the agent hands it to whoever makes its runners.
	Spec json.RawMessage `json:"spec,omitempty"`
	// Share is, for a Verify, what the server reads of the checkpoint; for a Save, which share of it the server writes, and
	// the master joins them. Zero is all of it.
	Share store.Share `json:"share,omitzero"`
	// Heard is the newest Status.Clock of this agent that has reached the master; see [Lease].
	Heard Stamp `json:"heard,omitzero"`
	// Book is the Incarnation.Book of the agent that is meant; empty: any. Another one does nothing and renews no lease.
	Book string `json:"book,omitempty"`
}

// Question asks an agent how its jobs stand.
type Question struct {
	// Epoch is that of the master who asks.
	Epoch int64 `json:"epoch"`
	// Heard is the newest Status.Clock of this agent that has reached the master; see [Lease].
	Heard Stamp `json:"heard,omitzero"`
	// Book is the Incarnation.Book of the agent that is meant; empty: any. Another one answers, and renews no lease.
	Book string `json:"book,omitempty"`
	// Forget are those of Status.Ended that the master does not know any more: what the server has of them goes.
	Forget []Ended `json:"forget,omitempty"`
}

// Status is how the newest attempt of each job stands on one server.
type Status struct {
	// Clock is the agent's clock when it answered. The master hands it back.
	Clock Stamp `json:"clock,omitzero"`
	// Incarnation is who has answered.
	Incarnation Incarnation `json:"incarnation,omitzero"`
	// Witness is the newest that the agent has heard of any master, see [checkpoint.Witness].
	Witness checkpoint.Witness `json:"witness,omitzero"`
	// Jobs are those whose processes may be alive, ascending by name.
	Jobs []JobStatus `json:"jobs"`
	// Ended are jobs that the server remembers and of which nothing lives there, ascending by name; not more than a hundred.
	Ended []Ended `json:"ended,omitempty"`
}

// JobStatus is how an attempt stands on one server.
type JobStatus struct {
	Job      string          `json:"job"`
	Attempt  int64           `json:"attempt"`
	Progress runner.Progress `json:"progress"`
	// Unknown says why the Progress is not known now, and is zero; empty: it is. That lasts for the length of a lease at most.
	Unknown string `json:"unknown,omitempty"`
}
