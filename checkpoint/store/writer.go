// This file implements Writer on whatever can create, commit and drop objects.

package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// Draft holds the objects of one checkpoint that is not committed.
// A writer calls it from one goroutine, in the order Create, the object's end, Create and so on, and at the end Commit or Abort.
type Draft interface {
	// Create makes the object of the part with that index; indices ascend from 0 on. Inline parts have none.
	Create(index int) (Object, error)
	// Commit makes the checkpoint visible and durable, whose objects are all closed, and returns what
	// is committed under its number: its manifest or, if that was committed before, its equal. Its place is free.
	Commit(r Stored) (Manifest, error)
	// Abort drops the objects. It may be called again, and after a Commit that failed.
	Abort() error
}

// Sharer is a Draft that can have a file as the object of a part. Without it files are copied.
type Sharer interface {
	Draft
	// Share makes the object of a part of a file, as Taker says, and opens it for reading. What is read until Close
	// of the object returns nil is what it holds from then on. An error that wraps errors.ErrUnsupported says that
	// nothing was made.
	Share(index int, file fs.File, given bool) (object Object, content io.ReadCloser, moved bool, err error)
}

// Object takes the contents of one part. Exactly one of Close and Discard is called, once.
type Object interface {
	io.Writer
	// Close completes the object. When it has returned nil, all is durable as soon as Commit of the medium returns nil, if not
	// before; of an object that Share has made it is durable at once.
	Close() error
	// Discard gives the object up.
	Discard() error
}

// What a writer answers that is used in the wrong order: a fault of the program, and no sentinel.
var (
	errOpen      = errors.New("the part before is not closed")
	errClosed    = errors.New("the part is closed")
	errAborted   = errors.New("the writer was aborted")
	errCommitted = errors.New("the writer has committed")
)

// Form is how a writer keeps parts.
type Form struct {
	// SHA256 asks for a digest of each part beside the sums of its chunks. It takes most of the time of writing.
	SHA256 bool
	// InlineBytes is the length up to which a part is kept with the manifest; zero is what the store takes, as a rule
	// 64 KiB, and a negative one says that none is. All of them together are at most four times as long, and
	// never longer than 4 MiB.
	InlineBytes int
}

// What is kept with a manifest.
const (
	// defaultInlineBytes is the length up to which a part is, unless Form says another.
	defaultInlineBytes = 64 << 10
	// maxInline bounds all of it, in bytes, and so does inlineParts, in parts of the length up to which one is: a list of
	// checkpoints reads all of it.
	maxInline   = 4 << 20
	inlineParts = 4
)

// inline returns the length up to which the next part is kept with a manifest that has taken so many bytes.
// A negative result says that the part gets an object even if it is empty, and zero that only an empty one is
// kept.
func (f Form) inline(taken int) int {
	limit := cmp.Or(f.InlineBytes, defaultInlineBytes)
	// The bound comes first: the product below cannot overflow then.
	limit = min(limit, maxInline)
	return min(limit, inlineParts*limit-taken, maxInline-taken)
}

type writer struct {
	ctx context.Context
	// stored grows with each part that is closed.
	stored Stored
	form   Form
	// kept counts the bytes of the contents.
	kept  int
	draft Draft
	taken map[string]bool // names of parts
	// At most one is open, so that a medium can be a single stream.
	open *part
	// ended says why nothing can be written any more: errCommitted, errAborted or what went wrong.
	ended error
}

// newWriter returns a writer of a checkpoint whose job and number have passed [checkID].
// The end of ctx ends the writing at the next call; only Abort and Close of a part work then. The zero Form
// takes the defaults.
func newWriter(ctx context.Context, job string, number int64, form Form, d Draft) Writer {
	return &writer{
		ctx:    ctx,
		stored: Stored{Record: Record{Manifest: Manifest{Job: job, Number: number, Parts: []Part{}}}},
		form:   form,
		draft:  d,
		taken:  make(map[string]bool),
	}
}

func (w *writer) wrap(err error) error { return Wrap(w.stored.Job, w.stored.Number, err) }

// ready returns why no next step can be taken, or nil.
func (w *writer) ready() error {
	switch {
	case w.ended != nil:
		return w.ended
	case w.open != nil:
		return errOpen
	}
	return w.ctx.Err()
}

// Part implements Writer. A name that is refused leaves the writer as it was.
func (w *writer) Part(name string) (io.WriteCloser, error) {
	if err := w.ready(); err != nil {
		return nil, w.wrap(err)
	}
	if err := checkNew(name, w.taken); err != nil {
		return nil, w.wrap(err)
	}
	p := &part{w: w, name: name, summer: newSummer(w.form.SHA256)}
	if p.limit = w.form.inline(w.kept); p.limit < 0 {
		if err := p.create(); err != nil {
			return nil, w.wrap(err)
		}
	}
	w.taken[name] = true
	w.open = p
	return w.open, nil
}

