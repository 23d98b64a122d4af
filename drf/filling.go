// This file holds Filling, the answer of Fill and FillWhole, and the reasons why claims stop.

package drf

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/enum"
)

// Amount is how containers are counted: divisible ones in fractions, whole ones exactly.
type Amount interface{ float64 | int64 }

// Filling says who deserves how much.
// It shares nothing with the input, and comes back unchanged from encoding/json.
type Filling[N Amount] struct {
	// Claims has one entry for each claim, in the order of the input.
	Claims []Filled[N] `json:"claims"`
	// Unused is what is left of the capacity, one quantity for each kind.
	Unused []N `json:"unused"`
	// ShortOf is the first kind that does not suffice for all Min together; then the filling
	// was made as if every Min were 0. It is -1 where every Min is honoured. Claims that cannot
	// be served do not count.
	ShortOf int `json:"short_of"`
	// HaltedBy is the position of the claim whose container did not fit and ended the filling,
	// where the option StopAtFirst asked for that; else -1.
	HaltedBy int `json:"halted_by"`
}

// Filled is what one claim gets.
type Filled[N Amount] struct {
	ID string `json:"id"`
	// Containers is their number, in [Min, Max] unless Min was dropped.
	Containers N `json:"containers"`
	// Share is the dominant share: the largest part of the capacity that the claim has of any
	// kind; in [0, 1]. The share of a claim that cannot be served is 0.
	Share float64 `json:"share"`
	// Level is the weighted share up to which the claims of its queue had risen when the claim stopped: Share/Weight, or
	// less where a divisible claim is held up by its Min.
	Level float64 `json:"level"`
	// StoppedBy is the reason why the claim has no more.
	StoppedBy Stop `json:"stopped_by"`
}

// Stop is why a claim has no more containers.
type Stop struct {
	Cause Cause `json:"cause"`
	// Kind is the kind of resource behind the cause, -1 where there is none (AtMax).
	Kind int `json:"kind"`
	// Queue is the queue whose ceiling is reached (AtCeiling), else empty.
	Queue string `json:"queue,omitempty"`
}

// String returns for instance "short of kind 1".
func (s Stop) String() string { return s.Text(nil) }

// Text is String with the names of the kinds.
// kinds may be nil, or shorter than it should be: a kind without a name is called by its number.
func (s Stop) Text(kinds apportion.Kinds) string {
	switch s.Cause {
	// Kind is -1 here, so that no name may be asked for.
	case AtMax:
		return "at its maximum"
	case Exhausted:
		return "short of " + kinds.Name(s.Kind)
	case Unservable:
		return "cannot be served: there is no " + kinds.Name(s.Kind)
	case AtCeiling:
		return "at the ceiling of queue " + s.Queue + " for " + kinds.Name(s.Kind)
	default:
		return "ended by another claim short of " + kinds.Name(s.Kind)
	}
}

// Cause is the sort of reason why a claim stops.
type Cause uint8

const (
	// AtMax: the claim has Max containers.
	AtMax Cause = iota
	// Exhausted: what is left of a kind that the claim demands is nothing (divisible), or less
	// than its next container needs (whole).
	Exhausted
	// Unservable: the claim demands a kind of which there is none at all; it gets nothing.
	Unservable
	// Halted: the container of another claim did not fit, and StopAtFirst was set.
	Halted
	// AtCeiling: a queue above the claim has of a kind all that its ceiling allows (divisible), or too
	// little less for its next container (whole).
	AtCeiling
)

var causeTexts = []string{"max", "exhausted", "unservable", "halted", "ceiling"}

// String returns the cause in one word.
func (c Cause) String() string { return enum.String(c, causeTexts) }

// MarshalText returns the text of String.
func (c Cause) MarshalText() ([]byte, error) { return enum.Marshal(c, causeTexts) }

// UnmarshalText reads a text of String.
func (c *Cause) UnmarshalText(text []byte) error { return enum.Unmarshal(c, text, causeTexts) }
