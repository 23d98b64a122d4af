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
)

// Record implements store.Medium. A manifest that came behind the fence of its job is not visible.
func (s *bucket) Record(ctx context.Context, folder store.Folder, number int64) (store.Stored, error) {
	r, err := s.record(ctx, folder, number)
	if err != nil {
		return r, err
	}
	f, err := s.fence(ctx, folder)
	if err == nil && f.hides(number, r.Place) {
		err = store.ErrNotFound
	}
	return r, err
}

// Open implements store.Medium. A part that is missing is damage, unless the checkpoint was deleted meanwhile.
func (s *bucket) Open(ctx context.Context, of store.Record, index int, offset int64) (io.ReadCloser, error) {
	key := partKey(store.FolderOf(of.Job), of.Number, of.Place, index)
	r, err := s.NewRangeReader(ctx, key, offset, -1, nil)
	if err == nil {
		return part{ctx, r}, nil
	}
	// Drivers differ in what they say of an offset behind the end; what is there is nothing.
	if a, look := s.Attributes(ctx, key); offset > 0 && look == nil && a.Size <= offset {
		return io.NopCloser(strings.NewReader("")), nil
	}
	err = explain(ctx, err)
	if errors.Is(err, store.ErrNotFound) {
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

func (p part) Read(data []byte) (int, error) {
	n, err := p.Reader.Read(data)
	if err == io.EOF {
		return n, err
	}
	return n, explain(p.ctx, err)
}

func (s *bucket) List(ctx context.Context, folder store.Folder) ([]int64, func(int64) (store.Stored, error), error) {
	numbers, err := s.numbers(ctx, folder)
	if err != nil {
		return nil, nil, err
	}
	// The fence is read behind the numbers: what it does not know was there before it.
	f, err := s.fence(ctx, folder)
	return numbers, func(number int64) (store.Stored, error) {
		r, err := s.record(ctx, folder, number)
		if err == nil && f.hides(number, r.Place) {
			err = store.ErrNotFound
		}
		return r, err
	}, err
}
