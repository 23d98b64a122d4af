// This file implements Faulty: a store one call of which fails.

package storetest

import (
	"context"
	"io"
	"sync"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs/vfstest"
)

// When says whether a call that fails has had its effect.
// Most code is right for one of the two, and only a test with both finds the other.
type When int

// The two ways in which a call fails.
const (
	// Before: it failed before it did anything, like a connection that was refused or a disk that was full.
	// A caller may repeat at once, for nothing has changed.
	Before When = iota
	// After: it did everything, and only the answer was lost, on its way or with the process that waited for it.
	// A caller cannot tell this from Before, and must be right in both cases: this is what makes retries
	// hard.
	After
)

// Faulty is a store in front of another. It counts the calls of all methods of the store, of its writers
// and of its readers, except those of a reader's Close and of Manifest, which cannot fail; a Write or Read
// is one call. One of them can be made to fail with an error that wraps [vfstest.ErrInjected].
//
// A test runs a piece of the protocol once for each k up to [Faulty.Calls] and for both values of [When], and demands the same
// outcome of all: that is how the window between two calls is met which nobody thought of.
//
// It is safe for concurrent use; which call is the k-th is then for the goroutines to settle among themselves.
//
// As of any store, a writer whose Part, Write, Close or Commit has failed does not commit any more.
type Faulty struct {
	// store is the one behind, which does all that is not made to fail.
	store store.Store

	mu sync.Mutex
	// calls counts up; the call number failAt fails.
	// The pair is absolute: failAt 0 is met by no call, since the first has number 1.
	calls, failAt int64
	// when says whether the call that fails takes effect.
	when When
}

var _ store.Store = (*Faulty)(nil)

// NewFaulty returns a store in front of another one that fails nothing yet.
// The store behind is the caller's: it may be looked at, or used without failures, at any time.
func NewFaulty(s store.Store) *Faulty { return &Faulty{store: s} }

// FailAt makes the k-th call from now fail; 1 is the next. It replaces what was asked for earlier; a k
// that is not positive asks for no failure.
// A test counts the calls of a clean run by Calls, and then lets each of them fail in turn.
// It concerns one call only: those behind it work again, for a caller that tries once more.
func (f *Faulty) FailAt(k int64, when When) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// A former request is dropped even where k asks for none, so a test can stop what it started.
	f.failAt, f.when = 0, when
	if k > 0 {
		f.failAt = f.calls + k
	}
}

// Calls returns how many calls there have been.
// Failed ones are among them, whether they had their effect or not. Calls of a dead writer, which are answered from memory,
// are not.
func (f *Faulty) Calls() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// call counts and makes one call, and tells whether its error is an injected one.
// The difference matters to those who must hide a result that the store behind has returned: its own errors may come beside one.
func (f *Faulty) call(job string, number int64, effect func() error) (injected bool, err error) {
	// The lock covers the count and not the effect: a call that blocks on the medium must not stop the
	// others, and exactly one call has number failAt.
	f.mu.Lock()
	f.calls++
	// The request is read with the count, so that a FailAt beside this call is before it or after it.
	fails, when := f.calls == f.failAt, f.when
	f.mu.Unlock()
	// Order: the effect comes first where only the answer is to be lost.
	if !fails || when == After {
		err = effect()
	}
	// An effect that failed by itself keeps its own error: nothing was lost that had been promised.
	if fails && err == nil {
		return true, store.Wrap(job, number, vfstest.ErrInjected)
	}
	return false, err
}

