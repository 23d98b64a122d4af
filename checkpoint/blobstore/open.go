// This file implements Open: a bucket becomes a store, if it is the one that is expected.

package blobstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"gocloud.dev/blob"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/store"
)

// Open opens the bucket of a URL whose scheme is that of an imported driver, see the package comment. The
// bucket must exist. Nil options are the zero value.
func Open(ctx context.Context, url string, o *Options) (*Store, error) {
	bucket, err := blob.OpenBucket(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("blobstore: %w", err)
	}
	s, err := New(bucket, o)
	if err != nil {
		return nil, errors.Join(err, bucket.Close())
	}
	s.close = bucket.Close
	// Without an expectation nothing is asked for: Open makes no request then.
	if s.on.options.Identity != "" {
		if _, err := s.Identity(ctx); err != nil {
			return nil, errors.Join(err, bucket.Close())
		}
	}
	return s, nil
}

// New returns a store in a bucket, which stays the caller's.
func New(b *blob.Bucket, o *Options) (*Store, error) {
	s := &bucket{Bucket: b, now: time.Now, committing: make(map[string]chan struct{})}
	if o != nil {
		s.options = *o
	}
	var faults apportion.Faults
	if s.options.Grace < 0 {
		faults.Add(apportion.Item{ID: "blobstore"}, "Grace", apportion.ErrNegative, s.options.Grace.String())
	}
	if s.options.BlockBytes < 0 {
		faults.Add(apportion.Item{ID: "blobstore"}, "BlockBytes", apportion.ErrNegative, strconv.Itoa(s.options.BlockBytes))
	}
	s.options.Grace = cmp.Or(s.options.Grace, defaultGrace)
	portable := store.NewPortable(s, s.options.Form, s.options.Identity)
	return &Store{Portable: portable, on: s, close: func() error { return nil }}, faults.Err()
}

// Close releases the bucket that Open has opened. No reader, writer or call may be in use.
func (s *Store) Close() error { return s.close() }
