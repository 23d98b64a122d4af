// This file implements Reader on whatever can open objects.

package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apportion/apportion"
)

var errReaderClosed = errors.New("the reader is closed")

// reader implements Reader.
// Its methods but Close may be called at the same time: what they share does not change, and closed is for
// Close alone.
type reader struct {
	// It is that of Open, and ends the reader with all its parts.
	ctx context.Context
	// stored has the reader's own manifest, with which every part is compared.
	stored Stored
	open   func(index int, offset int64) (io.ReadCloser, error)
	// closed stops new parts; those that are open go on.
	closed bool
}

// newReader returns a reader of a committed checkpoint; open is not asked for inline parts.
// The manifest has passed decodeOf or is one that was just encoded, and r belongs to the reader from here on. The
// end of ctx ends every part too. newReader opens no object.
func newReader(ctx context.Context, r Stored, open func(index int, offset int64) (io.ReadCloser, error)) Reader {
	return &reader{ctx: ctx, stored: r, open: open}
}

func (r *reader) Manifest() Manifest {
	m := r.stored.Manifest
	// The caller may change what it gets; what parts are compared with must not change.
	m.Parts = slices.Clone(m.Parts)
	return m
}

func (r *reader) Part(name string) (io.ReadCloser, error) {
	i, err := r.find(name)
	if err != nil {
		return nil, r.wrap(name, err)
	}
	s := &stream{r: r, part: r.stored.Parts[i], left: r.stored.Parts[i].Bytes}
	if s.part.SHA256 != (Digest{}) {
		s.digest = sha256.New()
	}
	return s.open(i)
}

// Range implements Reader. It costs the rest of the first and of the last chunk beyond its bytes.
func (r *reader) Range(name string, offset, bytes int64) (io.ReadCloser, error) {
	i, err := r.find(name)
	if err != nil {
		return nil, r.wrap(name, err)
	}
	part := r.stored.Parts[i]
	switch {
	// It is subtracted, since a sum of the two may be too large for an int64.
	case offset < 0 || bytes < 0 || offset > part.Bytes-bytes:
		err = &apportion.FieldError{Field: "offset", Err: apportion.ErrRange, Detail: fmt.Sprintf("%d bytes from %d on, of %d", bytes, offset, part.Bytes)}
	case part.CRC32C == "" && part.Bytes > 0:
		err = fmt.Errorf("a range of a part without sums of chunks: %w", errors.ErrUnsupported)
	}
	if err != nil {
		return nil, r.wrap(name, err)
	}
	s := &stream{r: r, part: part, chunk: offset / ChunkBytes, skip: offset % ChunkBytes, left: bytes}
	return s.open(i)
}

// find returns the index of a part.
// O(parts), which is little beside opening one.
func (r *reader) find(name string) (int, error) {
	if r.closed {
		return 0, errReaderClosed
	}
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	// The name is looked up and never made a path: the object is opened by its index.
	i := slices.IndexFunc(r.stored.Parts, func(p Part) bool { return p.Name == name })
	if i < 0 {
		return 0, ErrNotFound
	}
	return i, nil
}

func (r *reader) wrap(part string, err error) error {
	return Wrap(r.stored.Job, r.stored.Number, fmt.Errorf("part %.60q: %w", part, err))
}

func (r *reader) Close() error {
	r.closed = true
	return nil
}
