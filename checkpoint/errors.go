// This file holds the errors of the protocol itself.

package checkpoint

import "errors"

// What the protocol and those who carry it out answer. Match them with errors.Is.
var (
	// ErrFenced: a newer attempt or a newer master has taken over; whoever gets this must stop. A
	// journal, a server and a runner answer it.
	ErrFenced = errors.New("checkpoint: fenced off by a newer one")
	// ErrBehind: a server has carried out what the records do not know, so some were lost that had been durable: the end
	// of a journal was cut off, or an old copy of it was put in its place. Whoever gets this must stop. Where the
	// records are gone for good, Machine.AcceptLoss goes on without them.
	ErrBehind = errors.New("checkpoint: records were lost")
	// ErrCorrupt: records are not those that a machine has written, or do not fit its Config. Of a
	// checkpoint that is damaged its store says store.ErrCorrupt.
	ErrCorrupt = errors.New("checkpoint: corrupt journal")
)
