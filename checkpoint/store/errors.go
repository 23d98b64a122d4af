// This file declares the errors of stores.

package store

import "errors"

// What a store, a framework or a journal answers when it cannot do what it was asked. Match them with
// errors.Is.
var (
	// ErrNotFound: there is no committed checkpoint of that job and number.
	ErrNotFound = errors.New("store: not found")
	// ErrExists: the checkpoint is committed already, with other content.
	ErrExists = errors.New("store: exists already")
	// ErrCorrupt: what is stored is not what was committed: wrong length, wrong digest, parts missing,
	// a manifest that cannot be read.
	ErrCorrupt = errors.New("store: corrupt")
	// ErrFenced: the checkpoint is of an attempt that is over: its number is below the fence of its job.
	ErrFenced = errors.New("store: below the fence")
	// ErrName: a job or part name that a store refuses, see [CheckJob] and [CheckPart].
	ErrName = errors.New("store: bad name")
	// ErrIdentity: the medium is not that of the store which was expected, or has no identity any more: a disk that
	// is not mounted, an empty bucket of the same name. Nothing that such a store says of checkpoints counts.
	ErrIdentity = errors.New("store: not the store that is expected")
)
