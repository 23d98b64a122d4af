// This file implements Only and OfShare: the share of a checkpoint that one process needs, and the one that it writes.

package store

import (
	"context"
	"slices"
)

// Only returns a store whose checkpoints, when they are opened, have only the parts whose names want takes: Load and
// Verify read no others. All else is as in the store behind it.
func Only(s Store, want func(name string) bool) Store { return only{s, want} }

// OfShare returns a store in which a checkpoint that is begun is this share of it. So Save into it is the save of one of several
// servers, and the checkpoint is there when the shares of all are joined. All else is as in the store behind it.
func OfShare(s Sharded, share Share) Store { return ofShare{s, share} }

// ofShare is a store that takes a share of each checkpoint.
type ofShare struct {
	Sharded
	share Share
}

func (p ofShare) Begin(ctx context.Context, job string, number int64) (Writer, error) {
	return p.BeginShard(ctx, job, number, p.share)
}

// only is a store that shows some parts.
type only struct {
	Store
	want func(name string) bool
}

func (o only) Open(ctx context.Context, job string, number int64) (Reader, error) {
	r, err := o.Store.Open(ctx, job, number)
	if err != nil {
		return nil, err
	}
	return onlyReader{r, o.want}, nil
}

// onlyReader is a reader whose manifest has some parts.
type onlyReader struct {
	Reader
	want func(name string) bool
}

func (r onlyReader) Manifest() Manifest {
	m := r.Reader.Manifest()
	// The parts are this caller's own.
	m.Parts = slices.DeleteFunc(m.Parts, func(p Part) bool { return !r.want(p.Name) })
	return m
}
