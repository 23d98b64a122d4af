// This file implements Only: the share of a checkpoint that one process needs.

package transfer

import (
	"context"
	"slices"

	"github.com/apportion/apportion/checkpoint/store"
)

// Only returns a store whose checkpoints, when they are opened, have those parts alone that want says yes to, by their
// names. So Load and Verify of it read these and no others: of a checkpoint in shards each process loads its own. All
// else is as in the store behind it.
func Only(s store.Store, want func(name string) bool) store.Store { return only{s, want} }

// only is a store that shows some parts.
type only struct {
	store.Store
	want func(name string) bool
}

// Open implements store.Store.
func (o only) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	r, err := o.Store.Open(ctx, job, number)
	if err != nil {
		return nil, err
	}
	return onlyReader{r, o.want}, nil
}

// onlyReader is a reader whose manifest has some parts.
type onlyReader struct {
	store.Reader
	want func(name string) bool
}

// Manifest implements store.Reader.
func (r onlyReader) Manifest() store.Manifest {
	m := r.Reader.Manifest()
	// The parts are this caller's own.
	m.Parts = slices.DeleteFunc(m.Parts, func(p store.Part) bool { return !r.want(p.Name) })
	return m
}
