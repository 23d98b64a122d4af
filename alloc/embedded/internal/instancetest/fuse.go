// This file holds a context that ends by itself.

package instancetest

import (
	"context"
)

// Fuse is a context that ends after a number of looks at it.
type Fuse struct {
	context.Context
	Left int
}

// NewFuse returns a context that ends after so many looks at it.
func NewFuse(looks int) *Fuse { return &Fuse{context.Background(), looks} }

// Err counts a look.
func (f *Fuse) Err() error {
	if f.Left--; f.Left < 0 {
		return context.Canceled
	}
	return nil
}