// Commit implements Writer. Called again after success it returns the same.
func (w *writer) Commit() (Manifest, error) {
	// A caller that lost the answer may ask again; the medium is asked once only.
	if err := w.ready(); err != nil && err != errCommitted {
		return Manifest{}, w.wrap(err)
	}
	if w.ended == nil {
		committed, err := w.draft.Commit(w.stored)
		if err != nil {
			w.ended = err
			return Manifest{}, w.wrap(err)
		}
		// What is committed may be an equal of this manifest, written by somebody else.
		w.stored.Manifest, w.ended = committed, errCommitted
	}
	m := w.stored.Manifest
	m.Parts = slices.Clone(m.Parts)
	return m, nil
}

// Abort implements Writer. After an error it may be called again.
func (w *writer) Abort() error {
	if w.ended == errCommitted {
		return nil
	}
	var err error
	if w.open != nil {
		err = w.open.end(errAborted)
	}
	w.ended = errAborted
	return w.wrap(errors.Join(err, w.draft.Abort()))
}

// part implements the io.WriteCloser of one part.
type part struct {
	w    *writer
	name string
	// object is nil while the part is kept, and once it is closed or discarded.
	object Object
	closed bool
	// kept are the bytes of a part that has no object, at most limit.
	kept   []byte
	limit  int
	summer *summer
}

// aside is the length from which on the digest of a block is computed beside its being written: below, it would
// take longer to start a goroutine than to compute the digest.
const aside = 16 << 10

// create makes the object of the part, and writes to it what was kept until then.
func (p *part) create() error {
	// The index is the number of parts that are closed, since no other is open. Inline parts have one too, so that an index
	// means the same in the manifest and in the names of objects.
	object, err := p.w.draft.Create(len(p.w.stored.Parts))
	if err != nil {
		// A medium that has failed once is not trusted again: what it holds is not known.
		p.w.ended = err
		return err
	}
	p.object = object
	kept := p.kept
	p.kept = nil
	if len(kept) == 0 {
		return nil
	}
	_, err = p.pass(kept)
	return err
}

// Write implements io.Writer. After an error the whole writer has failed.
func (p *part) Write(data []byte) (int, error) {
	if p.closed {
		return 0, p.wrap(errClosed)
	}
	if err := cmp.Or(p.w.ended, p.w.ctx.Err()); err != nil {
		return 0, p.wrap(err)
	}
	// A part is kept as long as it may turn out to be short. The first bytes too many make it an object, with all that was
	// kept until then.
	if p.object == nil {
		if len(data) <= p.limit-len(p.kept) {
			p.sum(data)()
			p.keep(data)
			return len(data), nil
		}
		if err := p.create(); err != nil {
			return 0, p.wrap(err)
		}
	}
	// The sums are computed while the medium writes; both only read data. Write returns when both are done,
	// for data is the caller's again then.
	summed := p.sum(data)
	n, err := p.pass(data)
	summed()
	return n, p.wrap(err)
}

// keep adds data to what is kept. What it takes is at most four times what is needed, and what it throws away a third: so
// a part that comes in small pieces, and turns out to be long, costs little more than the limit.
func (p *part) keep(data []byte) {
	if need := len(p.kept) + len(data); need > cap(p.kept) {
		p.kept = append(make([]byte, 0, min(p.limit, max(need, 4*cap(p.kept)))), p.kept...)
	}
	p.kept = append(p.kept, data...)
}

// pass writes to the object. An error ends the writer.
func (p *part) pass(data []byte) (int, error) {
	n, err := p.object.Write(data)
	// The sums have all of data in them. A short write without an error would leave a part whose sums are of
	// more than it holds.
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		p.w.ended = err
	}
	return n, err
}

// sum adds data to the sums and returns what waits for that.
func (p *part) sum(data []byte) func() {
	p.summer.add(data)
	if p.summer.digest == nil {
		return func() {}
	}
	if len(data) < aside {
		p.summer.digest.Write(data)
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		p.summer.digest.Write(data)
		close(done)
	}()
	return func() { <-done }
}

// Close implements io.Closer: it completes the part, or drops it if the writer has failed or its
// context has ended. Closed already, it does nothing.
func (p *part) Close() error {
	if p.closed {
		return nil
	}
	if err := cmp.Or(p.w.ended, p.w.ctx.Err()); err != nil {
		return p.wrap(errors.Join(err, p.end(err)))
	}
	object := p.object
	p.object, p.closed, p.w.open = nil, true, nil
	if object == nil {
		p.w.stored.Inline = append(p.w.stored.Inline, len(p.w.stored.Parts))
		p.w.stored.Contents = append(p.w.stored.Contents, p.kept)
		p.w.kept += len(p.kept)
	} else if err := object.Close(); err != nil {
		p.w.ended = err
		return p.wrap(err)
	}
	p.w.stored.Parts = append(p.w.stored.Parts, p.summer.part(p.name))
	return nil
}

// end discards the part and the writer with it.
func (p *part) end(why error) error {
	object := p.object
	p.object, p.closed, p.w.open, p.w.ended = nil, true, nil, why
	if object == nil {
		return nil
	}
	return object.Discard()
}

func (p *part) wrap(err error) error {
	if err == nil {
		return nil
	}
	return p.w.wrap(fmt.Errorf("part %.60q: %w", p.name, err))
}
