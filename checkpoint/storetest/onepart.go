// This file implements Write and Read: checkpoints of one part, for tests beside the suite.

package storetest

import (
	"context"

	"github.com/apportion/apportion/checkpoint/store"
)

// onePart is the name of the part that Write writes and Read reads.
const onePart = "part"

// Write begins checkpoint number of job and writes data as its only part, which is called "part". The
// writer is the caller's, to commit or abort; it is nil if the store began none.
// It serves the tests of what uses a store: an agent's or a driver's test that needs some checkpoint to be there, of whatever
// content. The writer is not nil beside an error if Begin has succeeded: Abort frees what it holds.
func Write(ctx context.Context, s store.Store, job string, number int64, data string) (store.Writer, error) {
	return write(ctx, s, job, number, []file{{onePart, data}})
}

// Read returns the content of a committed checkpoint that [Write] wrote.
// The error wraps store.ErrNotFound if there is no such checkpoint or if it has no part of that name, and store.ErrCorrupt if
// the bytes are not those that were committed. The whole content is in memory.
func Read(ctx context.Context, s store.Store, job string, number int64) (string, error) {
	return readOne(ctx, s, job, number, onePart)
}
