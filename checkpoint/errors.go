// This file holds the errors of the protocol itself.

package checkpoint

import "errors"

// What the protocol and those who carry it out answer. Match them with errors.Is.
var (
	// ErrFenced: a newer attempt or a newer master has taken over; whoever gets this must stop. A
	// journal, a server and a runner answer it.
	ErrFenced = errors.New("checkpoint: fenced off by a newer one")
	// ErrCorrupt: records are not those that a machine has written, or do not fit its Config. Of a
	// checkpoint that is damaged its store says store.ErrCorrupt.
	ErrCorrupt = errors.New("checkpoint: corrupt journal")
)
