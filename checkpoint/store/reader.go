// This file implements Reader on whatever can open objects: parts that compare length and
// sums while they are read.

package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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

// Manifest implements Reader.
func (r *reader) Manifest() Manifest {
	m := r.stored.Manifest
	// The caller may change what it gets; what parts are compared with must not change.
	m.Parts = slices.Clone(m.Parts)
	return m
}

// Part implements Reader.
func (r *reader) Part(name string) (io.ReadCloser, error) {
	from, part, err := r.part(name, 0)
	if err != nil {
		return nil, r.wrap(name, err)
	}
	// Each call has a stream and sums of its own, so that one part can be read twice at once.
	return &verified{r: r, part: part, from: from, summer: newSummer(part.SHA256 != Digest{})}, nil
}

// part opens the object of a part from an offset on, and returns what the manifest says of it.
func (r *reader) part(name string, offset int64) (io.ReadCloser, Part, error) {
	i, err := r.find(name)
	if err != nil {
		return nil, Part{}, err
	}
	// The contents came with the manifest, so they were compared when that was read; they are compared again
	// like those of every part.
	if at, inline := slices.BinarySearch(r.stored.Inline, i); inline {
		return io.NopCloser(bytes.NewReader(r.stored.Contents[at][offset:])), r.stored.Parts[i], nil
	}
	from, err := r.open(i, offset)
	return from, r.stored.Parts[i], err
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

// wrap adds the checkpoint and the part to an error.
func (r *reader) wrap(part string, err error) error {
	return Wrap(r.stored.Job, r.stored.Number, fmt.Errorf("part %.60q: %w", part, err))
}

// Close implements Reader.
func (r *reader) Close() error {
	r.closed = true
	return nil
}

// verified is a part that is being read. It holds the last bytes of each chunk, and of the part, back until their sum
// is known: who reads exactly as many bytes as the manifest says, and never sees io.EOF, gets no damaged part either.
type verified struct {
	r    *reader
	part Part
	// from is the object of the part, of which verified reads part.Bytes and one more.
	from io.ReadCloser
	// summer has seen exactly the bytes that were read, which are at most part.Bytes: Read clips what it asks for.
	summer *summer
	// ended is what Read returns from now on: io.EOF or what went wrong.
	ended error
}

// Read implements io.Reader.
// A part costs one pass: each byte goes into its sums once, whatever the sizes of the reads are.
func (v *verified) Read(p []byte) (int, error) {
	// An end is for good: a reader that goes on after damage would get bytes that nobody vouches for.
	if v.ended != nil {
		return 0, v.ended
	}
	// The end of the context is not kept in ended; the context keeps it itself.
	if err := v.r.ctx.Err(); err != nil {
		return 0, v.r.wrap(v.part.Name, err)
	}
	// No read goes beyond its chunk.
	left := min(v.part.Bytes-v.summer.bytes, ChunkBytes-v.summer.bytes%ChunkBytes)
	p = p[:min(int64(len(p)), left)]
	n, err := v.step(p)
	if err != nil && err != io.EOF {
		err = v.r.wrap(v.part.Name, err)
	}
	v.ended = err
	return n, err
}

// step reads some of p, which holds no more than is left of the chunk.
// Its end is that of Read: an error of it is wrapped there, and io.EOF comes with the last bytes.
func (v *verified) step(p []byte) (int, error) {
	if v.summer.bytes == v.part.Bytes { // a part without bytes
		return 0, cmp.Or(v.compare(), io.EOF)
	}
	n, err := v.from.Read(p)
	// The sums are computed before the bytes are handed out: the caller may change p.
	v.summer.add(p[:n])
	if v.summer.digest != nil {
		v.summer.digest.Write(p[:n])
	}
	switch {
	// The last piece is handed out only after compare: until then it is in p, and n = 0 takes it back.
	case v.summer.bytes == v.part.Bytes:
		if err := v.compare(); err != nil {
			return 0, err
		}
		return n, io.EOF
	// The object ends too early. Its bytes so far were handed out, and the error tells that they are not
	// all.
	case err == io.EOF:
		return n, fmt.Errorf("%d bytes instead of %d: %w", v.summer.bytes, v.part.Bytes, ErrCorrupt)
	// A chunk that differs ends the reading here, and not after gigabytes.
	case err == nil && n > 0 && v.summer.bytes%ChunkBytes == 0 && !v.summer.begins(v.part):
		return 0, fmt.Errorf("the chunk before byte %d has another sum: %w", v.summer.bytes, ErrCorrupt)
	}
	return n, err
}

// compare returns an error unless the object ends here and has the sums of the manifest.
func (v *verified) compare() error {
	if err := atEnd(v.from, v.part.Bytes); err != nil {
		return err
	}
	// The length is right by now, so that only the content can differ. An earlier version has written no sums of
	// chunks, and not every store a digest.
	got := v.summer.part(v.part.Name)
	if v.part.CRC32C == "" {
		got.CRC32C = ""
	}
	if got != v.part {
		return fmt.Errorf("has other sums: %w", ErrCorrupt)
	}
	return nil
}

// atEnd returns an error unless an object ends here, after as many bytes as its part has.
// An error that is not the end is no damage: what is behind could not be read, and the caller gets that error.
func atEnd(from io.Reader, length int64) error {
	// One byte more than the manifest says is asked for: an object that was extended has it.
	switch n, err := io.ReadFull(from, make([]byte, 1)); {
	case n > 0:
		return fmt.Errorf("more than %d bytes: %w", length, ErrCorrupt)
	case err != io.EOF:
		return err
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
