// This file implements the identity of a store: an object that is written once.

package blobstore

import (
	"context"
	"errors"
	"fmt"

	"gocloud.dev/blob"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/store/medium"
)

// identityKey is the key of the identity. It is no folder of a job, in which a percent sign stands before two
// digits.
const identityKey = "%identity"

// Identity implements store.Store. It costs one request, and two more for the first who asks.
func (s *Store) Identity(ctx context.Context) (store.Identity, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("blobstore: %w", err)
	}
	s.mu.Lock()
	known := s.options.Identity
	s.mu.Unlock()
	id, err := medium.Identify(known, func() (store.Identity, error) { return s.readIdentity(ctx) },
		func() (store.Identity, error) { return s.makeIdentity(ctx) })
	if err != nil {
		return "", fmt.Errorf("blobstore: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.Identity = id
	return id, nil
}

// makeIdentity writes a new identity, unless somebody else does meanwhile, and returns the one that is there.
func (s *Store) makeIdentity(ctx context.Context) (store.Identity, error) {
	// Writers of this process take turns, for the driver for directories cannot refuse what exists in one step.
	unlock, err := s.lock(ctx, identityKey)
	if err != nil {
		return "", err
	}
	defer unlock()
	made := s.bucket.WriteAll(ctx, identityKey, medium.NewIdentity().Line(),
		&blob.WriterOptions{ContentType: "application/octet-stream", IfNotExist: true})
	id, err := s.readIdentity(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return "", errors.Join(explain(ctx, made), err)
	}
	return id, err
}

// readIdentity returns the identity in the bucket; an error that wraps store.ErrNotFound if there is none.
func (s *Store) readIdentity(ctx context.Context) (store.Identity, error) {
	r, err := s.bucket.NewReader(ctx, identityKey, nil)
	if err != nil {
		return "", explain(ctx, err)
	}
	defer r.Close()
	id, err := medium.ReadIdentity(r)
	return id, explain(ctx, err)
}
