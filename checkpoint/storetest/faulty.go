// This file implements Faulty: a store one call of which fails.

package storetest

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/vfstest"
)

// When says whether a call that fails has had its effect.
type When int

// The two ways in which a call fails.
const (
	// Before: it failed before it did anything, like a connection that was refused or a disk that was full.
	Before When = iota
	// After: it did everything, and only the answer was lost, on its way or with the process that waited for it.
	After
)

// ErrInjected is the error of the call that a test has made fail.
var ErrInjected = vfstest.ErrInjected

// Faulty is a store in front of another. It counts the calls of all methods of the store, of its writers and of its readers,
// except a reader's Close and Manifest, which cannot fail; a Write or Read is one call. One of them can be made to fail with
// an error that wraps [ErrInjected]; a writer that this happens to stays failed, but for Abort.
//
// A test runs a piece of the protocol once for each k up to [Faulty.Calls] and for both values of [When], and demands the same
// outcome of all. It is safe for concurrent use; which call is the k-th is then not determined.
type Faulty struct {
	store store.Store

	mu sync.Mutex
	// calls counts up; the call number failAt fails.
	calls, failAt int64
	when          When
}

var _ store.Store = (*Faulty)(nil)

// NewFaulty returns a store in front of another one that fails nothing yet.
func NewFaulty(s store.Store) *Faulty { return &Faulty{store: s} }

// FailAt makes the k-th call from now fail; 1 is the next. It replaces what was asked for earlier; a k that is not positive
// asks for no failure.
func (f *Faulty) FailAt(k int64, when When) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failAt, f.when = 0, when
	if k > 0 {
		f.failAt = f.calls + k
	}
}

// Calls returns how many calls there have been, failed ones among them.
func (f *Faulty) Calls() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func (f *Faulty) count() (fails bool, when When) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	return f.calls == f.failAt, f.when
}

// call makes a call. One that fails has no result; an effect that failed by itself keeps its own error.
func call[T any](f *Faulty, job string, number int64, effect func() (T, error)) (result T, err error) {
	fails, when := f.count()
	if !fails || when == After {
		result, err = effect()
	}
	if fails && err == nil {
		var none T
		return none, store.Wrap(job, number, ErrInjected)
	}
	return result, err
}

// nothing is the effect of a call without a result.
func nothing(effect func() error) func() (struct{}, error) {
	return func() (struct{}, error) { return struct{}{}, effect() }
}

// Begin implements store.Store.
func (f *Faulty) Begin(ctx context.Context, job string, number int64) (store.Writer, error) {
	w, err := call(f, job, number, func() (store.Writer, error) { return f.store.Begin(ctx, job, number) })
	if err != nil {
		return nil, err
	}
	return &faultyWriter{f: f, w: w, job: job, number: number}, nil
}

// Open implements store.Store.
func (f *Faulty) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	r, err := call(f, job, number, func() (store.Reader, error) { return f.store.Open(ctx, job, number) })
	if err != nil {
		return nil, err
	}
	return &faultyReader{r, f, job, number}, nil
}

// List implements store.Store.
func (f *Faulty) List(ctx context.Context, job string) ([]store.Manifest, error) {
	return call(f, job, 0, func() ([]store.Manifest, error) { return f.store.List(ctx, job) })
}

// Delete implements store.Store.
func (f *Faulty) Delete(ctx context.Context, job string, number int64) error {
	_, err := call(f, job, number, nothing(func() error { return f.store.Delete(ctx, job, number) }))
	return err
}

// Fence implements store.Store.
func (f *Faulty) Fence(ctx context.Context, job string, number int64) error {
	_, err := call(f, job, number, nothing(func() error { return f.store.Fence(ctx, job, number) }))
	return err
}

// Identity implements store.Store.
func (f *Faulty) Identity(ctx context.Context) (store.Identity, error) {
	return call(f, "identity", 0, func() (store.Identity, error) { return f.store.Identity(ctx) })
}

type faultyWriter struct {
	f      *Faulty
	w      store.Writer
	job    string
	number int64
	// failed is the injected error, once there was one.
	failed error
}

// step makes a call that the writer does not outlive if it fails by injection.
func step[T any](w *faultyWriter, effect func() (T, error)) (result T, err error) {
	if w.failed != nil {
		return result, w.failed
	}
	result, err = call(w.f, w.job, w.number, effect)
	if errors.Is(err, ErrInjected) {
		w.failed = err
	}
	return result, err
}

func (w *faultyWriter) Part(name string) (io.WriteCloser, error) {
	part, err := step(w, func() (io.WriteCloser, error) { return w.w.Part(name) })
	if err != nil {
		return nil, err
	}
	return &faultyPart{w, part}, nil
}

func (w *faultyWriter) Commit() (store.Manifest, error) { return step(w, w.w.Commit) }

// Abort implements store.Writer. A writer that has failed can still give its space back.
func (w *faultyWriter) Abort() error {
	_, err := call(w.f, w.job, w.number, nothing(w.w.Abort))
	return err
}

type faultyPart struct {
	w    *faultyWriter
	part io.WriteCloser
}

func (p *faultyPart) Write(data []byte) (int, error) {
	return step(p.w, func() (int, error) { return p.part.Write(data) })
}

func (p *faultyPart) Close() error {
	_, err := step(p.w, nothing(p.part.Close))
	return err
}

type faultyReader struct {
	store.Reader
	f      *Faulty
	job    string
	number int64
}

func (r *faultyReader) Part(name string) (io.ReadCloser, error) {
	return r.part(func() (io.ReadCloser, error) { return r.Reader.Part(name) })
}

func (r *faultyReader) Range(name string, offset, bytes int64) (io.ReadCloser, error) {
	return r.part(func() (io.ReadCloser, error) { return r.Reader.Range(name, offset, bytes) })
}

func (r *faultyReader) part(open func() (io.ReadCloser, error)) (io.ReadCloser, error) {
	part, err := call(r.f, r.job, r.number, open)
	if err != nil {
		return nil, err
	}
	return &faultyRead{part, r}, nil
}

type faultyRead struct {
	io.ReadCloser
	r *faultyReader
}

func (p *faultyRead) Read(data []byte) (int, error) {
	return call(p.r.f, p.r.job, p.r.number, func() (int, error) { return p.ReadCloser.Read(data) })
}
