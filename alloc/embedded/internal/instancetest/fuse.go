// This file holds a context that ends by itself.

package instancetest

import (
	"context"
)

// Fuse is a context that ends after a number of looks at it.
// A time limit would end a search elsewhere in every run. Counted looks end it at the same place, so that a
// test can go through all places where a search may be interrupted. It is for one goroutine.
type Fuse struct {
	context.Context
	// Below 0 the context has ended; a test that reads Left sees how many looks were not used.
	Left int
}

// NewFuse returns a context that ends after so many looks at it.
func NewFuse(looks int) *Fuse { return &Fuse{context.Background(), looks} }

// Err counts a look.
func (f *Fuse) Err() error {
	// The context stays ended, as Left only falls: a context that came back would break the contract of
	// context.
	if f.Left--; f.Left < 0 {
		return context.Canceled
	}
	return nil
}
