// This file implements Portable: all of a store that does not depend on where its checkpoints lie.

package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Medium is where checkpoints lie: what a store of one's own has to implement. Package storetest tests what [NewPortable]
// makes of it. Jobs and numbers are valid, and a Portable adds both to every error.
type Medium interface {
	// Begin begins a checkpoint that is not visible before its Commit; an error that wraps ErrFenced below the fence of the job.
	Begin(ctx context.Context, job string, number int64) (Draft, error)
	// Record reads the manifest of a checkpoint that is visible, see [ReadRecord]; an error that wraps ErrNotFound if there
	// is none.
	Record(ctx context.Context, folder Folder, number int64) (Stored, error)
	// Open opens the object of the part with that index from an offset on, which is at most the length of the part. An object
	// that is shorter has nothing there: it ends at once. Parts that are kept with the manifest are not asked for.
	Open(ctx context.Context, r Record, index int, offset int64) (io.ReadCloser, error)
	// List returns the numbers of the checkpoints of a job, ascending, damaged ones among them, and what reads the record
	// of one as Record does.
	List(ctx context.Context, folder Folder) ([]int64, func(number int64) (Stored, error), error)
	// Delete and Fence do what those of a Store do.
	Delete(ctx context.Context, folder Folder, number int64) error
	Fence(ctx context.Context, folder Folder, number int64) error
	// Identity reads the identity. Without one it makes one if that is asked for, and otherwise returns "".
	Identity(ctx context.Context, make bool) (Identity, error)
}

// Portable is a [Store] on a [Medium].
type Portable struct {
	medium Medium
	form   Form
	// mu guards identity, which is that of the medium once it is known.
	mu       sync.Mutex
	identity Identity
}

var _ Store = (*Portable)(nil)

// NewPortable returns a store on a medium that keeps parts in that form. Its Identity refuses every medium but the expected
// one; an empty expectation takes every medium.
func NewPortable(m Medium, form Form, expected Identity) *Portable {
	return &Portable{medium: m, form: form, identity: expected}
}

// enter begins a method of a store: it returns the error of the context, or what [checkID] says.
func enter(ctx context.Context, job string, number int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return checkID(job, number)
}

// Begin implements Store.
func (p *Portable) Begin(ctx context.Context, job string, number int64) (Writer, error) {
	err := enter(ctx, job, number)
	var draft Draft
	if err == nil {
		draft, err = p.medium.Begin(ctx, job, number)
	}
	if err != nil {
		return nil, Wrap(job, number, err)
	}
	return newWriter(ctx, job, number, p.form, draft), nil
}

// Open implements Store. It reads the manifest alone; the object of a part is opened when the part is.
func (p *Portable) Open(ctx context.Context, job string, number int64) (Reader, error) {
	err := enter(ctx, job, number)
	var r Stored
	if err == nil {
		r, err = p.medium.Record(ctx, FolderOf(job), number)
	}
	if err != nil {
		return nil, Wrap(job, number, err)
	}
	return newReader(ctx, r, func(index int, offset int64) (io.ReadCloser, error) {
		return p.medium.Open(ctx, r.Record, index, offset)
	}), nil
}

// List implements Store.
func (p *Portable) List(ctx context.Context, job string) ([]Manifest, error) {
	err := errors.Join(ctx.Err(), CheckJob(job))
	var numbers []int64
	var record func(int64) (Stored, error)
	if err == nil {
		numbers, record, err = p.medium.List(ctx, FolderOf(job))
	}
	if err != nil {
		return nil, fmt.Errorf("job %.60q: %w", job, err)
	}
	var manifests []Manifest
	var faults []error
	for _, number := range numbers {
		r, fault := record(number)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("job %.60q: %w", job, err)
		}
		switch {
		case fault == nil:
			manifests = append(manifests, r.Manifest)
		// It was deleted a moment ago, or is not visible.
		case !errors.Is(fault, ErrNotFound):
			faults = append(faults, Wrap(job, number, fault))
		}
	}
	return manifests, errors.Join(faults...)
}

// Delete implements Store.
func (p *Portable) Delete(ctx context.Context, job string, number int64) error {
	err := enter(ctx, job, number)
	if err == nil {
		err = p.medium.Delete(ctx, FolderOf(job), number)
	}
	return Wrap(job, number, err)
}

// Fence implements Store.
func (p *Portable) Fence(ctx context.Context, job string, number int64) error {
	err := enter(ctx, job, number)
	if err == nil {
		err = p.medium.Fence(ctx, FolderOf(job), number)
	}
	return Wrap(job, number, err)
}

// Identity implements Store. A medium that had an identity gets no second one: it was replaced.
func (p *Portable) Identity(ctx context.Context) (Identity, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("store: %w", err)
	}
	// The lock is not held while the medium is read: a disk that hangs stops no other call.
	p.mu.Lock()
	known := p.identity
	p.mu.Unlock()
	id, err := p.medium.Identity(ctx, known == "")
	p.mu.Lock()
	defer p.mu.Unlock()
	// Another call may have learnt it meanwhile, of the medium that this one found replaced.
	if err == nil {
		err = p.identity.Same(id)
	}
	if err != nil {
		return "", fmt.Errorf("store: %w", err)
	}
	p.identity = id
	return id, nil
}
