// This file implements store.Writer on whatever can create, commit and drop objects.

package medium

import (
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

// Medium holds the objects of one writer.
type Medium interface {
	// Create makes the object of the part with that index; indices count up from 0.
	Create(index int) (Object, error)
	// Commit makes the checkpoint visible and durable, whose objects are all closed, and returns what
	// is committed under its number: m itself or, if that was committed before, its equal.
	Commit(m store.Manifest) (store.Manifest, error)
	// Abort drops the objects. It may be called again, and after a Commit that failed.
	Abort() error
}

// Object takes the contents of one part. Exactly one of Close and Discard is called, once.
type Object interface {
	io.Writer
	// Close completes the object: when it returns nil, all is durable.
	Close() error
	// Discard gives the object up.
	Discard() error
}

var (
	errOpen      = errors.New("the part before is not closed")
	errClosed    = errors.New("the part is closed")
	errAborted   = errors.New("the writer was aborted")
	errCommitted = errors.New("the writer has committed")
)

// writer implements store.Writer.
type writer struct {
	ctx      context.Context
	manifest store.Manifest
	medium   Medium
	// ctx is that of Begin: it bounds the whole writing, not one call.
	taken map[string]bool // names of parts
	// At most one is open, so that a medium can be a single stream.
	open *part
	// ended says why nothing can be written any more: errCommitted, errAborted or what went wrong.
	ended error
}

// NewWriter returns a writer of a checkpoint whose job and number have passed [CheckID].
func NewWriter(ctx context.Context, job string, number int64, m Medium) store.Writer {
	return &writer{
		ctx:      ctx,
		manifest: store.Manifest{Job: job, Number: number, Parts: []store.Part{}},
		medium:   m,
		taken:    make(map[string]bool),
	}
}

// wrap adds the checkpoint to an error.
func (w *writer) wrap(err error) error { return Wrap(w.manifest.Job, w.manifest.Number, err) }

// ready returns why no next step can be taken, or nil.
func (w *writer) ready() error {
	switch {
	// What ended the writer is told before what the caller did wrong now: it is the cause.
	case w.ended != nil:
		return w.ended
	case w.open != nil:
		return errOpen
	}
	return w.ctx.Err()
}

// Part implements store.Writer. A name that is refused leaves the writer as it was.
func (w *writer) Part(name string) (io.WriteCloser, error) {
	if err := w.ready(); err != nil {
		return nil, w.wrap(err)
	}
	if err := checkPart(name, w.taken); err != nil {
		return nil, w.wrap(err)
	}
	// The index is the number of parts that are closed, since none is open: indices have no gaps.
	object, err := w.medium.Create(len(w.manifest.Parts))
	if err != nil {
		// A medium that has failed once is not trusted again: what it holds is not known.
		w.ended = err
		return nil, w.wrap(err)
	}
	// A name counts as taken only once its object exists, so that a refusal can be tried again.
	w.taken[name] = true
	w.open = &part{w: w, name: name, object: object, hash: sha256.New()}
	return w.open, nil
}

// Commit implements store.Writer. Called again after success it returns the same.
func (w *writer) Commit() (store.Manifest, error) {
	// A caller that lost the answer may ask again; the medium is asked once only.
	if err := w.ready(); err != nil && err != errCommitted {
		return store.Manifest{}, w.wrap(err)
	}
	if w.ended == nil {
		committed, err := w.medium.Commit(w.manifest)
		if err != nil {
			w.ended = err
			return store.Manifest{}, w.wrap(err)
		}
		// What is committed may be an equal of this manifest, written by somebody else.
		w.manifest, w.ended = committed, errCommitted
	}
	m := w.manifest
	m.Parts = slices.Clone(m.Parts)
	return m, nil
}

// Abort implements store.Writer. After an error it may be called again.
func (w *writer) Abort() error {
	// After success there is nothing to drop, so Abort can be deferred from the beginning.
	if w.ended == errCommitted {
		return nil
	}
	var err error
	if w.open != nil {
		err = w.open.end(errAborted)
	}
	// It is set whether dropping succeeds or not: a writer that was given up commits no more.
	w.ended = errAborted
	// Both are tried: what the part cannot drop, the medium may.
	return w.wrap(errors.Join(err, w.medium.Abort()))
}

// part implements the io.WriteCloser of one part.
type part struct {
	w *writer
	// name is that of the part, for errors and for the manifest.
	name   string
	object Object // nil once it is closed or discarded
	hash   hash.Hash
	// bytes counts what the object has taken, which is what the manifest will say.
	bytes int64
}

// aside is the length from which on a block is hashed beside its being written: below, it would take
// longer to start a goroutine than to compute the digest.
const aside = 16 << 10

// Write implements io.Writer. After an error the whole writer has failed.
func (p *part) Write(data []byte) (int, error) {
	if p.object == nil {
		return 0, p.wrap(errClosed)
	}
	if err := p.w.ctx.Err(); err != nil {
		return 0, p.wrap(err)
	}
	// The digest is computed while the medium writes; both only read data. Write returns when both are done,
	// for data is the caller's again then.
	hashed := p.digest(data)
	n, err := p.object.Write(data)
	hashed()
	p.bytes += int64(n)
	// The digest has all of data in it. A short write without an error would leave a part whose digest is of
	// more than it holds.
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		p.w.ended = err
	}
	return n, p.wrap(err)
}

// digest adds data to the digest and returns what waits for that.
func (p *part) digest(data []byte) func() {
	if len(data) < aside {
		p.hash.Write(data)
		return func() {}
	}
	// The goroutine lives no longer than the call of Write, which waits for it in every case.
	done := make(chan struct{})
	go func() {
		p.hash.Write(data)
		close(done)
	}()
	return func() { <-done }
}

// Close implements io.Closer: it completes the part, or drops it if the writer has failed or its
// context has ended. Closed already, it does nothing.
func (p *part) Close() error {
	if p.object == nil {
		return nil
	}
	if err := cmp.Or(p.w.ended, p.w.ctx.Err()); err != nil {
		return p.wrap(errors.Join(err, p.end(err)))
	}
	// The part is closed whatever the medium says: Object wants exactly one of Close and Discard.
	object := p.object
	p.object, p.w.open = nil, nil
	if err := object.Close(); err != nil {
		p.w.ended = err
		return p.wrap(err)
	}
	// Only a part that is durable is listed.
	p.w.manifest.Parts = append(p.w.manifest.Parts,
		store.Part{Name: p.name, Bytes: p.bytes, SHA256: store.Digest(p.hash.Sum(nil))})
	return nil
}

// end discards the part and the writer with it.
func (p *part) end(why error) error {
	object := p.object
	p.object, p.w.open, p.w.ended = nil, nil, why
	return object.Discard()
}

// wrap adds the checkpoint and the part to an error.
func (p *part) wrap(err error) error {
	if err == nil {
		return nil
	}
	return p.w.wrap(fmt.Errorf("part %.60q: %w", p.name, err))
}
