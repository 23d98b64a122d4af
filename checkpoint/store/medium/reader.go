// This file implements store.Reader on whatever can open objects: parts that compare length and
// digest while they are read.

package medium

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/apportion/apportion/checkpoint/store"
)

var errReaderClosed = errors.New("the reader is closed")

// reader implements store.Reader.
type reader struct {
	// It is that of Open, and ends the reader with all its parts.
	ctx context.Context
	// manifest is the reader's own copy, with which every part is compared.
	manifest store.Manifest
	open     func(index int) (io.ReadCloser, error)
	// closed stops new parts; those that are open go on.
	closed bool
}

// NewReader returns a reader of a committed checkpoint; open opens the object of the part with that
// index from its beginning.
func NewReader(ctx context.Context, m store.Manifest, open func(index int) (io.ReadCloser, error)) store.Reader {
	return &reader{ctx: ctx, manifest: m, open: open}
}

// Manifest implements store.Reader.
func (r *reader) Manifest() store.Manifest {
	m := r.manifest
	// The caller may change what it gets; what parts are compared with must not change.
	m.Parts = slices.Clone(m.Parts)
	return m
}

// Part implements store.Reader.
func (r *reader) Part(name string) (io.ReadCloser, error) {
	from, part, err := r.part(name)
	if err != nil {
		return nil, r.wrap(name, err)
	}
	// Each call has a stream and a digest of its own, so that one part can be read twice at once.
	return &verified{r: r, part: part, from: from, hash: sha256.New()}, nil
}

// part opens the object of a part, and returns what the manifest says of it.
func (r *reader) part(name string) (io.ReadCloser, store.Part, error) {
	if r.closed {
		return nil, store.Part{}, errReaderClosed
	}
	if err := r.ctx.Err(); err != nil {
		return nil, store.Part{}, err
	}
	// The name is looked up and never made a path: the object is opened by its index.
	i := slices.IndexFunc(r.manifest.Parts, func(p store.Part) bool { return p.Name == name })
	if i < 0 {
		return nil, store.Part{}, store.ErrNotFound
	}
	from, err := r.open(i)
	return from, r.manifest.Parts[i], err
}

// wrap adds the checkpoint and the part to an error.
func (r *reader) wrap(part string, err error) error {
	return Wrap(r.manifest.Job, r.manifest.Number, fmt.Errorf("part %.60q: %w", part, err))
}

// Close implements store.Reader.
func (r *reader) Close() error {
	r.closed = true
	return nil
}

// verified is a part that is being read. It holds the last bytes back until the digest is known: who
// reads exactly as many bytes as the manifest says, and never sees io.EOF, gets no damaged part either.
type verified struct {
	r    *reader
	part store.Part
	// from is the object of the part, of which verified reads part.Bytes and one more.
	from io.ReadCloser
	// hash has seen exactly the bytes that were read.
	hash hash.Hash
	// read <= part.Bytes holds always: Read clips what it asks for.
	read int64
	// ended is what Read returns from now on: io.EOF or what went wrong.
	ended error
}

// Read implements io.Reader.
func (v *verified) Read(p []byte) (int, error) {
	// An end is for good: a reader that goes on after damage would get bytes that nobody vouches for.
	if v.ended != nil {
		return 0, v.ended
	}
	// The end of the context is not kept in ended; the context keeps it itself.
	if err := v.r.ctx.Err(); err != nil {
		return 0, v.r.wrap(v.part.Name, err)
	}
	p = p[:min(int64(len(p)), v.part.Bytes-v.read)]
	n, err := v.step(p)
	if err != nil && err != io.EOF {
		err = v.r.wrap(v.part.Name, err)
	}
	v.ended = err
	return n, err
}

// step reads some of p, which holds no more than is left of the part.
func (v *verified) step(p []byte) (int, error) {
	if v.read == v.part.Bytes { // a part without bytes
		return 0, cmp.Or(v.compare(), io.EOF)
	}
	n, err := v.from.Read(p)
	// The bytes are hashed before they are handed out: the caller may change p.
	v.hash.Write(p[:n])
	v.read += int64(n)
	switch {
	// The last piece is handed out only after compare: until then it is in p, and n = 0 takes it back.
	case v.read == v.part.Bytes:
		if err := v.compare(); err != nil {
			return 0, err
		}
		return n, io.EOF
	// The object ends too early. Its bytes so far were handed out, and the error tells that they are not
	// all.
	case err == io.EOF:
		return n, fmt.Errorf("%d bytes instead of %d: %w", v.read, v.part.Bytes, store.ErrCorrupt)
	}
	return n, err
}

// compare returns an error unless the object ends here and has the digest of the manifest.
func (v *verified) compare() error {
	// One byte more than the manifest says is asked for: an object that was extended has it.
	switch n, err := io.ReadFull(v.from, make([]byte, 1)); {
	case n > 0:
		return fmt.Errorf("more than %d bytes: %w", v.part.Bytes, store.ErrCorrupt)
	case err != io.EOF:
		return err
	}
	// The length is right by now, so that only the content can differ.
	if !bytes.Equal(v.hash.Sum(nil), v.part.SHA256[:]) {
		return fmt.Errorf("has another digest: %w", store.ErrCorrupt)
	}
	return nil
}

// Close implements io.Closer.
func (v *verified) Close() error {
	// A part that was read to its end keeps saying io.EOF.
	if v.ended == nil {
		v.ended = v.r.wrap(v.part.Name, errClosed)
	}
	return v.from.Close()
}
