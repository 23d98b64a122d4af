// This file holds Reason, in which every package says why it refused, stopped or delayed something.

package apportion

// Reason says why a job waits, was refused or got no more: as data, and as one sentence. The zero
// Reason: nothing stands in the way.
type Reason struct {
	// Constraint is what stands in the way: a constant of the package that answers, for instance
	// "capacity (6)" of alloc or "room" of checkpoint.
	Constraint string `json:"constraint,omitempty"`
	// Applications are the IDs of the jobs that it concerns; empty: the one asked about, or all
	// together.
	Applications []string `json:"applications,omitempty"`
	// Kind is the kind of resource that is short, if it is one.
	Kind string `json:"kind,omitempty"`
	// Need and Have are the two sides of the inequality that does not hold, in units of Kind or in
	// those that Text names; both 0 where there is none.
	Need float64 `json:"need"`
	Have float64 `json:"have"`
	// Text is the whole in one sentence.
	Text string `json:"text"`
}