// Begin implements store.Store.
func (f *Faulty) Begin(ctx context.Context, job string, number int64) (store.Writer, error) {
	// A writer that was begun and whose answer was lost is given up unseen, as a caller would that got only
	// the error: the store behind must collect it.
	w := &faultyWriter{f: f, job: job, number: number}
	_, err := f.call(job, number, func() (err error) {
		w.w, err = f.store.Begin(ctx, job, number)
		return err
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Open implements store.Store.
func (f *Faulty) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	// With After the reader behind stays open and nobody can close it: a store must bear readers that are forgotten.
	r := &faultyReader{f: f}
	_, err := f.call(job, number, func() (err error) {
		r.Reader, err = f.store.Open(ctx, job, number)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// List implements store.Store.
func (f *Faulty) List(ctx context.Context, job string) (list []store.Manifest, err error) {
	// List is about no single number, so its injected error names number 0.
	injected, err := f.call(job, 0, func() (err error) {
		list, err = f.store.List(ctx, job)
		return err
	})
	// A list beside an injected error would tell the caller what the lost answer had said. Damage that List
	// reports itself keeps its list.
	if injected {
		list = nil
	}
	return list, err
}

// Delete implements store.Store.
func (f *Faulty) Delete(ctx context.Context, job string, number int64) error {
	// With After the checkpoint is gone and the caller believes that it may be there: Delete must bear a second call.
	_, err := f.call(job, number, func() error { return f.store.Delete(ctx, job, number) })
	return err
}

// Fence implements store.Store.
func (f *Faulty) Fence(ctx context.Context, job string, number int64) error {
	// With After the fence stands already; to raise it again must change nothing.
	_, err := f.call(job, number, func() error { return f.store.Fence(ctx, job, number) })
	return err
}

// Identity implements store.Store.
func (f *Faulty) Identity(ctx context.Context) (id store.Identity, err error) {
	// Identity is about no job, so its injected error names what was asked for instead.
	injected, err := f.call("identity", 0, func() (err error) {
		id, err = f.store.Identity(ctx)
		return err
	})
	// The answer is lost with the call that fails.
	if injected {
		id = ""
	}
	return id, err
}

// faultyWriter is a writer of a Faulty.
// Each of its steps but Abort ends it when it fails by injection, as the contract of Writer has it.
type faultyWriter struct {
	f      *Faulty
	w      store.Writer
	job    string
	number int64
	// failed is the injected error, once there was one.
	failed error
}

// step makes a call that the writer does not outlive if it fails by injection.
// A failure of the store behind is left to the writer behind, which knows by itself that it has failed.
func (w *faultyWriter) step(effect func() error) error {
	// A writer that has failed once answers the same for ever and makes no further call: the count of calls
	// stays what the caller made of it.
	if w.failed != nil {
		return w.failed
	}
	injected, err := w.f.call(w.job, w.number, effect)
	if injected {
		w.failed = err
	}
	return err
}

// Part implements store.Writer.
// With After the part behind stays open, so that Abort finds a writer with an open part.
func (w *faultyWriter) Part(name string) (io.WriteCloser, error) {
	// A part shares its writer's fate: what fails on it ends the writer.
	p := &faultyPart{w: w}
	err := w.step(func() (err error) {
		p.part, err = w.w.Part(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Commit implements store.Writer.
func (w *faultyWriter) Commit() (m store.Manifest, err error) {
	err = w.step(func() (err error) {
		m, err = w.w.Commit()
		return err
	})
	// After a lost answer the checkpoint stands. The writer repeats its error for ever, and the caller finds out by a new writer or
	// by Open, as it would in a cluster.
	// The manifest m is known here if only the answer was lost; the caller must not see it.
	if err != nil {
		return store.Manifest{}, err
	}
	return m, nil
}

// Abort implements store.Writer.
func (w *faultyWriter) Abort() error {
	// Abort is counted, and may be made to fail like every call.
	// Abort goes past step: a dead writer must still be able to give its space back.
	_, err := w.f.call(w.job, w.number, w.w.Abort)
	return err
}

// faultyPart is a part of a faultyWriter.
type faultyPart struct {
	w    *faultyWriter
	part io.WriteCloser
}

// Write implements io.Writer. A write that is injected as failed reports no byte.
func (p *faultyPart) Write(data []byte) (n int, err error) {
	err = p.w.step(func() (err error) {
		n, err = p.part.Write(data)
		return err
	})
	// Zero bytes is the most pessimistic answer that io.Writer allows; how many have arrived behind is
	// unknown to the caller.
	if p.w.failed != nil {
		n = 0
	}
	return n, err
}

// Close implements io.Closer.
// With After the part behind is complete and the writer is dead all the same: nothing of it can be committed.
func (p *faultyPart) Close() error { return p.w.step(p.part.Close) }

// faultyReader is a reader of a Faulty.
// Embedding passes Manifest and Close on, which are no calls.
type faultyReader struct {
	f *Faulty
	store.Reader
}

// Part implements store.Reader.
func (r *faultyReader) Part(name string) (io.ReadCloser, error) {
	p := &faultyRead{r: r}
	err := r.call(func() (err error) {
		p.ReadCloser, err = r.Reader.Part(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Range implements store.Reader.
// It is one call, whatever the store behind reads before it answers.
func (r *faultyReader) Range(name string, offset, bytes int64) (io.ReadCloser, error) {
	p := &faultyRead{r: r}
	err := r.call(func() (err error) {
		p.ReadCloser, err = r.Reader.Range(name, offset, bytes)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// The errors of a reader name what it reads: store.Wrap needs job and number, which the manifest has.
func (r *faultyReader) call(effect func() error) error {
	// Manifest is answered from memory and counts as no call.
	m := r.Manifest()
	_, err := r.f.call(m.Job, m.Number, effect)
	return err
}

// faultyRead is a part of a faultyReader.
// Its Close is that of the part behind.
type faultyRead struct {
	r *faultyReader
	io.ReadCloser
}

// Read implements io.Reader.
// With After a Read has consumed its bytes and the caller learns only of the error, so a reader that goes on
// would have a gap.
func (p *faultyRead) Read(data []byte) (n int, err error) {
	err = p.r.call(func() (err error) {
		n, err = p.ReadCloser.Read(data)
		return err
	})
	return n, err
}
