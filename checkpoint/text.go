// This file implements the enumerations as text: a word that is none of theirs is refused when it is
// read.

package checkpoint

import (
	"slices"
	"strconv"

	"github.com/apportion/apportion"
)

// The words of each enumeration, in the order of their declaration.
var (
	actions  = []Action{Save, Verify, Stop, Release, Create, Resume, Confirm, Prune}
	outcomes = []Outcome{Done, Failed, Damaged, Unreadable, Fenced}
	endings  = []Ending{Completed, Cancelled, GivenUp}
	phases   = []Phase{
		Idle, Waiting, Creating, Resuming, Confirming, Running, Saving, Verifying, Stopping, Releasing, Ended,
	}
)

// UnmarshalText reads one of the actions. Any other text is an [*apportion.FieldError] with
// apportion.ErrUnknown, and leaves the action as it was.
func (a *Action) UnmarshalText(text []byte) error { return readWord(a, "action", actions, text) }

// UnmarshalText reads one of the outcomes. Any other text is an [*apportion.FieldError] with
// apportion.ErrUnknown, and leaves the outcome as it was.
func (o *Outcome) UnmarshalText(text []byte) error { return readWord(o, "outcome", outcomes, text) }

// UnmarshalText reads one of the endings. Any other text is an [*apportion.FieldError] with
// apportion.ErrUnknown, and leaves the ending as it was.
func (e *Ending) UnmarshalText(text []byte) error { return readWord(e, "ending", endings, text) }

// UnmarshalText reads one of the phases. Any other text is an [*apportion.FieldError] with
// apportion.ErrUnknown, and leaves the phase as it was.
func (p *Phase) UnmarshalText(text []byte) error { return readWord(p, "phase", phases, text) }

// readWord sets to where text is one of the words.
func readWord[T ~string](to *T, field string, words []T, text []byte) error {
	if !slices.Contains(words, T(text)) {
		return &apportion.FieldError{Field: field, Err: apportion.ErrUnknown, Detail: strconv.Quote(string(text))}
	}
	*to = T(text)
	return nil
}
