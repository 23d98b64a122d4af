// This file implements Reader on shares: each is opened when a part of it is read for the first time.

package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Open implements Store. Of a checkpoint that consists of shares it reads the list, and opens no share.
func (s *Shards) Open(ctx context.Context, job string, number int64) (Reader, error) {
	if err := enterShards(ctx, job, number); err != nil {
		return nil, err
	}
	r, err := s.under.Open(ctx, job, number)
	if err != nil || !isList(r.Manifest()) {
		return r, err
	}
	l, err := readList(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, Wrap(job, number, err)
	}
	// The list is all that the reader needs of the checkpoint itself, so that the reader of it was closed
	// already.
	return &shardReader{s: s, ctx: ctx, job: job, number: number, list: l, open: make([]Reader, len(l.Shares))}, nil
}

// shardReader reads a checkpoint that consists of shares.
// Its methods may be called at the same time. It opens as many shares as it is asked for parts of, and keeps
// them until Close.
type shardReader struct {
	s      *Shards
	ctx    context.Context
	job    string
	number int64
	list   list

	// mu guards what follows.
	mu sync.Mutex
	// open are the readers of the shares that were asked for, the others are nil.
	open   []Reader
	closed bool
}

// Manifest implements Reader. Each call makes a list of its own, so that the caller may change it.
func (r *shardReader) Manifest() Manifest {
	return Manifest{Job: r.job, Number: r.number, Parts: r.list.parts()}
}

// Part implements Reader. The bytes are compared by the reader of the share.
// The lock is not held while it is read, so that parts of different shares, and of one, are read at the same
// time.
func (r *shardReader) Part(name string) (io.ReadCloser, error) {
	shard, err := r.with(name)
	if err != nil {
		return nil, Wrap(r.job, r.number, fmt.Errorf("part %.60q: %w", name, err))
	}
	return shard.Part(name)
}

// Range implements Reader. Whether it lies within the part is for the reader of the share to say.
func (r *shardReader) Range(name string, offset, bytes int64) (io.ReadCloser, error) {
	shard, err := r.with(name)
	if err != nil {
		return nil, Wrap(r.job, r.number, fmt.Errorf("part %.60q: %w", name, err))
	}
	return shard.Range(name, offset, bytes)
}

// with returns the reader of the share that has a part, and opens it for the first of them. O(parts of the checkpoint). It may
// be called at the same time: who comes second waits, and finds the share open.
func (r *shardReader) with(name string) (Reader, error) {
	i := slices.IndexFunc(r.list.Shares, func(parts []Part) bool {
		return slices.ContainsFunc(parts, func(p Part) bool { return p.Name == name })
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, errReaderClosed
	case i < 0:
		return nil, ErrNotFound
	case r.open[i] != nil:
		return r.open[i], nil
	}
	shard, err := r.s.under.Open(r.ctx, shardOf(r.job, i), r.number)
	// The list names it, so it was there. The error of the store is quoted and not wrapped: it is no ErrNotFound.
	if errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("share %d is missing: %v: %w", i, err, ErrCorrupt)
	}
	if err != nil {
		return nil, err
	}
	if !slices.Equal(shard.Manifest().Parts, r.list.Shares[i]) {
		return nil, errors.Join(fmt.Errorf("share %d has other parts than are listed: %w", i, ErrCorrupt), shard.Close())
	}
	r.open[i] = shard
	return shard, nil
}

// Close implements Reader. Every share is closed, also where one fails.
// Parts that are open are read on, as with every reader. A second call closes nothing.
func (r *shardReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	var err error
	for i, shard := range r.open {
		if shard != nil {
			err, r.open[i] = errors.Join(err, shard.Close()), nil
		}
	}
	return err
}

// List implements Store. It reads the list of each checkpoint that consists of shares.
// It costs two small reads for each such checkpoint, and none of a share. One whose list is damaged is named
// in the error and left out, like one with a damaged manifest.
func (s *Shards) List(ctx context.Context, job string) ([]Manifest, error) {
	if err := checkReserved(job); err != nil {
		return nil, err
	}
	found, err := s.under.List(ctx, job)
	faults := []error{err}
	var manifests []Manifest
	for _, m := range found {
		if isList(m) {
			r, err := s.Open(ctx, job, m.Number)
			if errors.Is(err, ErrNotFound) {
				continue // it was deleted a moment ago
			}
			if err != nil {
				faults = append(faults, err)
				continue
			}
			m = r.Manifest()
			faults = append(faults, r.Close())
		}
		manifests = append(manifests, m)
	}
	return manifests, errors.Join(faults...)
}
