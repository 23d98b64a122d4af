// This file implements the identity of a store: an object that is written once.

package blobstore

import (
	"context"
	"errors"

	"gocloud.dev/blob"

	"github.com/apportion/apportion/checkpoint/store"
)

// identityKey is the key of the identity. It is no folder of a job, in which a percent sign stands before two
// digits.
const identityKey = "%identity"

// Identity implements store.Medium. It costs one request, and two more for the first who asks.
func (s *bucket) Identity(ctx context.Context, make bool) (store.Identity, error) {
	id, err := s.readIdentity(ctx)
	if !errors.Is(err, store.ErrNotFound) {
		return id, err
	}
	if make {
		return s.makeIdentity(ctx)
	}
	return "", nil
}

// makeIdentity writes a new identity, unless somebody else does meanwhile, and returns the one that is there.
func (s *bucket) makeIdentity(ctx context.Context) (store.Identity, error) {
	// Writers of this process take turns, for the driver for directories cannot refuse what exists in one step.
	unlock, err := s.lock(ctx, identityKey)
	if err != nil {
		return "", err
	}
	defer unlock()
	made := s.WriteAll(ctx, identityKey, store.NewIdentity().Line(),
		&blob.WriterOptions{ContentType: "application/octet-stream", IfNotExist: true})
	id, err := s.readIdentity(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return "", errors.Join(explain(ctx, made), err)
	}
	return id, err
}

// readIdentity returns the identity in the bucket; an error that wraps store.ErrNotFound if there is none.
func (s *bucket) readIdentity(ctx context.Context) (store.Identity, error) {
	r, err := s.NewReader(ctx, identityKey, nil)
	if err != nil {
		return "", explain(ctx, err)
	}
	defer r.Close()
	id, err := store.ReadIdentity(r)
	return id, explain(ctx, err)
}
