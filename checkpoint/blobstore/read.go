// This file implements reading: checkpoints in a bucket are opened and listed, but for those behind a fence.

package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"gocloud.dev/blob"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/store/medium"
)

// Open implements store.Store.
func (s *Store) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	if err := medium.Enter(ctx, job, number); err != nil {
		return nil, medium.Wrap(job, number, err)
	}
	// Only the manifest is read here; parts are opened when they are asked for.
	record, err := s.record(ctx, store.FolderOf(job), number)
	if err == nil {
		err = s.visible(ctx, record.Record)
	}
	if err != nil {
		return nil, medium.Wrap(job, number, err)
	}
	return medium.NewReader(ctx, record, func(index int, offset int64) (io.ReadCloser, error) {
		return s.openPart(ctx, record.Record, index, offset)
	}), nil
}

// visible returns ErrNotFound for a manifest that came behind the fence of its job.
func (s *Store) visible(ctx context.Context, r medium.Record) error {
	f, err := s.fence(ctx, store.FolderOf(r.Job))
	if err == nil && f.hides(r.Number, r.Place) {
		err = store.ErrNotFound
	}
	return err
}

// openPart opens a part. One that is missing is damage, unless the checkpoint was deleted meanwhile.
func (s *Store) openPart(ctx context.Context, of medium.Record, index int, offset int64) (io.ReadCloser, error) {
	key := partKey(store.FolderOf(of.Job), of.Number, of.Place, index)
	r, err := s.bucket.NewRangeReader(ctx, key, offset, -1, nil)
	if err == nil {
		return part{ctx, r}, nil
	}
	// Drivers differ in what they say of an offset behind the end; what is there is nothing.
	if a, look := s.bucket.Attributes(ctx, key); offset > 0 && look == nil && a.Size <= offset {
		return io.NopCloser(strings.NewReader("")), nil
	}
	err = explain(ctx, err)
	if errors.Is(err, store.ErrNotFound) {
		// The manifest is read again to tell the two apart: it goes first when a checkpoint is
		// deleted, so one that is still there misses a part.
		if now, look := s.record(ctx, store.FolderOf(of.Job), of.Number); look == nil && now.Place == of.Place {
			err = fmt.Errorf("object %d is missing: %w", index, store.ErrCorrupt)
		}
	}
	return nil, err
}

// part is a part that is being read.
type part struct {
	ctx context.Context
	*blob.Reader
}

// Read implements io.Reader.
func (p part) Read(data []byte) (int, error) {
	n, err := p.Reader.Read(data)
	if err == io.EOF {
		return n, err
	}
	return n, explain(p.ctx, err)
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, job string) ([]store.Manifest, error) {
	var f fence
	numbers := func(folder store.Folder) (found []int64, err error) {
		if found, err = s.numbers(ctx, folder); err == nil {
			// The fence is read behind the numbers: what it does not know was there before it.
			f, err = s.fence(ctx, folder)
		}
		return found, err
	}
	return medium.List(ctx, job, numbers, func(folder store.Folder, number int64) (medium.Stored, error) {
		record, err := s.record(ctx, folder, number)
		if err == nil && f.hides(number, record.Place) {
			err = store.ErrNotFound
		}
		return record, err
	})
}
